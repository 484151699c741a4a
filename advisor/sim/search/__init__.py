"""Breadth-first search: exploration, small models, verdicts."""
