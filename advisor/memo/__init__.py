"""What was answered before, in memory and on disk."""
