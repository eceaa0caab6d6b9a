"""Map output that is written and shuffled without compression."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import OperationSum, account, named, one
from iostrata.text import seconds, size

LEAST = 32 << 20  # bytes
RATIO = 1.3  # of compressed output


class RoleSum(OperationSum, frozen=True):
    """What processes of a role did in an operation."""

    role: str | None


def evidence(workforce: Workforce) -> ir.Table:
    names = ("fs.raw_write", "task.copy", "task.merge", "task.spill")
    return account(workforce.rows(named(*names)), "layer", "op", "role").order_by("layer", "op")


@rule(
    title="Map output is not compressed",
    evidence=Query(evidence, RoleSum),
    why="Intermediate data is written, sent, merged and read once each. A fast codec halves it and "
    "costs little CPU time.",
    unless="the records are compressed already, or the CPU is the limit.",
)
def judge(rows: list[RoleSum], facts: RunFacts) -> Judgement | None:
    maps = [row for row in rows if row.role == "map"]
    reduces = [row for row in rows if row.role == "reduce"]
    copied = one(reduces, "task.copy")
    records = one(maps, "task.spill").bytes + one(maps, "task.merge").bytes
    kept = one(maps, "fs.raw_write").bytes
    if copied.bytes < LEAST or records > RATIO * kept:
        return None
    files = one(maps, "fs.raw_write").time + one(reduces, "fs.raw_write").time
    cost = copied.time + files
    return Judgement(
        share=facts.share(cost / 2),
        text=f"{size(copied.bytes)} of map output were shuffled without compression; writing and "
        f"copying them took {seconds(cost)}",
        evidence=[
            Evidence("bytes that were shuffled", copied.bytes, "bytes"),
            Evidence("bytes of the records", records, "bytes"),
            Evidence("bytes that were written for them", kept, "bytes"),
            Evidence("time to write and to copy", cost, "ns"),
        ],
        change=[
            Change("compress map output", "mapreduce.map.output.compress", "false", "true"),
            Change(
                "use a fast codec",
                "mapreduce.map.output.compress.codec",
                "",
                "org.apache.hadoop.io.compress.SnappyCodec",
            ),
        ],
        gain=(0.0, 1.0),
    )
