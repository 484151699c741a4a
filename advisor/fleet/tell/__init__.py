"""What a run over a fleet comes to: tables, summary, drift and a page."""
