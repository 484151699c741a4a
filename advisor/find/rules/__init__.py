"""Which rules count, for which subject, and the checks they make together."""
