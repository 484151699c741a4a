"""What several commands share: their common options, what a commit changes, how a report is told."""
