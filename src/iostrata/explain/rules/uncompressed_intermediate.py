"""Map output that is written and shuffled without compression."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import OperationSum, account, by_job, named, one
from iostrata.replay.alternative import only_of
from iostrata.replay.codecs import COMPRESS, codec
from iostrata.text import seconds, size

LEAST = 32 << 20  # bytes
RATIO = 1.3  # of compressed output


class RoleSum(OperationSum, frozen=True):
    """What processes of a job and role did in an operation."""

    job: str | None
    role: str | None


def evidence(workforce: Workforce) -> ir.Table:
    names = ("fs.raw_write", "task.copy", "task.merge", "task.spill")
    rows = account(workforce.rows(named(*names)), "job", "role", "layer", "op")
    return rows.order_by("job", "role", "layer", "op")


@rule(
    title="Map output is not compressed",
    evidence=Query(evidence, RoleSum),
    why="Intermediate data is written, sent, merged and read once each. A fast codec halves it and "
    "costs little CPU time.",
    unless="the records are compressed already, or the CPU is the limit.",
)
def judge(rows: list[RoleSum], facts: RunFacts) -> Judgement | None:
    plain = {
        name: each
        for name, job in by_job(rows).items()
        # with a codec, records that stay as large as they were cannot be compressed
        if facts.configuration(COMPRESS, name) != "true" and (each := _uncompressed(job))
    }
    if not plain:
        return None
    copied, records, kept, cost = map(sum, zip(*plain.values(), strict=True))
    return Judgement(
        share=facts.share(cost / 2),
        text=f"{size(copied)} of map output were shuffled without compression; writing and "
        f"copying them took {seconds(cost)}",
        evidence=[
            Evidence("bytes that were shuffled", copied, "bytes"),
            Evidence("bytes of the records", records, "bytes"),
            Evidence("bytes that were written for them", kept, "bytes"),
            Evidence("time to write and to copy", cost, "ns"),
        ],
        change=[
            Change("compress map output", COMPRESS, after="true"),
            Change(
                "use a fast codec",
                "mapreduce.map.output.compress.codec",
                after="org.apache.hadoop.io.compress.SnappyCodec",
            ),
        ],
        gain=(0.0, 1.0),
        jobs=tuple(plain),
        tries=(only_of(plain, codec("snappy")),),
    )


def _uncompressed(job: list[RoleSum]) -> tuple[int, int, int, int] | None:
    """Bytes of a job that were shuffled, of its records, that were written for them; the time."""
    maps = [row for row in job if row.role == "map"]
    reduces = [row for row in job if row.role == "reduce"]
    copied = one(reduces, "task.copy")
    records = one(maps, "task.spill").bytes + one(maps, "task.merge").bytes
    kept = one(maps, "fs.raw_write").bytes
    if copied.bytes < LEAST or records > RATIO * kept:
        return None
    files = one(maps, "fs.raw_write").time + one(reduces, "fs.raw_write").time
    return copied.bytes, records, kept, copied.time + files
