"""Transactions: what readers see, how long they wait, what brokers forget."""
