"""Where replicas, keys and groups go."""
