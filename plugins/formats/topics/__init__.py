"""Topics that a tool or a script makes from a file."""
