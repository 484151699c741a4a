"""The log of one partition: segments, retention, compaction, steady traffic."""
