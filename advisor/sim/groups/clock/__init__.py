"""A group on the clock: who owns what and when, through crashes, stalls, rolls and growth."""
