"""Consumer groups: every record processed, members that stay, pauses, resets."""
