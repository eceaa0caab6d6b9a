"""HDFS is profiled by Hadoop's own client, and a model says what was not measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.cluster import Cluster, asked
from tests.e2e.labs import UNTRACED, Labs

from iostrata_lab import clusters

pytestmark = pytest.mark.cluster

MIB = 1 << 20
CLIENTS, SIZES, REQUESTS = 2, (1, 2), ("16KiB", "64KiB")
SPEC = f"""
name = "hdfs"
filesystem = "{{folder}}"
[dimensions]
access = ["sequential", "90-10"]
size = {[f"{size}MiB" for size in SIZES]}
request = {list(REQUESTS)}
clients = [{CLIENTS}]
copies = {{copies}}
[measure]
repetitions = [1, 1]
others = 1
"""
WARM = 1  # MiB that a client writes before a sample of reads; four times that before one of writes


def iostrata(cluster: Cluster, *words: str) -> subprocess.CompletedProcess[str]:
    """A command that finds the cluster's `hadoop`."""
    return subprocess.run(
        [sys.executable, "-m", "iostrata", *words],
        env={**cluster.environment, **clusters.find(cluster.name).environment()},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def written(cluster: Cluster) -> int:
    """Bytes that its DataNodes have written, by their own counters."""
    lab = clusters.find(cluster.name)
    query = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo"
    (bean,) = asked(lab.state.at("namenode-http"), query)["beans"]
    found = 0
    for node in json.loads(bean["LiveNodes"]).values():
        query = "/jmx?qry=Hadoop:service=DataNode,name=DataNodeActivity-*"
        (bean,) = asked(node["infoAddr"], query)["beans"]
        found += int(bean["BytesWritten"])
    return found


def test_hdfs_is_profiled_by_its_client(labs: Labs, tmp_path: Path) -> None:
    cluster = labs.at(*UNTRACED)
    cluster.hadoop("hadoop", "fs", "-mkdir", "/predict")
    spec, profile = tmp_path / "hdfs.toml", tmp_path / "profiles" / "hdfs"
    folder = f"hdfs://{clusters.find(cluster.name).state.at('namenode')}/predict"
    spec.write_text(SPEC.format(folder=folder, copies=[1]))
    before = written(cluster)
    # WHEN
    words = ("profile", str(spec), "--yes", "--json", "--out", str(profile.parent))
    done = iostrata(cluster, *words)
    # THEN
    assert done.returncode == 0, done.stderr
    state = json.loads(done.stdout)
    points = 3 * len(SIZES) * len(REQUESTS)  # writes are in sequence only
    assert (state["points"], state["samples"], state["unmeasured"]) == (points, points, 0)
    lines = (profile / "samples.jsonl").read_text().splitlines()
    samples = [json.loads(line) for line in lines]
    for sample in samples:
        assert sample["bytes"] == CLIENTS * sample["point"]["size"]
    # AND the DataNode wrote what the samples did, what they read, and what made them warm
    own = sum(one["bytes"] for one in samples if one["point"]["operation"] == "write")
    reads = sum(one["point"]["operation"] == "read" for one in samples)
    warm = CLIENTS * WARM * MIB * (reads + 4 * (len(samples) - reads))
    first = next(one["point"]["size"] for one in samples if one["point"]["operation"] == "read")
    made = CLIENTS * (first if first == MIB * max(SIZES) else sum(SIZES) * MIB)
    assert written(cluster) - before == own + warm + made
    # AND nothing is left in HDFS
    assert cluster.hadoop("hadoop", "fs", "-ls", "/predict") == ""
    # AND a model comes of it as of any other
    fitted = iostrata(cluster, "fit", str(profile))
    assert f"of {points} samples of {points} points" in fitted.stdout, fitted.stderr
    point = ("operation=read", "access=sequential", "size=1MiB", "request=32KiB")
    said = iostrata(cluster, "predict", str(profile / "model.json"), *point)
    assert "MB/s" in said.stdout, said.stderr


def test_a_folder_that_is_not_there_is_one_line(labs: Labs, tmp_path: Path) -> None:
    cluster = labs.at(*UNTRACED)
    spec = tmp_path / "hdfs.toml"
    spec.write_text(SPEC.format(folder=f"file://{tmp_path}/no/such", copies=1))
    done = iostrata(cluster, "profile", str(spec), "--plan")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "no/such does not exist" in line


def test_copies_that_a_cluster_cannot_make_are_one_line(labs: Labs, tmp_path: Path) -> None:
    """GIVEN a cluster of one DataNode, whose NameNode takes files with two copies"""
    cluster = labs.at(*UNTRACED)
    cluster.hadoop("hadoop", "fs", "-mkdir", "/copies")
    spec = tmp_path / "hdfs.toml"
    folder = f"hdfs://{clusters.find(cluster.name).state.at('namenode')}/copies"
    spec.write_text(SPEC.format(folder=folder, copies=2))
    done = iostrata(cluster, "profile", str(spec), "--yes", "--quiet", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "2 copies were asked for, and 1 made" in done.stderr.splitlines()[-1]
    assert cluster.hadoop("hadoop", "fs", "-ls", "/copies") == ""
