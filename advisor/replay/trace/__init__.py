"""Recorded workloads in whatever form they come: tables, dumps of segments, outputs of the perf tools."""
