"""Guarantees that are computed: the modules where settings meet the clock, the log and the groups."""
