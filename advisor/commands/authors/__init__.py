"""The commands of plugin authors."""
