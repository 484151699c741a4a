"""The size chain: records and batches against the limits of every link."""
