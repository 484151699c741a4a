"""Where a run keeps its tables: on this machine or on any file system that Spark reaches."""
