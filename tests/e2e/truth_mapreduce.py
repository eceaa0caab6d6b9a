"""The rules that tie a run to the counters of MapReduce, per attempt; docs/truth.md explains them.

Pure functions like those of truth.py: rows and job history in, sentences out, one for each number
that does not add up. Every rule is exact for a successful attempt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.e2e.truth import CLIENT_READ, CLIENT_WRITE, Run

from iostrata.schema.events import FLAG
from iostrata_lab.clusters.hadoop.history import FILE_SYSTEM, Counters, HistoryAttempt, JobHistory

TASK = "org.apache.hadoop.mapreduce.TaskCounter"
SUCCEEDED = "SUCCEEDED"

Numbers = dict[str, int]  # by attempt


@dataclass(frozen=True)
class Rule:
    """A counter, and the rows of the trace that say the same: their calls or their bytes."""

    counter: str
    group: str
    role: str  # of the tasks that have it
    unit: str  # calls or bytes
    where: str

    def traced(self, run: Run) -> Numbers:
        """From sums; a call that failed is none."""
        value = "count - coalesce(errors, 0)" if self.unit == "calls" else "bytes"
        query = (
            f"SELECT task, sum({value})::BIGINT FROM events WHERE kind = 'sum' "
            f"AND role IN ({self.role}) AND {self.where} GROUP BY task"
        )
        return dict(run.rows(query))


MAP, REDUCE, BOTH = "'map'", "'reduce'", "'map', 'reduce'"
READ = "layer = 'record' AND op = 'read'"
# A combiner reads with the reduce's own reader, within its own call.
COMBINER = f"(flags & {FLAG['inner']}) != 0"
# Not also counted by an enclosing call of the same operation.
OUTERMOST = f"(flags & {FLAG['double_counted']}) = 0"
# Below the spill of a record that is larger than the sort buffer. Its map outputs must not be
# compressed: Hadoop adds what the file grew by.
LARGE = (
    "(proc, anchor) IN (SELECT proc, span FROM events WHERE layer = 'task' "
    "AND op = 'spill_record' AND kind IN ('call', 'unfinished'))"
)

RULES = (
    Rule("MAP_INPUT_RECORDS", TASK, MAP, "calls", f"{READ} AND NOT {COMBINER}"),
    Rule(
        "MAP_OUTPUT_RECORDS", TASK, MAP, "calls", "layer = 'record' AND op IN ('collect', 'write')"
    ),
    Rule(
        "MAP_OUTPUT_BYTES",
        TASK,
        MAP,
        "bytes",
        f"layer = 'record' AND (op = 'collect' OR op = 'append' AND {LARGE})",
    ),
    Rule("COMBINE_INPUT_RECORDS", TASK, BOTH, "calls", f"{READ} AND {COMBINER}"),
    Rule("COMBINE_OUTPUT_RECORDS", TASK, BOTH, "calls", "layer = 'record' AND op = 'combined'"),
    # A map spills what it writes; a reduce counts what it reads back.
    Rule("SPILLED_RECORDS", TASK, MAP, "calls", "layer = 'record' AND op = 'append'"),
    Rule("SPILLED_RECORDS", TASK, REDUCE, "calls", "layer = 'record' AND op = 'read_back'"),
    Rule("REDUCE_INPUT_RECORDS", TASK, REDUCE, "calls", f"{READ} AND NOT {COMBINER}"),
    Rule("REDUCE_OUTPUT_RECORDS", TASK, REDUCE, "calls", "layer = 'record' AND op = 'write'"),
    Rule("FILE_BYTES_READ", FILE_SYSTEM, BOTH, "bytes", "layer = 'fs' AND op = 'read'"),
    Rule("FILE_BYTES_WRITTEN", FILE_SYSTEM, BOTH, "bytes", "layer = 'fs' AND op = 'raw_write'"),
    Rule("HDFS_BYTES_READ", FILE_SYSTEM, BOTH, "bytes", f"{CLIENT_READ} AND {OUTERMOST}"),
    Rule("HDFS_BYTES_WRITTEN", FILE_SYSTEM, BOTH, "bytes", f"{CLIENT_WRITE} AND {OUTERMOST}"),
)


def shuffled(run: Run) -> Numbers:
    """REDUCE_SHUFFLE_BYTES: parts as they came, of the first copy of each map that was accepted."""
    query = (
        "SELECT task, sum(bytes)::BIGINT FROM (SELECT task, bytes, row_number() OVER (PARTITION BY "
        # attempt_1_0001_m_000003_0: the task is all but the number of the attempt
        "task, regexp_replace(target, '_\\d+$', '') ORDER BY start) copy FROM events "
        "WHERE kind = 'call' AND layer = 'task' AND op = 'accept' AND error IS NULL) "
        "WHERE copy = 1 GROUP BY task"
    )
    return dict(run.rows(query))


def segments(run: Run) -> Iterator[str]:
    """The parts of spills and merged files hold what was appended to them, and two bytes that say
    where each ends.
    """
    found = run.rows(
        "SELECT task, coalesce(sum(bytes) FILTER (op = 'append'), 0)::BIGINT, "
        "coalesce(sum(bytes - 2 * count) FILTER (op = 'segment'), 0)::BIGINT "
        "FROM events WHERE kind = 'sum' AND op IN ('append', 'segment') GROUP BY task"
    )
    for task, appended, closed in found:
        if appended != closed:
            yield f"{task}: {appended} bytes of records, of which parts have {closed}"
    if not found:
        yield "no part was written"


def spilled(run: Run) -> Iterator[str]:
    """Each byte of a spill counts once, at a stream or as it leaves the buffer of the file system.

    Also where a codec lies before that one; the files' own bytes are FILE_BYTES_WRITTEN's.
    """
    found = run.rows(
        f"SELECT task, sum(bytes) FILTER (op IN ('write', 'raw_write') AND {OUTERMOST})::BIGINT, "
        "sum(bytes) FILTER (op = 'raw_write')::BIGINT FROM events WHERE kind = 'sum' "
        "AND layer = 'fs' AND category = 'spill' GROUP BY task"
    )
    for task, streams, files in found:
        if streams != files:
            yield f"{task}: spills got {files} bytes, their streams {streams}"
    if not found:
        yield "no spill was written"


def role(attempt: HistoryAttempt) -> str:
    return f"'{attempt.type.lower()}'"


def counted(counters: Counters, group: str, name: str) -> int:
    """What Hadoop counted; a counter that nobody touched is not in the history."""
    return counters.get(group, {}).get(name, 0)


def table(run: Run) -> list[tuple[str, str, str, Numbers]]:
    """Counter, group, roles and what was traced, for all rules."""
    found = [(rule.counter, rule.group, rule.role, rule.traced(run)) for rule in RULES]
    return [*found, ("REDUCE_SHUFFLE_BYTES", TASK, REDUCE, shuffled(run))]


def problems(run: Run, history: JobHistory) -> Iterator[str]:
    """Exact for attempts that succeeded; others traced at least what history saw last of them.

    The job's totals hold the successful attempts only.
    """
    totals: dict[tuple[str, str], int] = {}
    for counter, group, roles, traced in table(run):
        total = totals.setdefault((group, counter), 0)
        for attempt in history.attempts:
            if role(attempt) not in roles:
                continue
            expected = counted(attempt.counters, group, counter)
            got = traced.get(attempt.name, 0)
            if attempt.state == SUCCEEDED:
                total += got
                if got != expected:
                    yield f"{attempt.name}: {counter}: traced {got}, expected {expected}"
            elif got < expected:
                yield f"{attempt.name}: {counter}: traced {got}, at least {expected} expected"
        totals[group, counter] = total
    if history.state == SUCCEEDED:
        for (group, counter), total in totals.items():
            expected = counted(history.counters, group, counter)
            if total != expected:
                yield f"{history.id}: {counter}: traced {total}, expected {expected}"
