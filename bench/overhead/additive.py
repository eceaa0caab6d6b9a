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
    squares, none below 0). A mode that no subject has, or that cannot be told from another, gets
    the cost of the dearest one.
    """
    rows = [row for row in subjects if row.get("calls_per_byte")]
    matrix = np.array([[row["calls_per_byte"][mode] for mode in MODES] for row in rows])
    added = np.array([row["added_ns_per_byte"][end] for row in rows])
    seen = [i for i in range(len(MODES)) if len(rows) and matrix[:, i].max() > 0]
    if not seen:
        return {}, ["the toggle counted no calls"]
    notes: list[str] = []
    # Scaled, so that bytes per call of one subject do not outweigh the other's.
    scale = matrix[:, seen].sum(axis=1)
    scaled, right = matrix[:, seen] / scale[:, None], added / scale
    if np.linalg.matrix_rank(scaled, tol=1e-3) < len(seen):
        notes.append("modes could not be told apart: every call has the mean cost")
        mean = float(np.maximum(right, 0).mean())
        return dict.fromkeys(MODES, mean), notes
    solved, _ = optimize.nnls(scaled, right)
    found = {MODES[i]: float(ns) for i, ns in zip(seen, solved, strict=True)}
    for mode in MODES:
        if mode not in found:
            found[mode] = max(found.values())
            notes.append(f"no subject had calls of mode {mode}: taken for the dearest")
    return found, notes


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
