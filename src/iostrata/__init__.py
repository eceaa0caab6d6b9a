"""Every I/O of a Hadoop job through every layer it passes."""

__version__ = "0.1.0"
