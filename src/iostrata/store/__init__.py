"""The store: runs on disk, found, listed and opened.

STORE/RUN/run.json, progress.json, events/host=*/*.parquet, processes/*.parquet,
children/*.parquet and threads/*.parquet where there were some, usage/host=*/*.parquet,
system/host=*/*.parquet; live-*.json while it records.
"""
