"""Guarantees asked by hand, scenarios and schedules, and what-if."""
