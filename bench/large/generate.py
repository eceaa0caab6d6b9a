"""Makes a plausible trace of any size with known totals, as a run of a store.

    .venv/bin/python -m bench.large.generate STORE RUN --events 10_000_000

Jobs of maps and reduces run on some hosts; each call of an attempt causes calls in DataNodes,
NodeManagers and the NameNode, up to three replicas deep. EVENTS calls are recorded individually,
rows of kind `sum` hold all of them, and records, which are only summed. known.json beside run.json
says what the totals must be; it is counted before rows are made.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench.large.known import Known
from bench.large.rows import Writer
from bench.large.slices import Cluster, make

START = 1_790_000_000 * 10**9
SLICE = 500_000  # calls made at a time
JOB = 4  # slices of a job
FEWEST = 1000
SLOTS = 4  # attempts at a time on each host


def generate(store: Path, name: str, events: int, seed: int = 1, hosts: int = 4) -> dict[str, Any]:
    """Writes the run STORE/NAME, which must not be there yet; what it says in known.json."""
    run = store / name
    draft = store / f".{name}.tmp"
    if run.exists() or draft.exists():
        raise FileExistsError(f"{run} or {draft} is there: name another run")
    draft.mkdir(parents=True)
    try:
        found = _write(draft, name, events, seed, hosts)
        draft.rename(run)
    except BaseException:
        shutil.rmtree(draft)
        raise
    return found


def _write(run: Path, name: str, events: int, seed: int, hosts: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    cluster = Cluster(hosts, SLOTS * hosts)
    known, writer = Known(), Writer(run, name, cluster)
    begin, left, number = START, events, 0
    while left > 0:
        calls = left if left < 2 * SLICE else SLICE
        maps = np.arange(cluster.slots) % 4 != number % 4
        made = make(random, cluster, maps, begin, calls - cluster.slots)  # an attempt is a call
        records = random.integers(1_000, 200_000, cluster.slots)
        known.add(made, begin, records)
        writer.add(made, maps, records, job=number // JOB, begin=begin)
        begin = int(made.ends.max()) + 300_000_000
        left, number = left - calls, number + 1
    rows, size = writer.close(START, begin)
    facts = known.as_dict() | {"events": events, "rows": rows, "bytes": size, "seed": seed}
    _describe(run, name, begin, rows, size)
    (run / "known.json").write_text(json.dumps(facts, indent=1) + "\n")
    return facts


def _describe(run: Path, name: str, end: int, rows: int, size: int) -> None:
    facts: dict[str, Any] = {
        "run": name,
        "command": ["made", "by", "bench.large.generate"],
        "state": "ok",
    }
    facts |= {"start": START, "end": end, "exit": 0, "host": "host-00", "user": "made"}
    (run / "run.json").write_text(json.dumps(facts) + "\n")
    progress = {"state": "done", "run": name, "events": rows, "bytes": size, "level": "record"}
    (run / "progress.json").write_text(json.dumps(progress) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("run")
    parser.add_argument(
        "--events", type=int, default=1_000_000, help="calls that are recorded individually"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=4)
    given = parser.parse_args()
    if given.events < FEWEST or given.hosts < 3:
        parser.error(f"at least {FEWEST} events, and 3 hosts for 3 replicas")
    began, cpu = time.monotonic(), time.process_time()
    try:
        found = generate(given.store, given.run, given.events, given.seed, given.hosts)
    except FileExistsError as error:
        parser.error(str(error))
    took, cpu = time.monotonic() - began, time.process_time() - cpu
    print(
        f"{found['events']} calls, {found['rows']} rows, {found['bytes'] / 1e6:.0f} MB in "
        f"{took:.1f} s ({cpu:.1f} s of CPU, {found['events'] / cpu / 1e6:.2f} M calls/s)",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
