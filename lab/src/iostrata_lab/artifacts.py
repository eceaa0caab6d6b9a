"""What the lab brings along for clusters."""

from __future__ import annotations

from pathlib import Path

from iostrata.artifacts import find_artifact

_PACKAGE = Path(__file__).resolve().parent
JOBS = "iostrata-jobs.jar"


def jobs_jar() -> Path:
    """What runs on clusters: programs of workloads, and Hadoop's view of a mounted file system.

    $IOSTRATA_JOBS, else the package's own, else the checkout's; raises UserError without any.
    """
    return find_artifact(
        "IOSTRATA_JOBS", _PACKAGE / JOBS, _PACKAGE.parents[2] / "java/jobs/target" / JOBS
    )
