"""Hadoop's own account of a job: the counters in its history file.

The referee for tests. No value of a trace may come from here.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import conf

# Names of events and of their contents differ by task type, see EventType of
# org.apache.hadoop.mapreduce.jobhistory; all attempt events share these endings.
ATTEMPT_END = ("_ATTEMPT_FINISHED", "_ATTEMPT_FAILED", "_ATTEMPT_KILLED")
JOB_END = ("JOB_FINISHED", "JOB_FAILED", "JOB_KILLED", "JOB_ERROR")


class JobFiles(Protocol):
    """The file system into which jobs write their histories."""

    def names(self, folder: str) -> list[str]:
        """Of what is in a folder. Raises FileNotFoundError where it is not."""

    def read(self, path: str) -> bytes:
        """All of a file. Raises FileNotFoundError where it is not."""


Counters = dict[str, dict[str, int]]
FILE_SYSTEM = "org.apache.hadoop.mapreduce.FileSystemCounter"  # the group of HDFS_BYTES_READ


@dataclass(frozen=True)
class HistoryAttempt:
    """One task attempt that has ended; counters by group and name."""

    name: str
    type: str  # MAP, REDUCE, JOB_SETUP or JOB_CLEANUP
    state: str  # SUCCEEDED, FAILED or KILLED
    start: int  # ms since the epoch, as Hadoop has it
    end: int
    counters: Counters = field(hash=False)
    locality: str = ""  # NODE_LOCAL, RACK_LOCAL or OFF_SWITCH


@dataclass(frozen=True)
class JobHistory:
    """A job that has ended; counters by group and name, empty for a job that failed."""

    id: str
    state: str
    counters: Counters
    attempts: list[HistoryAttempt]
    submitted: int = 0  # ms since the epoch, as Hadoop has it
    ended: int = 0


def parse(text: str) -> JobHistory:
    """A .jhist file: a line `Avro-Json`, the schema, then one event a line as JSON."""
    lines = text.split("\n")
    if not lines or lines[0] != "Avro-Json":
        raise ValueError(f"not a job history file, it begins with {lines[:1]}")
    job, state, totals, submitted, ended = "", "", Counters(), 0, 0
    starts: dict[str, dict[str, Any]] = {}
    attempts = []
    for kind, event in _events(lines[2:]):
        if kind == "JOB_SUBMITTED":
            job, submitted = event["jobid"], event["submitTime"]
        elif kind.endswith("_ATTEMPT_STARTED"):
            starts[event["attemptId"]] = event
        elif kind.endswith(ATTEMPT_END):
            attempts.append(_attempt(event, starts))
        elif kind in JOB_END:
            state = event.get("jobStatus") or "SUCCEEDED"
            totals, ended = _counters(event.get("totalCounters")), event["finishTime"]
    attempts.sort(key=lambda attempt: attempt.name)
    return JobHistory(job, state, totals, attempts, submitted, ended)


def started(text: str) -> list[str]:
    """The attempts that a .jhist file says were started, in its order; no counter is read."""
    lines = text.split("\n")
    if lines[0] != "Avro-Json":
        raise ValueError(f"not a job history file, it begins with {lines[:1]}")
    return [e["attemptId"] for kind, e in _events(lines[2:]) if kind.endswith("_ATTEMPT_STARTED")]


def _events(lines: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in lines:
        if line.strip():
            row = json.loads(line)
            # A union in Avro's JSON: one key, the name of the branch.
            (event,) = row["event"].values()
            yield row["type"], event


def _attempt(event: dict[str, Any], starts: dict[str, dict[str, Any]]) -> HistoryAttempt:
    name = event["attemptId"]
    start = starts.get(name, {})
    return HistoryAttempt(
        name=name,
        type=event["taskType"],
        state=event.get("taskStatus") or event["status"],
        start=start.get("startTime", 0),
        end=event["finishTime"],
        counters=_counters(event.get("counters")),
        locality=_text(start.get("locality")),
    )


def _text(value: dict[str, str] | None) -> str:
    """Of a union of text and null."""
    return next(iter(value.values())) if value else ""


def _counters(value: dict[str, Any] | None) -> Counters:
    if value is not None and "groups" not in value:
        (value,) = value.values()  # a union again, where counters may be missing
    if value is None:
        return {}
    return {
        group["name"]: {counter["name"]: counter["value"] for counter in group["counts"]}
        for group in value["groups"]
    }


def fetch(files: JobFiles, job_id: str, timeout: float) -> str:
    """The history file of a job; waits `timeout` s for the ApplicationMaster."""
    return _fetch(files, job_id, rf"{job_id}-.*\.jhist", timeout).decode()


def fetch_configuration(files: JobFiles, job_id: str, timeout: float) -> bytes:
    """The configuration that a job had, as XML; it lies beside the history."""
    return _fetch(files, job_id, rf"{job_id}_conf\.xml", timeout)


def _fetch(files: JobFiles, job_id: str, name: str, timeout: float) -> bytes:
    deadline = time.monotonic() + timeout
    while True:
        try:
            path = _locate(files, name)
            if path:
                return files.read(path)
        except (FileNotFoundError, http.client.HTTPException, ConnectionError, TimeoutError):
            pass  # renamed or moved a moment ago, or a DataNode that is busy
        if time.monotonic() > deadline:
            raise LabError(
                f"no history of {job_id} in {conf.HISTORY} after {timeout:.0f} s",
                "is it a job of this lab, and has it ended?",
            )
        time.sleep(0.1)


def _locate(files: JobFiles, pattern: str) -> str:
    for user in files.names(conf.HISTORY):
        folder = f"{conf.HISTORY}/{user}"
        for name in files.names(folder):
            if re.fullmatch(pattern, name):
                return f"{folder}/{name}"
    return ""
