"""A producer on the clock: its buffer, connections, timeouts, retries."""
