"""The checks that each component of Kafka makes across its keys when it starts."""
