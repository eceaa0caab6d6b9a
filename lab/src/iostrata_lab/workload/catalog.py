"""All workloads, each a line."""

from __future__ import annotations

from iostrata.errors import UserError
from iostrata_lab.workload.interface import Workload
from iostrata_lab.workload.requests import REQUESTS
from iostrata_lab.workload.spark import SPARK
from iostrata_lab.workload.standard import STANDARD
from iostrata_lab.workload.swim import SWIM
from iostrata_lab.workload.tfidf import TFIDF

WORKLOADS: tuple[Workload, ...] = (*STANDARD, SWIM, *REQUESTS, TFIDF, *SPARK)


def workload_named(name: str) -> Workload:
    """Raises UserError for one that is not there."""
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    names = ", ".join(workload.name for workload in WORKLOADS)
    raise UserError(f"no workload {name}", names)
