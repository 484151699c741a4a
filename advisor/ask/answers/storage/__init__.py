"""Storage bounded: segments, retention and compaction of a topic's logs."""
