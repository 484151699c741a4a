"""Findings -> changed files: which fixes, made how in which format, shown as a diff, tried on a copy."""
