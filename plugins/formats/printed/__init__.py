"""What Kafka's tools and clients print."""
