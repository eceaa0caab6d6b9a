"""What Spark itself counted, from the event log of an application."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Of a task, where they are in its event, and what they are called here; all in bytes.
_BYTES = {
    "input_bytes": ("Input Metrics", "Bytes Read"),
    "output_bytes": ("Output Metrics", "Bytes Written"),
    "shuffle_written": ("Shuffle Write Metrics", "Shuffle Bytes Written"),
    "shuffle_read_local": ("Shuffle Read Metrics", "Local Bytes Read"),
    "shuffle_read_remote": ("Shuffle Read Metrics", "Remote Bytes Read"),
}
_SPILLED = "Disk Bytes Spilled"


def counters(log: Path) -> dict[str, Any]:
    """Of one application: `application`, its id, then sums over all task attempts that ended with
    metrics (tasks, failed, bytes), and `stages`, the same by stage.
    """
    application = ""
    stages: dict[str, dict[str, int]] = {}
    for event in _events(log):
        if event["Event"] == "SparkListenerApplicationStart":
            application = event["App ID"]
        elif event["Event"] == "SparkListenerTaskEnd":
            name = f"{event['Stage ID']}.{event['Stage Attempt ID']}"
            _add(stages.setdefault(name, dict.fromkeys(_NAMES, 0)), event)
    totals = {name: sum(stage[name] for stage in stages.values()) for name in _NAMES}
    listed = [{"stage": name, **stages[name]} for name in sorted(stages, key=_number)]
    return {"application": application, **totals, "stages": listed}


_NAMES = ("tasks", "failed", *_BYTES, "spilled")


def _events(log: Path) -> Iterable[dict[str, Any]]:
    with log.open("rb") as lines:
        yield from map(json.loads, lines)


def _add(stage: dict[str, int], event: dict[str, Any]) -> None:
    stage["tasks"] += 1
    stage["failed"] += bool(event["Task Info"]["Failed"] or event["Task Info"]["Killed"])
    metrics = event.get("Task Metrics")
    if metrics is None:  # it did not come so far
        return
    for name, (group, counter) in _BYTES.items():
        stage[name] += metrics[group][counter]
    stage["spilled"] += metrics[_SPILLED]


def _number(stage: str) -> tuple[int, int]:
    number, _, attempt = stage.partition(".")
    return int(number), int(attempt)
