"""Workloads worth observing: what a cluster can be made to do, each proven against its request.

Each is a folder here that has a `Workload` (interface.py) and stands in catalog.py; what runs on
the cluster is in java/jobs.
"""
