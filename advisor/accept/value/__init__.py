"""One key, one value: would the release's own definition take it?"""
