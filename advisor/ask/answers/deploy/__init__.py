"""What a deploy changes: members rolled one by one, topics that grow, keys that move."""
