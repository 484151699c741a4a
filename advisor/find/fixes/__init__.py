"""The fix of a finding: looked for, held against what it may harm, planned with all the others."""
