"""A running cluster, read and never changed: its settings as a snapshot that is audited like any file."""
