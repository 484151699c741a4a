"""Reports as goldens, and held against the formats' own definitions."""
