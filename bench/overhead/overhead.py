#!/usr/bin/env python3
"""The account of what tracing costs.

    bench/overhead/overhead.py bench/runs/2026-11-22-overhead
    bench/overhead/overhead.py FOLDER --parts toggle,starts,account --smoke

Parts, each a file overhead-PART.json in the folder, with every measurement and what follows:
  toggle     switched on and off inside a DataNode under load, a long map task and a reader of
             small records, every two seconds: CPU per byte, paired, and ns of a call
  starts     CPU that the start of a JVM of Hadoop takes more, and the recorder's own
  tasks      what tracing adds to a whole JVM, its compilers included: WordCount in one JVM
  jobs       TestDFSIO write and read, TeraSort, WordCount at two sizes: fixed and proportional
             cost; bytes of trace per event and as a share of the job's data
  ab         interleaved pairs of TestDFSIO write and TeraSort at the larger size, with a verdict
             against the promise of each mode: pass, fail or inconclusive
  account    the additive account: events x their cost in place + starts + collector and recorder,
             as a share of the cluster's CPU; from toggle, starts, and the runs of jobs and ab
  datanodes  the share added by 1, 2, 4 and 8 DataNodes: flat or not (Fig. 3 of the IOSIG+ paper)

Modes are ways to call `iostrata record`; what this build lacks is said, and never passes.
Called again with the same settings it goes on where it was ended. CPU of a cluster is that of its
control group: client, tasks, daemons, and of the traced one the collector and the recorder. Needs
root and a machine that does nothing else, for some four hours with all parts and both modes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure.results import Results, end_as_by_ctrl_c, say  # noqa: E402
from bench.overhead import account, clusters, show, starts, tasks, toggle  # noqa: E402
from bench.overhead.modes import ALL, MODES, RECORD, Mode  # noqa: E402

PARTS = ("toggle", "starts", "tasks", "jobs", "ab", "account", "datanodes")
SMOKE = {
    "windows": 2,
    "starts": 2,
    "tasks": 2,
    "task_megabytes": "1,2",
    "pairs": 1,
    "ab_pairs": 1,
    "small": 8,
    "large": 16,
    "map_megabytes": 600,
    "datanodes": "1,2",
    "jobs": "dfsio-write,wordcount",
}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", default=",".join(PARTS), help="default: %(default)s")
    parser.add_argument(
        "--modes",
        default=",".join(mode.name for mode in MODES),
        help=f"some of {','.join(ALL)}; default: %(default)s",
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="of a window (%(default)s)")
    parser.add_argument("--windows", type=int, default=60, help="pairs a mode (%(default)s)")
    parser.add_argument("--starts", type=int, default=20, help="pairs of starts (%(default)s)")
    parser.add_argument("--tasks", type=int, default=12, help="pairs of tasks (%(default)s)")
    parser.add_argument(
        "--task-megabytes", default="16,128", help="of text for a task; default: %(default)s"
    )
    parser.add_argument("--pairs", type=int, default=4, help="of each job and size (%(default)s)")
    parser.add_argument(
        "--jobs",
        default=",".join(clusters.KINDS),
        help="of part jobs; default: %(default)s",
    )
    parser.add_argument("--ab-pairs", type=int, default=12, help="of part ab (%(default)s)")
    parser.add_argument("--small", type=int, default=64, help="MB of the small jobs (%(default)s)")
    parser.add_argument("--large", type=int, default=512, help="MB of the large ones (%(default)s)")
    parser.add_argument("--map-megabytes", type=int, default=2000, help="of a map (%(default)s)")
    parser.add_argument("--datanodes", default="1,2,4,8", help="default: %(default)s")
    parser.add_argument("--smoke", action="store_true", help="the least of all: shows it works")
    arguments = parser.parse_args()
    for name, value in SMOKE.items() if arguments.smoke else ():
        setattr(arguments, name, value)
    for name, known in (("parts", PARTS), ("modes", ALL), ("jobs", clusters.KINDS)):
        unknown = set(getattr(arguments, name).split(",")) - set(known)
        if unknown:
            parser.error(f"--{name}: no {', '.join(sorted(unknown))}; there are {','.join(known)}")
    return arguments


def measurable(names: str) -> list[Mode]:
    """The modes that this build has. Full detail is what a build without levels does."""
    chosen = [ALL[name] for name in names.split(",")]
    for mode in chosen:
        if mode.missing:
            what = "measured without it" if mode is RECORD else "not measured"
            say(f"mode {mode.name}: this build has no {', '.join(mode.missing)}; {what}")
    found = [mode for mode in chosen if not mode.missing or mode is RECORD]
    return found or sys.exit("none of these modes can be measured")


def part(name: str, given: argparse.Namespace, modes: list[Mode], work: Path) -> Results:
    folder, sizes = given.folder, (given.small, given.large)
    windows = {
        "seconds": given.seconds,
        "windows": given.windows,
        "map_megabytes": given.map_megabytes,
    }
    numbers = [int(number) for number in given.datanodes.split(",")]
    task_sizes = [int(size) for size in given.task_megabytes.split(",")]
    does: dict[str, Callable[[], Results]] = {
        "toggle": lambda: toggle.measure(folder, work, modes, windows),
        "starts": lambda: starts.measure(folder, work, given.starts),
        "tasks": lambda: tasks.measure(folder, work, modes, task_sizes, given.tasks),
        "jobs": lambda: clusters.by_size(
            folder, work, given.jobs.split(","), sizes, modes, given.pairs
        ),
        "account": lambda: account.conclude(folder, modes),
        "ab": lambda: clusters.ab(folder, work, given.large, modes, given.ab_pairs),
        "datanodes": lambda: clusters.datanodes(
            folder, work, given.large, numbers, modes[0], given.pairs
        ),
    }
    return does[name]()


def main() -> None:
    given = parsed()
    end_as_by_ctrl_c()
    modes = measurable(given.modes)
    work = Path(tempfile.mkdtemp(prefix="iostrata-overhead-"))
    found: dict[str, Any] = {}
    try:
        for name in [part for part in PARTS if part in given.parts.split(",")]:
            say(f"part {name}")
            found[name] = part(name, given, modes, work).facts["found"]
    except KeyboardInterrupt:
        sys.exit("interrupted: call it again with the same folder to go on")
    finally:
        shutil.rmtree(work, ignore_errors=True)
        for name, value in found.items():
            print(f"\n=== {name}")
            show.show(name, value)


if __name__ == "__main__":
    main()
