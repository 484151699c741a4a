"""The smallest change that helps and harms nothing."""
