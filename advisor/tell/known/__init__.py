"""What is known already: by a baseline file, or because it was there before a change."""
