"""Sizes of requests by layer, as they were and merged as a disk would see them."""

from __future__ import annotations

from collections import Counter

from iostrata.analyse.buckets import lower
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.merged import MergedSize, merged, unmerged
from iostrata.schema.names import layer_order
from iostrata.show.report.model import MergedClass, MergedSizes

_Key = tuple[str, str]


def merged_sizes(engine: DuckDb) -> list[MergedSizes]:
    """Of each layer and direction that has requests at known places, from the application down."""
    before = _by_key(engine.records(unmerged, MergedSize))
    after = _by_key(engine.records(merged, MergedSize))
    made = [_sizes(key, rows, after[key]) for key, rows in before.items()]
    return sorted(made, key=lambda row: (layer_order(row.layer), row.layer, row.direction))


def _by_key(rows: list[MergedSize]) -> dict[_Key, list[MergedSize]]:
    found: dict[_Key, list[MergedSize]] = {}
    for row in rows:
        found.setdefault((row.layer, row.direction), []).append(row)
    return found


def _sizes(key: _Key, before: list[MergedSize], after: list[MergedSize]) -> MergedSizes:
    were, are = _bytes(before), _bytes(after)
    classes = [MergedClass(size, were[size], are[size]) for size in sorted(were | are)]
    requests, left = (sum(row.runs for row in rows) for rows in (before, after))
    return MergedSizes(*key, requests, left, sum(were.values()), classes)


def _bytes(rows: list[MergedSize]) -> Counter[int]:
    """Bytes by the power of two that is not above the size of their request."""
    found: Counter[int] = Counter()
    for row in rows:
        found[1 << (lower(row.bucket).bit_length() - 1)] += row.bytes
    return found
