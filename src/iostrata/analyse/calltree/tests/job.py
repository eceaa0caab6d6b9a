"""Rows of a job whose calls go through four processes on three hosts with clocks of their own."""

from __future__ import annotations

import random

from iostrata.store.tests.made import Row, row_of_call, row_of_sum

# Role and host by process; the clock of a host is so many ns ahead.
PROCESSES = {1: ("map", "a"), 2: ("map", "b"), 3: ("DataNode", "b"), 4: ("NameNode", "c")}
AHEAD = {"a": 0, "b": 70_000, "c": -3_000}


class Job:
    """Rows of a job: each request of its two tasks goes through an RPC and a pipeline of calls."""

    def __init__(self, seed: int, requests: int) -> None:
        self.random = random.Random(seed)
        self.rows: list[Row] = []
        for number in range(requests):
            self.request(1 + number % 2, number * 1000)

    def call(self, proc: int, name: str, start: int, dur: int, above: Row | None = None) -> Row:
        role, host = PROCESSES[proc]
        layer, op = name.split(".")
        row = row_of_call(
            layer,
            op,
            "t",
            proc=proc,
            tid=1,
            role=role,
            host=host,
            dur=dur,
            span=len(self.rows) + 1,
            start=start + AHEAD[host],
            bytes=self.random.randrange(9),
            error="java.io.IOException" if self.random.random() < 0.1 else None,
            parent=above["span"] if above else None,
            parent_proc=above["proc"] if above and above["proc"] != proc else None,
            trace=above["trace"] if above else self.random.choice([proc, 1000 + len(self.rows)]),
        )
        self.rows.append(row)
        return row

    def request(self, task: int, start: int) -> None:
        write = self.call(task, "fs.write", start, 900)
        rpc = self.call(task, "rpc.call", start + 10, 300, write)
        handled = self.call(4, "rpc.handle", start + 20, 250, rpc)
        self.call(4, "rpc.serve", start + 30, 200, handled)
        for _ in range(self.random.randrange(3)):
            block = self.call(3, "datanode.receive_block", start + 400, 100, write)
            self.call(3, "java.write", start + 410, self.random.randrange(50), block)

    def sums(self) -> list[Row]:
        """Of calls: all that were recorded individually and some more; most below scopes."""
        rows = []
        for row in self.rows:
            anchor = self.random.choice([0, row["span"], row["parent"] or 0])
            whose = {key: row[key] for key in ("proc", "tid", "role", "host")}
            more = {"count": self.random.randrange(1, 4), "bytes": 20, "anchor": anchor}
            rows.append(row_of_sum(row["layer"], row["op"], **whose, **more))
        return rows
