#!/usr/bin/env python3
"""Profiles of three storages of a lab, measured whole.

    bench/predict/storages.py FOLDER [--only NAME …] [--quick]

The storages: the disk of one node, MooseFS and CephFS on three nodes with one copy, each disk
braked to 50 MB/s. They are read and written past the page cache of this machine (`cache =
"direct"`), for the programs that mount have caches of their own which nobody can empty; nodes of
MooseFS forget what they hold of their disks before each sample, those of Ceph have 64 MiB each of
their own. Root. For each storage FOLDER/NAME has the profile, with the model that `iostrata fit`
made of all of it; `orders.py FOLDER/NAME FOLDER/NAME` then deals its samples out again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure.results import machine  # noqa: E402

BRAKE = "disk=50MB/s,dirty=32MiB"
SPEC = """
name = "{name}"
folder = "{folder}"
[dimensions]
operation = ["read", "write"]
access = {access}
size = ["16MiB", "64MiB"]
request = ["16KiB", "128KiB", "1MiB"]
clients = {clients}
cache = "direct"
[measure]
repetitions = [2, 3]
sample = "2 s"
others = 1
"""
NODES = {"disk": 1, "moosefs": 3, "cephfs": 3}


def iostrata(*words: str) -> str:
    command = [sys.executable, "-m", "iostrata", *words]
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


def folder_of(name: str, lab: str) -> Path:
    """Where the storage is, as this machine gets to it."""
    home = Path(os.environ.get("IOSTRATA_LAB_HOME", Path.home() / ".local/state/iostrata/labs"))
    known = json.loads((home / lab / "lab.json").read_text())
    if name == "disk":
        return Path(f"/proc/{known['nodes'][0]['pid']}/root{home / lab / 'disk'}")
    return home / lab / "mnt"


def profile(name: str, place: Path, quick: bool) -> None:
    lab, nodes = f"predict-{name}", range(1, NODES[name] + 1)
    system = "moosefs" if name == "disk" else name
    brakes = [word for node in nodes for word in ("--brake", f"node-{node}:{BRAKE}")]
    shape = ("--name", lab, "--nodes", str(len(nodes)), "--copies", "1", "--untraced")
    iostrata("lab", "up", system, *shape, *brakes)
    try:
        text = SPEC.format(
            name=name,
            folder=folder_of(name, lab),
            access='["sequential"]' if quick else '["sequential", "50-50", "90-10"]',
            clients="[1]" if quick else "[1, 2, 4]",
        )
        if name == "moosefs":
            again = [f"iostrata lab brake node-{node} --disk 50MB/s --name {lab}" for node in nodes]
            text += f'before = "{" && ".join(again)}"\n'
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.toml").write_text(text)
        iostrata("profile", str(place / f"{name}.toml"), "--yes", "--out", str(place))
        print(iostrata("fit", str(place / name)), flush=True)
    finally:
        iostrata("lab", "down", lab)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=NODES, default=list(NODES))
    parser.add_argument("--quick", action="store_true", help="few points: does it work?")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "machine.json").write_text(json.dumps(machine(), indent=2) + "\n")
    for name in given.only:
        profile(name, given.folder.absolute(), given.quick)


if __name__ == "__main__":
    main()
