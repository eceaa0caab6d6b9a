"""What holds a run back: functions by self time, by total, or by the critical path."""

from __future__ import annotations

from dataclasses import dataclass

from iostrata.analyse.account import account
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.sample import Row
from iostrata.analyse.tables import SUMS
from iostrata.progress import Progress, silent
from iostrata.show.critical import WAITING, critical_document
from iostrata.show.trees import document
from iostrata.store.opened import OpenedRun
from iostrata.text import columns, count, plural, seconds

RANKS = ("critical", "self", "total")


@dataclass(frozen=True)
class Bottlenecks:
    """`functions`: layer, op, role, host, calls, total, self, self_waiting, critical,
    critical_waiting (ns, the waiting is part of the value before), the first holds most back.
    `wall`: of the critical path. `sampled`: times of calls are estimates from some requests.
    """

    by: str
    wall: int
    sampled: bool
    functions: list[Row]

    def as_dict(self) -> Row:
        """JSON values."""
        return {
            "by": self.by,
            "wall": self.wall,
            "sampled": self.sampled,
            "functions": self.functions,
        }


STEPS = ("call tree", "critical path")


def bottlenecks(opened: OpenedRun, by: str = "critical", step: Progress = silent) -> Bottlenecks:
    """Ranks the functions of a run; `by` of RANKS; says each of STEPS. Raises UserError."""
    trees = document(opened, progress=step)
    critical = critical_document(opened, trees, step)
    rows: dict[tuple[str, str, str, str], Row] = {}
    for one in trees["functions"]:
        row = _row(rows, one)
        scaled = one.get("sample", {})
        for name, of in (("calls", "calls"), ("total", "total"), ("self", "self")):
            row[name] = one[of] + round(scaled.get(of, {}).get("total", 0))
        if f"{one['layer']}.{one['op']}" in WAITING:
            row["self_waiting"] = max(0, row["self"] - one["elsewhere"])
    for one in _reading_pipes(opened):
        row = _row(rows, {"layer": "java", "op": "read", **one})
        row["self_waiting"] = min(row["self"], one["time"])
    for one in critical["by_function"]:
        row = _row(rows, one)
        row["critical"] += one["time"]
        row["critical_waiting"] += one["time"] if one["waiting"] else 0
    ranked = sorted(rows.values(), key=lambda row: (-row[by], row["layer"], row["op"], row["role"]))
    return Bottlenecks(by, critical["wall"], trees["sampled"], ranked)


def _reading_pipes(opened: OpenedRun) -> list[Row]:
    """Role, host, time in ns: who reads a pipe waits for the process at its other end. Spark's
    drivers do so for as long as they live.
    """
    reads = SUMS.filter((SUMS.layer == "java") & (SUMS["op"] == "read") & (SUMS.category == "pipe"))
    whose = reads.mutate(role=reads.role.fill_null(""), host=reads.host.fill_null(""))
    return DuckDb(opened).rows(account(whose, "role", "host"))


def _row(rows: dict[tuple[str, str, str, str], Row], of: Row) -> Row:
    key = (of["layer"], of["op"], of["role"], of["host"])
    numbers = ("calls", "total", "self", "self_waiting", "critical", "critical_waiting")
    names = dict(zip(("layer", "op", "role", "host"), key, strict=True))
    return rows.setdefault(key, {**names, **dict.fromkeys(numbers, 0)})


def bottleneck_lines(found: Bottlenecks, most: int) -> list[str]:
    """The first functions; working and waiting are those of the measure that ranks."""
    if not found.functions:
        return ["no calls were recorded: iostrata summary says why"]
    measured = found.by if found.by != "total" else "self"
    whole = found.wall if found.by == "critical" else sum(row[found.by] for row in found.functions)
    cells = []
    for row in found.functions[:most]:
        if row[found.by] == 0:
            break
        waiting = row[f"{measured}_waiting"]
        share = row[found.by] / whole if whole else 0.0
        cells.append(
            [
                f"{row['layer']}.{row['op']}",
                row["role"],
                row["host"],
                f"{share:.1%}".replace("%", " %"),
                seconds(row[measured] - waiting),
                seconds(waiting),
                count(row["calls"]),
                *(seconds(row[name]) for name in RANKS),
            ]
        )
    names = ["function", "role", "host", f"of {found.by}", "working", "waiting", "calls"]
    lines = columns([*names, "critical path", "self", "total"], cells, range(3, 10))
    left = sum(1 for row in found.functions if row[found.by] > 0) - len(cells)
    more = [f"({plural(left, 'function')} more)"] if left else []
    return [_headline(found), "", *lines, *more]


def _headline(found: Bottlenecks) -> str:
    path = [row for row in found.functions if row["critical"]]
    waiting = sum(row["critical_waiting"] for row in path)
    share = f"{waiting / found.wall:.0%}".replace("%", " %") if found.wall else "0 %"
    of = f"critical path: {seconds(found.wall)}, {share} of it waiting for a peer"
    return f"{of}; times of calls are estimates" if found.sampled else of
