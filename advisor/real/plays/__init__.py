"""A run of the simulator, step by step, on a real cluster: one module for each kind of run."""
