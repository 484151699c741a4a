"""What documents of one root say about each other, before they are joined."""
