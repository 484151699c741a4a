"""Mutants of every input that the repository holds, through every command: `python -m tests.fuzz --help`.

`corpus` finds the inputs, `changes` and `words` mutate them, `mutants` makes the mutant of a seed and an
index, `trial` runs one within limits, `judge` says what is wrong with what it printed, `pool` runs many at
once and `smallest` shrinks the ones that fail. New formats join by their golden cases: nothing lists formats.
An input that must never fail again can be put under `inputs/`.
"""
