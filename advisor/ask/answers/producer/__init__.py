"""Records delivered: a producer and its cluster through outages, on the clock."""
