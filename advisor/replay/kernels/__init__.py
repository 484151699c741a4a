"""The simulator's models over whole columns; each kernel names the readable model that it must equal."""
