"""The same transition rules on a virtual clock: a schedule and the set of its outcomes."""
