"""The producer: retries, idempotence, batches and their limits."""
