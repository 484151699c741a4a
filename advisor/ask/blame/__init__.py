"""Graded answers: a statement that is to blame where the unseen decides."""
