"""The contract in Python: generated, imported by everything, importing nothing."""
