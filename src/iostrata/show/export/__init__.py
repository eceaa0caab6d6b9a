"""Runs in the formats of other tools: one file per format, listed in `formats`."""
