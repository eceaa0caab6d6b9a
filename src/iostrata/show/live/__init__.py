"""A run that is still going on: how far it is, what it does now, and what is open."""
