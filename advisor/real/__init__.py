"""Real Kafka: a throw-away cluster on which a finding's run is played with real clients."""
