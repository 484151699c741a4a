"""The report for people: `report.py` puts it together, `finding.py` tells one cause."""
