"""Guarantees that are answered by the timeline, the log, the groups or by arithmetic: one family a folder."""
