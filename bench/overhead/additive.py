"""The additive account: what a job's events cost in place, its starts and the collector.

Two clusters of the same job differ by 3 to 4 % from run to run, so a per cent is out of sight of
ten pairs. But the parts of the cost are each measured well: CPU of a call from the toggle, CPU of
the start of a JVM from many starts, CPU of the collector and recorder from the kernel. Their sum,
as a share of the CPU seconds that the same job takes untraced, is the additive account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bench.measure.traces import MODES, by_mode
from scipy import optimize

Row = dict[str, Any]
Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Costs:
    """CPU ns of a call by mode, of the start of a JVM, and why one of them is not its own."""

    call_ns: dict[str, float]
    start_s: float
    recorder_s: float
    notes: tuple[str, ...] = ()


def call_costs(
    subjects: Sequence[Row], end: str = "estimate"
) -> tuple[dict[str, float], list[str]]:
    """ns of a call by mode, of subjects with `calls_per_byte` and `added_ns_per_byte`.

    `end` chooses the estimate, or the `low` or `high` end of the interval of the latter.

    Subjects mix modes differently, so their costs are the solution of one equation each (least
    squares, none below 0). Where that is too few, calls kept and calls summed have one cost: their
    hooks do the same but for the slot. A mode that no subject has gets the cost of the dearest one.
    """
    rows = [row for row in subjects if row.get("calls_per_byte")]
    counts = {mode: np.array([row["calls_per_byte"][mode] for row in rows]) for mode in MODES}
    added = np.array([row["added_ns_per_byte"][end] for row in rows])
    seen = [mode for mode in MODES if counts[mode].any()]
    if not seen:
        return {}, ["the toggle counted no calls"]
    notes: list[str] = []
    found = _solved([[mode] for mode in seen], counts, added)
    if found is None and {"detail", "summed"} <= set(seen):
        notes.append("calls kept and calls summed could not be told apart: one cost for both")
        alike = [["detail", "summed"], *([mode] for mode in seen if mode == "hot")]
        found = _solved(alike, counts, added)
    if found is None:
        notes = ["modes could not be told apart: every call has the mean cost"]
        each = added / sum(counts[mode] for mode in seen)
        return dict.fromkeys(MODES, float(np.maximum(each, 0).mean())), notes
    for mode in MODES:
        if mode not in found:
            found[mode] = max(found.values())
            notes.append(f"no subject had calls of mode {mode}: taken for the dearest")
    return found, notes


def _solved(
    groups: Sequence[Sequence[str]], counts: dict[str, Array], added: Array
) -> dict[str, float] | None:
    """ns by mode, one for all of a group; None when the subjects do not tell groups apart."""
    matrix = np.column_stack([sum(counts[mode] for mode in group) for group in groups])
    # Scaled, so that bytes per call of one subject do not outweigh the other's.
    scale = matrix.sum(axis=1)
    scaled = matrix / scale[:, None]
    if np.linalg.matrix_rank(scaled, tol=1e-3) < len(groups):
        return None
    solved, _ = optimize.nnls(scaled, added / scale)
    pairs = zip(groups, solved, strict=True)
    return {mode: float(ns) for group, ns in pairs for mode in group}


def account(traced: Row, untraced_cpu_s: float, costs: Costs) -> Row:
    """The account of one job: seconds by part and the share of all; `traced` is one traced run.

    Times are CPU seconds of all processes, `jvms` those that the run started.
    """
    layers = traced["trace"]["calls"]
    calls = by_mode(layers)
    parts = {f"{mode}_s": calls[mode] * costs.call_ns[mode] * 1e-9 for mode in MODES}
    parts["starts_s"] = traced["trace"]["jvms"] * costs.start_s
    parts["collector_s"] = traced["collector_cpu_s"]
    parts["recorder_s"] = costs.recorder_s
    total = sum(parts.values())
    return {
        "job": traced["job"],
        "megabytes": traced["megabytes"],
        "calls": calls,
        "calls_by_layer": layers,
        "jvms": traced["trace"]["jvms"],
        "parts": parts,
        "added_s": total,
        "untraced_cpu_s": untraced_cpu_s,
        "share": total / untraced_cpu_s,
        "layer_s": {
            layer: sum(of[mode] * costs.call_ns[mode] for mode in MODES) * 1e-9
            for layer, of in layers.items()
        },
    }
