"""A table of rows: read, narrowed, joined into deployments, judged by behaviour."""
