"""The site of `kafka-advisor docs`: a page for every rule, guarantee, setting and scenario."""
