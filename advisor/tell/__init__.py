"""From an audit to what a person reads: the report, explanations, comparisons, recipes."""
