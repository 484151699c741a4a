"""What a replay tells: tables, summary, findings, the workload, the page."""
