"""What is told, and how."""
