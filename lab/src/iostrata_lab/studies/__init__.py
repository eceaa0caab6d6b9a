"""Studies of the papers, each repeated by one command: it runs workloads, records them, analyses
their traces, and says what agrees with the paper.

Each is a file here that has a `Study` (interface.py) and stands in catalog.py.
"""
