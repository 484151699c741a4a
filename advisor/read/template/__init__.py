"""What a template language fills in: places in a value, branches of a text, actions between lines of YAML."""
