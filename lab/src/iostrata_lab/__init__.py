"""Hadoop clusters on this machine, workloads that run on them, and studies of papers.

It traces nothing: iostrata does, which finds its commands by entry points (lab/pyproject.toml).
"""
