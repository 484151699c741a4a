"""Folders of files: found, grouped by root, audited root by root."""
