"""Files -> Documents: which files there are, what each key and value is, what the project file says."""
