"""Rules -> findings: every rule asked of every subject, with its run and its fix; what somebody accepted."""
