"""One partition under replication: copying, the ISR, elections, truncation, faults."""
