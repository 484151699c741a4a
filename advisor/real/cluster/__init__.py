"""A throw-away Kafka on loopback: its jars, its processes, its clients, and what lies on its disks."""
