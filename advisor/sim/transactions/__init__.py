"""Transactions: coordinator, epochs, markers, the last stable offset."""
