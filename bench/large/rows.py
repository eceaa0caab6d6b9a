"""Slices of a made trace as the Parquet files of a run: events, processes, host samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.large.shapes import NAMENODE, NODEMANAGER, RECORDS, REPLICA, TASK, Call, Mixture
from bench.large.slices import BLOCKS, CALLS, FILES, Cluster, Longs, Slice, draw
from bench.large.sums import Sums, per_row
from numpy.typing import NDArray

from iostrata.schema.events import COLUMNS, PROCESS_COLUMNS, SYSTEM_COLUMNS
from iostrata.schema.types import TYPES

SECOND = 10**9
RUN_CALL = len(CALLS)  # places after those of CALLS: of the task call and of records
NAMED: tuple[tuple[str, str, str], ...] = (
    *((call.layer, call.op, call.category) for call in CALLS),
    ("task", "run", "unknown"),
    ("record", "read", "record"),
)
FLAGS = np.array([*(call.flags for call in CALLS), 0, 0], np.int32)
POINT = np.array([*(call.point for call in CALLS), 0, 0], np.int32)
_PLAIN = {kind: pa.type_for_alias(names.arrow) for kind, names in TYPES.items()}
_TYPES = {**_PLAIN, "string": pa.dictionary(pa.int32(), pa.string())}
# As the collector writes them (rust/native/src/store/table.rs).
_SPLIT = ("dur", "bytes", "asked", "count", "parent", "timed", "timed_dur", "weight")
_ENCODINGS = dict.fromkeys(("start", "offset", "span"), "DELTA_BINARY_PACKED")
_ENCODINGS |= dict.fromkeys((*_SPLIT, "inside", "min", "max"), "BYTE_STREAM_SPLIT")


def coded(codes: Longs, names: Sequence[str | None]) -> pa.Array:
    """Texts by number, each once in the dictionary; None is null."""
    known = list(dict.fromkeys(name for name in names if name is not None))
    place = {name: number for number, name in enumerate(known)}
    numbers = np.array([-1 if name is None else place[name] for name in names], np.int32)[codes]
    mask = numbers < 0 if None in names else None
    return pa.DictionaryArray.from_arrays(
        pa.array(numbers, mask=mask), pa.array(known, pa.string())
    )


class Writer:
    """Writes the parts of a run slice by slice, and its other tables at the end."""

    def __init__(self, run: Path, name: str, cluster: Cluster) -> None:
        self._run, self._name, self._cluster = run, name, cluster
        self._hosts = [f"host-{number:02d}" for number in range(cluster.hosts)]
        self._part = self._rows = 0
        self._spans = np.zeros(cluster.threads, np.int64)
        self._processes: list[dict[str, Any]] = []
        threads = np.arange(cluster.threads)
        self._host = cluster.host(threads)
        role = (threads - cluster.slots) // (cluster.slots * cluster.hosts)
        self._role = np.where(threads < cluster.slots, 0, 1 + role)
        # one process for all threads of a server
        self._server = self._role * cluster.hosts + self._host
        self._server_calls = np.zeros(int(self._server.max()) + 1, np.int64)

    def add(
        self, made: Slice, maps: NDArray[np.bool_], records: Longs, job: int, begin: int
    ) -> None:
        """Writes a slice: one part on each host."""
        self._part += 1
        slots = self._cluster.slots
        attempts = [
            f"attempt_1790000000000_{job + 1:04d}_{'m' if is_map else 'r'}_"
            f"{self._part * slots + slot:06d}_0"
            for slot, is_map in enumerate(maps)
        ]
        proc = (self._part + 1) * 1_000_003 + np.arange(slots) * 7 + (1 << 40)
        procs = np.where(self._role == 0, 0, (1 << 41) + self._server)
        procs[:slots] = proc
        kind = np.where(maps, 0, 1)
        facts = _Facts(procs, kind, f"job_1790000000000_{job + 1:04d}", attempts, begin)
        calls = _calls(made, slots, begin)
        order = np.lexsort((calls["start"], calls["thread"], self._host[calls["thread"]]))
        sums = per_row(calls, begin, made.ends, slots, records)
        counted = np.bincount(sums.thread, sums.count, self._cluster.threads).astype(np.int64)
        self._spans[:slots] = 0  # new processes
        table, sizes = self._table(calls, order, facts)
        of_sums, sum_sizes = self._sum_table(sums, facts)
        place = sum_place = 0
        for host, (size, sum_size) in enumerate(zip(sizes, sum_sizes, strict=True)):
            part = [of_sums.slice(sum_place, sum_size), table.slice(place, size)]
            self._write("events", host, pa.concat_tables(part), COLUMNS)
            place, sum_place = place + size, sum_place + sum_size
            self._rows += size + sum_size
        np.add.at(self._server_calls, self._server, counted)
        detail = np.bincount(calls["thread"], minlength=self._cluster.threads)
        for slot in range(slots):
            self._processes.append(
                self._process(slot, int(procs[slot]), int(counted[slot]), int(detail[slot]))
                | {"role": ("map", "reduce")[kind[slot]], "job": facts.job, "exit": "ended"}
                | {"task": attempts[slot], "start": begin, "end": int(made.ends[slot])}
            )

    def _table(
        self, calls: dict[str, Longs], order: Longs, facts: _Facts
    ) -> tuple[pa.Table, list[int]]:
        """The rows of calls in that order, and how many each host has."""
        at = {name: values[order] for name, values in calls.items()}
        thread, call, slot, n = at["thread"], at["call"], at["slot"], len(order)
        counter = self._spans[thread] + _rank(thread) + 1
        np.maximum.at(self._spans, thread, counter)
        span = ((self._serial(thread)) << 40) | counter
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        has_parent = at["parent"] >= 0
        above = place[np.maximum(at["parent"], 0)]
        proc, above_proc = facts.procs[thread], facts.procs[thread[above]]
        moves = at["bytes"] > 0
        total = np.cumsum(at["bytes"])
        offset = total - at["bytes"]
        failed = at["failed"] > 0
        columns = self._shared(thread, call, slot, at["start"], facts) | {
            "dur": at["dur"],
            "bytes": at["bytes"],
            "offset": pa.array(offset & ((1 << 34) - 1), mask=~moves),
            "span": span,
            "parent": pa.array(span[above], mask=~has_parent),
            "parent_proc": pa.array(above_proc, mask=~has_parent | (above_proc == proc)),
            "trace": facts.procs[slot],
            "target": self._targets(at, facts),
            "block": pa.array(_block(at, facts), mask=~np.isin(call, _WITH_BLOCK)),
            "peer": coded(np.where(np.isin(call, _WITH_PEER), 0, 1), ["10.0.0.1", None]),
            "kind": coded(np.zeros(n, np.int64), ["call"]),
            "flags": (FLAGS[call] | np.where(failed, 2, 0)).astype(np.int32),
            "error": coded(np.where(failed, 0, 1), ["java.io.IOException", None]),
        }
        sizes = np.bincount(self._host[thread], minlength=self._cluster.hosts)
        return _filled(columns, COLUMNS, n), [int(size) for size in sizes]

    def _sum_table(self, sums: Sums, facts: _Facts) -> tuple[pa.Table, list[int]]:
        order = np.argsort(self._host[sums.thread], kind="stable")
        at = {name: getattr(sums, name)[order] for name in Sums.__annotations__}
        n = len(order)
        sampled = at["weight"] != at["timed"]
        same = ("bytes", "count", "errors", "timed", "timed_dur", "min", "max")
        columns = self._shared(at["thread"], at["call"], at["slot"], at["start"], facts)
        columns |= {name: at[name] for name in same} | {
            "dur": at["dur"],
            "weight": pa.array(at["weight"], mask=~sampled),
            "spread": pa.array(at["timed_dur"] * 900.0, mask=~sampled),
            "size_class": at["size_class"].astype(np.int32),
            "kind": coded(np.zeros(n, np.int64), ["sum"]),
            "flags": FLAGS[at["call"]],
        }
        sizes = np.bincount(self._host[at["thread"]], minlength=self._cluster.hosts)
        return _filled(columns, COLUMNS, n), [int(size) for size in sizes]

    def _shared(
        self, thread: Longs, call: Longs, slot: Longs, start: Longs, facts: _Facts
    ) -> dict[str, Any]:
        """Columns that calls and sums have alike."""
        n = len(thread)
        client = self._role[thread] == 0
        role = np.where(client, facts.kind[slot], 1 + self._role[thread])
        point = np.where(
            call < RUN_CALL,
            POINT[call],
            np.where(
                call == RUN_CALL, _BY_KIND[0][facts.kind[slot]], _BY_KIND[1][facts.kind[slot]]
            ),
        )
        late = start - facts.begin > 4 * 10**8
        phase = np.where(client, facts.kind[slot] * 2 + late, 4)
        names = [f"thread {n}" for n in range(self._cluster.threads)]
        constant = np.zeros(n, np.int64)
        return {
            "run": coded(constant, [self._name]),
            "host": coded(self._host[thread], self._hosts),
            "proc": facts.procs[thread],
            "role": coded(role, ["map", "reduce", REPLICA, NODEMANAGER, NAMENODE]),
            "pid": (1000 + facts.procs[thread] % 30_000).astype(np.int32),
            "tid": thread + 1,
            "thread": coded(thread, names),
            "start": start,
            "layer": coded(call, [name[0] for name in NAMED]),
            "op": coded(call, [name[1] for name in NAMED]),
            "point": point.astype(np.int32),
            "category": coded(call, [name[2] for name in NAMED]),
            "owner": coded(constant, ["made"]),
            "job": coded(constant, [facts.job]),
            "task": coded(slot, facts.attempts),
            "phase": coded(phase, ["map", "sort", "shuffle", "reduce", None]),
        }

    def _serial(self, thread: Longs) -> Longs:
        slots = self._cluster.slots
        return np.where(thread < slots, 1, 1 + thread % slots)

    def _targets(self, at: dict[str, Longs], facts: _Facts) -> pa.Array:
        """Names of files, blocks and peers; only those of the part are in its dictionary."""
        kind = _TARGET[at["call"]]
        which = np.where(np.isin(kind, (0, 1)), at["file"], 0)
        which = np.where(np.isin(kind, (2, 3)), at["file"] * BLOCKS + at["block"], which)
        which = np.where(kind == 4, at["slot"], which)
        codes, places = np.unique(kind * (1 << 20) + which, return_inverse=True)
        names = [_name(int(code >> 20), int(code) & ((1 << 20) - 1), facts) for code in codes]
        return coded(places, names)

    def _process(self, thread: int, proc: int, calls: int, detail: int) -> dict[str, Any]:
        none = dict.fromkeys(("dropped", "folded", "lost", "refused", "over"), 0)
        cost = {"cpu": calls * 3_000, "cost_hooks": calls * 20, "cost_thread": calls}
        return none | cost | {
            "run": self._name,
            "host": self._hosts[self._host[thread]],
            "proc": proc,
            "pid": 1000 + proc % 30_000,
            "uid": 1000,
            "agent": "0.1.0",
            "jvm": "17.0.15",
            "traced": True,
            "reason": "",
            "points_woven": 100,
            "points_faulted": "",
            "summed": "",
            "calls": calls,
            "detail": detail,
            "cost_collector": calls * 10,
        }  # fmt: skip

    def close(self, begin: int, end: int) -> tuple[int, int]:
        """Writes processes and samples of hosts; rows and bytes of the events."""
        size = sum(path.stat().st_size for path in self._run.glob("events/*/*.parquet"))
        first = {int(server): thread for thread, server in reversed(list(enumerate(self._server)))}
        for server, thread in first.items():
            if self._role[thread]:
                role = (REPLICA, NODEMANAGER, NAMENODE)[int(self._role[thread]) - 1]
                calls = int(self._server_calls[server])
                found = self._process(thread, (1 << 41) + server, calls, calls)
                self._processes.append(
                    found | {"role": role, "start": begin, "end": None, "exit": "running"}
                )
        for number, host in enumerate(self._hosts):
            rows = [row for row in self._processes if row["host"] == host]
            place = self._run / f"processes/host={host}.parquet"
            _write_rows(place, rows, PROCESS_COLUMNS)
            place = self._run / f"system/host={host}/part-000001.parquet"
            _write_rows(place, list(_samples(host, number, begin, end)), SYSTEM_COLUMNS)
        return self._rows, size

    def _write(self, table: str, host: int, rows: pa.Table, columns: dict[str, str]) -> None:
        folder = self._run / table / f"host={self._hosts[host]}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(
            rows,
            folder / f"part-{self._part:06d}.parquet",
            compression="zstd",
            compression_level=1,
            use_dictionary=[name for name in columns if name not in _ENCODINGS],
            column_encoding=_ENCODINGS,
            write_statistics=["start"],
            store_schema=False,
        )


@dataclass(frozen=True)
class _Facts:
    """Of a slice: processes by thread, kinds of attempts (0 map, 1 reduce) by slot, names."""

    procs: Longs
    kind: Longs
    job: str
    attempts: list[str]
    begin: int


def _calls(made: Slice, slots: int, begin: int) -> dict[str, Longs]:
    """The arrays of a slice, with the task calls at their end, whose parent is -1."""
    n, each = len(made.call), np.arange(slots)
    none = np.zeros(slots, np.int64)
    tasks = {
        "call": none + RUN_CALL,
        "slot": each,
        "thread": each,
        "start": none + begin,
        "dur": made.ends - begin,
        "parent": none - 1,
    }
    names = ("call", "slot", "thread", "start", "dur", "bytes", "failed", "file", "block")
    found = {name: np.concatenate([getattr(made, name), tasks.get(name, none)]) for name in names}
    parent = np.where(made.parent < 0, n + made.slot, made.parent)
    return found | {"parent": np.concatenate([parent, tasks["parent"]])}


def _rank(thread: Longs) -> Longs:
    """Of each row, how many of its thread come before it; threads are together."""
    n = len(thread)
    begins = np.flatnonzero(np.diff(thread, prepend=-1))
    sizes = np.diff(np.append(begins, n))
    return np.arange(n) - np.repeat(begins, sizes)


def _where(test: Callable[[Call], bool]) -> Longs:
    return np.array([place for place, call in enumerate(CALLS) if test(call)])


_WITH_BLOCK = _where(lambda call: call.where == REPLICA)
_WITH_PEER = _where(lambda call: call.target == "address")
_BY_KIND = [np.array([named[kind] for kind in ("map", "reduce")]) for named in (TASK, RECORDS)]
_KINDS = ("input", "output", "block", "checksum", "spill", "address", "pool", "")
_TARGET = np.array([*(_KINDS.index(call.target) for call in CALLS), 7, 7])


def _name(kind: int, which: int, facts: _Facts) -> str | None:
    file, block = divmod(which, BLOCKS)
    stored = f"/data/current/BP-1-10.0.0.1-1790000000000/current/finalized/subdir{file}/blk_"
    number = 1_073_741_824 + FILES * BLOCKS * int(facts.job[-4:]) + file * BLOCKS + block
    return (
        f"/user/made/{facts.job}/input/part-m-{which:05d}",
        f"/user/made/{facts.job}/output/_temporary/part-r-{which:05d}",
        f"{stored}{number}",
        f"{stored}{number}_1001.meta",
        f"/tmp/nm-local-dir/{facts.attempts[which % len(facts.attempts)]}/spill0.out",
        "10.0.0.1:9866",
        "BP-1-10.0.0.1-1790000000000",
        None,
    )[kind]


def _block(at: dict[str, Longs], facts: _Facts) -> Longs:
    base = 1_073_741_824 + FILES * BLOCKS * int(facts.job[-4:])
    return base + at["file"] * BLOCKS + at["block"]


def _filled(columns: dict[str, Any], types: dict[str, str], n: int) -> pa.Table:
    """All columns in their order; those that are not given are null."""
    arrays = [
        columns[name] if name in columns else pa.nulls(n, _TYPES[kind])
        for name, kind in types.items()
    ]
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in types.items()])
    return pa.Table.from_arrays([pa.array(array) for array in arrays], schema=schema)


def _samples(host: str, number: int, begin: int, end: int) -> Iterator[dict[str, Any]]:
    random = np.random.default_rng(number)
    seconds = (end - begin) // SECOND + 1
    busy = draw(random, Mixture(5 * 10**9, spread=0.3), seconds)
    moved = draw(random, Mixture(80 << 20, spread=0.6), seconds)
    for second in range(seconds):
        user = int(min(busy[second], 12 * 10**9))
        yield {
            "host": host, "time": begin + second * SECOND, "interval": SECOND, "cores": 16,
            "cpu_user": user, "cpu_system": user // 8, "cpu_iowait": user // 10,
            "cpu_idle": 16 * SECOND - user - user // 8 - user // 10,
            "mem_used": 24 << 30, "mem_total": 64 << 30,
            "disk_read": int(moved[second]), "disk_written": int(moved[second]) * 2,
            "disk_busy": SECOND // 2, "net_received": int(moved[second]),
            "net_sent": int(moved[second]), "net_loopback": 0,
            "space_used": 500 << 30, "space_total": 4 << 40,
        }  # fmt: skip


def _write_rows(path: Path, rows: list[dict[str, Any]], columns: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = _PLAIN
    schema = pa.schema([(name, plain[kind]) for name, kind in columns.items()])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, store_schema=False)
