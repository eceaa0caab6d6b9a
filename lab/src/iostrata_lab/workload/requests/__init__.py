"""Requests to HDFS in an open loop (S2.9): what arrives does not wait for what has not been done.

What sends them is java/jobs, package `requests`; here are its parameters, presets and checks.
"""

from iostrata_lab.workload.requests.presets import ALICLOUD, SPOTIFY, STAT

REQUESTS = (SPOTIFY, STAT, ALICLOUD)
