"""One run of a comparison: its facts, and every number of it that is compared.

Numbers are those of the summary, and of targets those of `analyse.targets`: calls, bytes, times in
ns summed over threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from iostrata.schema.directions import BYTES_COLUMN

MOST_TARGETS = 400
METRICS = ("time", "calls", *BYTES_COLUMN.values(), "bytes", "errors")

RowKey = tuple[str, ...]
Values = dict[str, float]


class TableKind(NamedTuple):
    """What is compared row by row: its title and what its keys are called."""

    id: str
    title: str
    keys: RowKey


JOB = TableKind("job", "Job", ("what",))
LAYERS = TableKind("layers", "Layers", ("layer",))
POINTS = TableKind("points", "Operations", ("operation",))
CATEGORIES = TableKind("categories", "Categories of targets", ("layer", "category"))
PHASES = TableKind("phases", "Phases of tasks", ("phase", "layer"))
TARGETS = TableKind("targets", "Targets", ("layer", "category", "target"))
TABLES = (JOB, LAYERS, POINTS, CATEGORIES, PHASES, TARGETS)


@dataclass(frozen=True)
class Measured:
    """Facts of a run by name, and its values by table, key and metric.

    A key that is missing was 0, in a table of `cut` it may be more. `start` and `end`: ns.
    """

    name: str
    start: int
    end: int
    facts: dict[str, str]
    tables: dict[TableKind, dict[RowKey, Values]]
    cut: frozenset[TableKind] = field(default_factory=frozenset)
