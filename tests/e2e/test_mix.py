"""Two programs on one file system: what they collide in is what was made narrow."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cluster import Cluster, lab_up, skip_without
from tests.e2e.conftest import Iostrata

from iostrata_lab import clusters
from iostrata_lab.clusters import moosefs, mounted

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.geteuid() != 0, reason="file systems need root: nodes, mounts"),
]
LIMIT = 10_000_000  # bytes/s of the disk
SIZE = 24 << 20  # bytes, of each file
MAKE = f"head -c {SIZE} /dev/urandom > $MIX_SHARED/"
SETUP = f"{MAKE}a; {MAKE}b; sync"
READS = ("dd if=$MIX_SHARED/a of=$MIX_OWN/copy bs=64k", "dd if=$MIX_SHARED/b of=/dev/null bs=64k")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    skip_without(moosefs.PROGRAMS)
    name = f"mix-{os.getpid()}"
    options = ("--nodes", "1", "--copies", "1", "--brake", f"node-1:disk={LIMIT // 10**6}MB/s")
    with lab_up(tmp_path_factory.mktemp("mix"), name, *options, system="moosefs") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def mixed(cluster: Cluster) -> dict[str, Any]:
    words = ("mix", *READS, "--setup", SETUP, "--on", cluster.name, "--repeats", "1")
    done = cluster.iostrata(*words, "--json", "--out", "mixed")
    assert done.returncode == 0, done.stderr
    assert json.loads((cluster.folder / "mixed/mix.json").read_text()) == json.loads(done.stdout)
    assert (cluster.folder / "mixed/mix.svg").read_text().startswith("<svg")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_programs_that_read_from_one_slow_disk_collide_in_it(mixed: dict[str, Any]) -> None:
    (on_lab,) = mixed["labs"]
    least = SIZE / LIMIT
    for program in on_lab["programs"]:
        # alone as fast as the disk, together not faster than it
        assert program["alone"][0] > 0.9 * least
        assert program["overlap"] > 0.9
    assert max(each["together"][0] for each in on_lab["programs"]) > 1.8 * least
    (disk,) = [one for one in on_lab["resources"] if one["kind"] == "server disk"]
    assert disk["name"] == "node-1"
    assert min(*disk["alone"].values(), disk["together"]) > 0.5
    # a machine that has more to do than this may be what they wait for most
    assert on_lab["collision"]["kind"] in ("server disk", "machine CPU")


def test_the_layer_that_waits_is_a_read(mixed: dict[str, Any]) -> None:
    (on_lab,) = mixed["labs"]
    layers = {name: (one["layer"], one["op"]) for name, one in on_lab["layers"].items()}
    assert layers["A"] == layers["B"] == ("posix", "read")
    servers = [one for one in on_lab["operations"] if one["program"] == ""]
    assert ("mfschunkserver", "read") in {(one["role"], one["op"]) for one in servers}


def test_one_run_has_both_programs_and_their_server(
    cluster: Cluster, mixed: dict[str, Any]
) -> None:
    (run,) = mixed["labs"][0]["runs"]
    parts = {one["part"]: one for one in cluster.summary(run)["parts"]}
    assert parts["A"]["bytes_read"] >= SIZE
    assert parts["A"]["bytes_written"] >= SIZE
    assert parts["B"]["bytes_read"] >= SIZE
    # the copy was read from its cache by nobody
    assert (
        2 * SIZE
        <= parts[""]["bytes_read"]
        < 2.2 * SIZE
        + parts.get("B again", {}).get("bytes_read", 0)
        + parts.get("A again", {}).get("bytes_read", 0)
    )
    done = cluster.iostrata("report", run, "--json")
    programs = json.loads(done.stdout)["programs"]
    moved = {one["part"]: sum(one["moved"]) for one in programs["parts"]["rows"]}
    assert moved == {name: one["bytes_read"] + one["bytes_written"] for name, one in parts.items()}
    assert sum(map(sum, (one["moved"] for one in programs["servers"]["rows"]))) == moved[""]


def test_trials_that_ran_are_not_run_again_and_nothing_is_left(
    cluster: Cluster, mixed: dict[str, Any]
) -> None:
    words = ("mix", *READS, "--setup", SETUP, "--on", cluster.name, "--repeats", "1", "--json")
    again = cluster.iostrata(*words)
    assert again.stderr.count("taken from before") == 3
    assert json.loads(again.stdout) == mixed
    # a run that is gone is recorded again
    gone = next(path for path in cluster.store.iterdir() if path.name.endswith("-A"))
    shutil.rmtree(gone)
    once = cluster.iostrata(*words)
    assert once.stderr.count("taken from before") == 2
    assert gone.exists()
    mount = Path(clusters.find(cluster.name).environment()[mounted.VARIABLE])
    assert [path.name for path in mount.iterdir() if "mix" in path.name] == []


def test_what_recording_costs_is_beside_the_same_trials_untraced(iostrata: Iostrata) -> None:
    programs = ("head -c 1M /dev/urandom > $MIX_OWN/x; sleep 0.2", "cat /etc/passwd; sleep 0.3")
    done = iostrata("mix", *programs, "--cost", "--repeats", "2", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["trials"] == 2 * 3 * 2
    costs = {(one["program"], one["together"]): one for one in found["costs"]}
    assert costs.keys() == {("A", "A"), ("B", "B"), ("A", "AB"), ("B", "AB")}
    for (program, together), one in costs.items():
        assert min(len(one["bare"]), len(one["recorded"]), one["time"]["trials"]) == 2
        assert min(one["bare"]) >= {"A": 0.2, "B": 0.3}[program]
        assert one["bytes_per_call"] > 0
        assert (one["cpu"] is None) == (together == "AB")
    assert min(costs["A", "A"]["cpu_recorded"]) > 0
