"""What git says of a working tree, read without running it: what is ignored, what is tracked."""
