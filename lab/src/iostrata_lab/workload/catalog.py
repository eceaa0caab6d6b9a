"""All workloads, each a line."""

from __future__ import annotations

from iostrata.registry import Registry
from iostrata_lab.workload.checkpoint import CHECKPOINT
from iostrata_lab.workload.interface import Workload
from iostrata_lab.workload.requests import REQUESTS
from iostrata_lab.workload.spark.workloads import SPARK
from iostrata_lab.workload.standard import STANDARD
from iostrata_lab.workload.swim import SWIM
from iostrata_lab.workload.tfidf import TFIDF

WORKLOADS = Registry[Workload]("workload", (*STANDARD, SWIM, *REQUESTS, TFIDF, *SPARK, CHECKPOINT))
