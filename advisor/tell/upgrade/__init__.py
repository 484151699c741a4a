"""What an upgrade of Kafka changes by itself, and the steps of one in their order."""
