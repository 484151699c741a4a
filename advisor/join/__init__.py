"""Documents -> Deployments: who writes where, the values in force, version, profile, racks and pods."""
