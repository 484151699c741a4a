"""What was answered before and is not asked again: by content, by shape, on disk."""
