"""The simulator: replication as transition rules, and a search for the run that breaks a guarantee.

It knows no configuration keys, no files, no clock and no chance, and imports nothing of the rest of the
package.
"""
