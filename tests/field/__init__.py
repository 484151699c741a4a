"""What the advisor says of public repositories: judgements that are kept, and the smallest cases."""
