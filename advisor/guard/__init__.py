"""Code of plugins, called so that it can fail and cannot end, hang or silence an audit."""
