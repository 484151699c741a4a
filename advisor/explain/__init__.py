"""What a setting, a rule, a guarantee or a word means: by runs that are simulated when somebody asks."""
