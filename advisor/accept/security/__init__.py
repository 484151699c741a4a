"""Listeners, protocols and JAAS: what must fit together before anybody can connect."""
