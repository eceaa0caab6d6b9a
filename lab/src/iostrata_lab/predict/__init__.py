"""A study of programs on storages that were profiled."""
