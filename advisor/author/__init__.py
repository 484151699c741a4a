"""The tools of plugin authors: what is loaded, what is wrong, a plugin and a rule to start from."""
