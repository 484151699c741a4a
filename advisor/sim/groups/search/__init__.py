"""A small group for the search: what is passed over, what is done twice."""
