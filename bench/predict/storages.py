#!/usr/bin/env python3
"""Profiles of storages of a lab, measured whole.

    bench/predict/storages.py FOLDER [--only NAME …] [--quick]

The storages, each disk braked to 50 MB/s: the disk of one node; MooseFS and CephFS on three nodes
with one copy; RADOS, as a block device (`rados`), and one whose objects are on two nodes
(`mirrored`); HDFS on three nodes with one to three copies. Mounts are read and written past the
page cache of this machine (`cache = "direct"`), for the programs that mount have caches of their
own which nobody can empty. Where a setting of the brake empties what a node holds of its disk, that
is done before each sample; servers of Ceph have 64 MiB each of their own. Root. For each storage
FOLDER/NAME has the profile, with the model that `iostrata fit` made of all of it;
`orders.py FOLDER/NAME FOLDER/NAME` then deals its samples out again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure.results import machine  # noqa: E402

from iostrata_lab import clusters  # noqa: E402
from iostrata_lab.clusters.mounted import mount_point  # noqa: E402
from iostrata_lab.clusters.nodes import DISK  # noqa: E402

BRAKE = "disk=50MB/s,dirty=32MiB"
SPEC = """
name = "{name}"
{place}
[dimensions]
operation = ["read", "write"]
access = {access}
size = ["16MiB", "64MiB"]
request = ["16KiB", "128KiB", "1MiB"]
clients = {clients}
{more}
[measure]
repetitions = [2, 3]
sample = "20 s"
others = 1
{before}
"""
DIRECT = 'cache = "direct"'


@dataclass(frozen=True)
class Storage:
    """A lab of `system`, with `copies` of each object where it says so; `forgets`: a brake that is
    set again empties what its nodes hold of their disks.
    """

    system: str
    nodes: int = 3
    copies: int = 1
    dimensions: str = DIRECT
    forgets: bool = False


STORAGES = {
    "disk": Storage("moosefs", nodes=1),
    "moosefs": Storage("moosefs", forgets=True),
    "cephfs": Storage("cephfs"),
    "rados": Storage("cephfs", dimensions=""),
    "mirrored": Storage("cephfs", copies=2, dimensions=""),
    "hdfs": Storage("hadoop", copies=0, dimensions="copies = [1, 2, 3]", forgets=True),
}


def iostrata(*words: str, lab: str = "") -> str:
    """With the environment of a lab, where one is named."""
    command = [sys.executable, "-m", "iostrata", *words]
    if lab:
        env = f'eval "$({sys.executable} -m iostrata lab env {lab})"; exec "$@"'
        command = ["bash", "-c", env, "-", *command]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # for `before`
    done = subprocess.run(
        command,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"iostrata {' '.join(words)} failed with {done.returncode}")
    return done.stdout


def place_of(name: str, lab: str) -> str:
    """Where the storage is, as this machine gets to it: a line of a profile."""
    found = clusters.find(lab)
    if name == "hdfs":
        return f'filesystem = "hdfs://{found.state.at("namenode")}/tmp"'
    if name in ("rados", "mirrored"):
        conf = {**os.environ, **found.environment()}
        subprocess.run(["ceph", "osd", "pool", "create", "images", "32"], env=conf, check=True)
        return 'pool = "images"'
    if name == "disk":
        return f'folder = "/proc/{found.nodes()[0].pid}/root{found.root / DISK}"'
    return f'folder = "{mount_point(found.root)}"'


def profile(name: str, place: Path, quick: bool) -> None:
    storage, lab = STORAGES[name], f"predict-{name}"
    nodes = range(1, storage.nodes + 1)
    brakes = [word for node in nodes for word in ("--brake", f"node-{node}:{BRAKE}")]
    copies = ("--copies", str(storage.copies), "--untraced") if storage.copies else ("--no-agent",)
    shape = ("--name", lab, "--nodes", str(storage.nodes), *copies)
    iostrata("lab", "up", storage.system, *shape, *brakes)
    try:
        again = [f"iostrata lab brake node-{node} --disk 50MB/s --name {lab}" for node in nodes]
        text = SPEC.format(
            name=name,
            place=place_of(name, lab),
            access='["sequential"]' if quick else '["sequential", "50-50", "90-10"]',
            clients="[1]" if quick else "[1, 2, 4]",
            more=storage.dimensions,
            before=f'before = "{" && ".join(again)}"' if storage.forgets else "",
        )
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.toml").write_text(text)
        iostrata("profile", str(place / f"{name}.toml"), "--yes", "--out", str(place), lab=lab)
        print(iostrata("fit", str(place / name)), flush=True)
    finally:
        iostrata("lab", "down", lab)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=STORAGES, default=list(STORAGES))
    parser.add_argument("--quick", action="store_true", help="few points: does it work?")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "machine.json").write_text(json.dumps(machine(), indent=2) + "\n")
    for name in given.only:
        profile(name, given.folder.absolute(), given.quick)


if __name__ == "__main__":
    main()
