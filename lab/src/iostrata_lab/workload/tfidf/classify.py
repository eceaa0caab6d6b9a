"""The steps of the workload, and what is said of its result."""

from __future__ import annotations

import json
from typing import Any

from iostrata_lab.workload.interface import Context, Result
from iostrata_lab.workload.tfidf.parameters import attacks_of, options

_PREPARED = "prepared.json"


def prepare(context: Context) -> None:
    """Writes the requests, and makes the model of those that are for training."""
    context.step("input")
    made = _program(context, "generate")
    context.step("train")
    made |= _program(context, "train")
    (context.scratch / _PREPARED).write_text(json.dumps(made))


def classify(context: Context) -> Result:
    """One job, whose results were read back: each request once, in a row of its class."""
    context.step("classify")
    said = _program(context, "classify")
    made: dict[str, Any] = json.loads((context.scratch / _PREPARED).read_text())
    asked = {"asked_requests": context.number("requests"), "asked_attacks": _attacks(context)}
    return asked | made | said_of(made, said)


def _attacks(context: Context) -> int:
    return attacks_of(context, "requests")


def _program(context: Context, mode: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        context.cluster.job("tfidf", *options(context), mode, context.folder)
    )
    return found


def said_of(made: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Of what `Tfidf.java` printed; times in s of all maps together, rates in MB/s of one map.

    CPU times are of the one thread of each map that does the work.
    """
    maps = said["maps"]
    confusion: list[list[int]] = said["confusion"]
    requests = sum(map(sum, confusion))
    right = sum(row[i] for i, row in enumerate(confusion))
    reading, classifying = said["model_nanos"] / 1e9, said["request_nanos"] / 1e9
    reading_cpu, classifying_cpu = said["model_cpu_nanos"] / 1e9, said["request_cpu_nanos"] / 1e9
    return {
        "classify_job": said["classify_job"],
        "requests": requests,
        "maps": maps,
        "model_read": said["model_bytes_read"],
        "model_read_expected": maps * made["model_bytes"],
        "hdfs_read": said["hdfs_bytes_read"],
        "model_s": round(reading, 3),
        "model_cpu_s": round(reading_cpu, 3),
        "classify_s": round(classifying, 3),
        "classify_cpu_s": round(classifying_cpu, 3),
        "mb_per_s_of_map": _rate(made["input_bytes"], classifying),
        "mb_per_s_of_map_with_model": _rate(made["input_bytes"], reading + classifying),
        "mb_per_cpu_s": _rate(made["input_bytes"], classifying_cpu),
        "accuracy": round(right / requests, 6),
        "classes": [
            {
                "class": name,
                "requests": sum(row),
                "right": row[i],
                "recall": _share(row[i], sum(row)),
                "precision": _share(row[i], sum(other[i] for other in confusion)),
            }
            for i, (name, row) in enumerate(zip(said["classes"], confusion, strict=True))
        ],
        "confusion": {
            name: dict(zip(said["classes"], row, strict=True))
            for name, row in zip(said["classes"], confusion, strict=True)
        },
    }


def _rate(count: int, seconds: float) -> float | None:
    return round(count / 1e6 / seconds, 3) if seconds else None


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
