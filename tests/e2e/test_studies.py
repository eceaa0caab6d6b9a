"""A study from nothing: a cluster of its own, a recorded run, the paper's table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from iostrata_lab import clusters

pytestmark = pytest.mark.cluster
STUDY = ("layers", "--set", "size=2MB", "--set", "maps=1", "--datanodes", "1")


def study(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "iostrata", "study", "run", *STUDY, *words],
        env={**os.environ, "IOSTRATA_STORE": str(folder / "store")},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def study_labs() -> set[str]:
    return {one.name for one in clusters.list_labs() if one.name.startswith("study-")}


@pytest.mark.drawn("whole clusters", 2)
def test_a_study_starts_and_ends_what_it_needs_and_does_nothing_twice(tmp_path: Path) -> None:
    before = study_labs()
    done = study(tmp_path, "--out", "kept", "--json")
    assert done.returncode == 0, done.stderr
    assert study_labs() == before
    found: dict[str, Any] = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "kept/layers.json").read_text())

    # what the layers wrote is what the job's own counters say
    (sample,) = found["samples"]
    (job,) = sample["result"]["jobs"]
    layers = {
        name: {what: sum(values) for what, values in sample["measured"][name].items()}
        for name in ("records", "file system", "DataNode files")
    }
    assert layers["file system"]["bytes"] == job["hdfs_written"]
    assert layers["records"]["calls"] > layers["DataNode files"]["calls"] > 0
    # blocks of this job's text, and of its configuration, with checksums
    assert layers["DataNode files"]["bytes"] > job["hdfs_written"]
    verdicts = [claim["verdict"] for claim in found["claims"]]
    assert (verdicts[0], verdicts[2]) == ("agrees", "cannot be compared")

    again = study(tmp_path, "--json")
    assert json.loads(again.stdout) == found
    assert again.stderr == (
        f"iostrata: 1/1 randomtextwriter, repeat 1: taken from {sample['run']}\n"
    )
