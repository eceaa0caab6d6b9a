"""Runs whose calls are blocks written through a pipeline, some of them with other calls: noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from iostrata.schema.events import COLUMNS
from iostrata.schema.types import TYPES

SCHEMA = pa.schema([(name, pa.type_for_alias(TYPES[kind].arrow)) for name, kind in COLUMNS.items()])
# Of a packet: operation and the place of its parent in this list; -1: the block.
PACKET = (("receive_packet", -1), ("read", 0), ("mirror", 0), ("write", 0), ("flush", 0))
NOISE = ("sync", "slow", "retry", "checksum", "lock")
TRACES = 2000  # of one file


def write(folder: Path, spans: int, noise: float, seed: int) -> None:
    """A run of at least so many spans: per trace a block of 60 to 68 packets of 5 calls.

    Each call but the block's is, with the probability `noise`, another one.
    """
    random = np.random.default_rng(seed)
    events = folder / "events/host=made"
    events.mkdir(parents=True)
    written = 0
    while written < spans:
        table = _traces(random, written, noise)
        name = f"part-{len(list(events.iterdir())):06}.parquet"
        pq.write_table(table, events / name, compression="zstd", compression_level=1)
        written += table.num_rows


def _traces(random: np.random.Generator, first: int, noise: float) -> pa.Table:
    packets = random.integers(60, 69, TRACES)
    sizes = 1 + packets * len(PACKET)
    begin = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.arange(sizes.sum())
    within = rows - begin
    step = np.where(within == 0, -1, (within - 1) % len(PACKET))
    parents = np.array([parent for _, parent in PACKET])
    above = np.where(parents[step] < 0, begin, rows - step + parents[step])
    names = np.array(["write_block", *(op for op, _ in PACKET), *NOISE])
    op = step + 1
    noisy = (step >= 0) & (random.random(len(rows)) < noise)
    op[noisy] = 1 + len(PACKET) + random.integers(0, len(NOISE), noisy.sum())
    ids = first + rows + 1
    length = 1000 * sizes.max()
    dur = np.where(
        step < 0, length, np.where(step == 0, 900, 100 + random.integers(0, 50, len(rows)))
    )
    start = np.cumsum(sizes * 0 + length)[np.repeat(np.arange(TRACES), sizes)] + within * 180
    span = (ids >> 20 << 40) | ids
    parent = np.where(step < 0, 0, ((above + first + 1) >> 20 << 40) | (above + first + 1))
    trace = np.repeat(first + np.arange(TRACES) + 1, sizes)
    columns = {
        "host": pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), ["made"]),
        "role": pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), ["DataNode"]),
        "kind": pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), ["call"]),
        "layer": pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), ["datanode"]),
        "op": pa.DictionaryArray.from_arrays(op.astype(np.int32), names),
        "proc": np.ones(len(rows), np.int64),
        "tid": trace % 8,
        "span": span,
        "parent": pa.array(parent, mask=parent == 0),
        "trace": trace,
        "start": start,
        "dur": dur,
        "bytes": np.where(step == 3, 65536, 0),
        "point": np.ones(len(rows), np.int32),
        "flags": np.zeros(len(rows), np.int32),
    }
    arrays = [
        pa.array(columns[field.name]).cast(field.type)
        if field.name in columns
        else pa.nulls(len(rows), field.type)
        for field in SCHEMA
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)
