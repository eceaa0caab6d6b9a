"""The checkpoint itself, by our program or by IOR, and what it says of each."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iostrata_lab.workload.checkpoint.tools import launcher, writer
from iostrata_lab.workload.interface import Context, Result
from iostrata_lab.workload.places import mounted_at

PROGRAM = "iostrata_lab.workload.checkpoint.program"
MIB = 1 << 20


def perform(context: Context) -> Result:
    context.step("save")
    by_ior = writer(context) == "ior"
    checkpoints = _by_ior(context) if by_ior else _by_mpi4py(context)
    rates = [row["mib_s"] for row in checkpoints["checkpoints"]]
    return {
        "file_system": mounted_at(Path(context.folder)),
        "program": "ior" if by_ior else "mpi4py",
        "bytes": sum(row["bytes"] for row in checkpoints["checkpoints"]),
        "mib_s_mean": round(statistics.mean(rates), 3),
        "mib_s_deviation": round(statistics.stdev(rates), 3) if len(rates) > 1 else 0.0,
        **checkpoints,
    }


def _launch(context: Context, *program: str) -> None:
    """Raises UserError with what the ranks complained about; Ctrl-C ends them all."""
    mpiexec = launcher(writer(context))
    options = ["-n", str(context.number("ranks"))]
    if "open" in _version(mpiexec).lower():  # Open MPI, which counts cores and forbids root
        options += ["--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
    context.cluster.run([mpiexec, *options, *program])


def _version(mpiexec: str) -> str:
    return subprocess.run(
        [mpiexec, "--version"], capture_output=True, text=True, check=False
    ).stdout


def _by_mpi4py(context: Context) -> dict[str, Any]:
    answer = context.scratch / "answer.json"
    order = {
        **context.values,
        "seed": context.seed,
        "folder": context.folder,
        "answer": str(answer),
    }
    path = context.scratch / "order.json"
    path.write_text(json.dumps(order), "utf-8")
    _launch(context, sys.executable, "-m", PROGRAM, str(path))
    said = json.loads(answer.read_text("utf-8"))
    found: dict[str, Any] = {"checkpoints": summed(said["rows"])}
    if said["restarts"]:
        found["restart_s"] = round(max(said["restarts"]), 3)
    return found


def summed(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each checkpoint: from the first rank that begins to the last that has closed."""
    by_number: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_number[row["checkpoint"]].append(row)
    found = []
    for number, own in sorted(by_number.items()):
        took = max(row["end"] for row in own) - min(row["start"] for row in own)
        moved = sum(row["bytes"] for row in own)
        found.append(
            {
                "checkpoint": number,
                "bytes": moved,
                "writes": sum(row["writes"] for row in own),
                "s": round(took, 6),
                "mib_s": round(moved / MIB / took, 3) if took > 0 else 0.0,
                **{f"{step}_s": round(max(row[step] for row in own), 6) for step in STEPS},
                "slowest_rank": max(own, key=lambda row: float(row["end"]))["rank"],
            }
        )
    return found


STEPS = ("open", "write", "sync", "close")


def _by_ior(context: Context) -> dict[str, Any]:
    answer = context.scratch / "ior.json"
    _launch(context, "ior", *ior_options(context, answer))
    return read_ior(json.loads(answer.read_text("utf-8")))


def ior_options(context: Context, answer: Path) -> list[str]:
    """A file for each checkpoint (`-m`), all of which stay until the workload has ended."""
    block, transfer = context.number("block"), context.number("transfer")
    segments = context.number("segments")
    if context.text("pattern") == "strided":
        block, segments = transfer, segments * (block // transfer)
    options = ["-w", "-k", "-m", "-C", "-a", context.text("api").upper()]
    options += ["-b", str(block), "-t", str(transfer), "-s", str(segments)]
    options += ["-i", str(context.number("checkpoints")), "-d", str(int(context.real("pause")))]
    options += ["-F"] * (context.text("pattern") == "n-n")
    options += ["-e"] * context.truth("fsync") + ["-c"] * context.truth("collective")
    options += ["-r", "-R"] * context.truth("restart")
    options += ["-o", f"{context.folder}/checkpoint", "-O", "summaryFormat=JSON"]
    return [*options, "-O", f"summaryFile={answer}"]


def read_ior(said: Mapping[str, Any]) -> dict[str, Any]:
    """IOR's own record of each checkpoint, in its own figures, and of the last restart."""
    (test,) = said["tests"]
    asked, tasks = test["Parameters"], test["Options"]["tasks"]
    moved = tasks * asked["segmentCount"] * asked["blockSize"]
    by_access: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in test["Results"]:
        by_access[row["access"]].append(row)
    rows = [
        {
            "checkpoint": number,
            "bytes": moved,
            "writes": moved // asked["transferSize"],
            "s": row["totalTime"],
            "mib_s": row["bwMiB"],
            "open_s": row["openTime"],
            "write_s": row["wrRdTime"],
            "close_s": row["closeTime"],
        }
        for number, row in enumerate(by_access["write"])
    ]
    reads = by_access["read"]
    return {"checkpoints": rows, **({"restart_s": reads[-1]["totalTime"]} if reads else {})}
