"""Programs that ask the NameNode far more often than they read or write."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, plural, seconds

LEAST = 500  # questions
ASKING = ("stat", "list", "locate")


@rule(
    title="The NameNode is asked too many questions",
    evidence=work(*(f"hdfs.{op}" for op in (*ASKING, "open", "create"))),
    why="Each question is a round trip to the NameNode, which all clients share.",
    unless="the purpose of the program is to list files.",
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    questions = {op: one(rows, f"hdfs.{op}") for op in ASKING}
    calls = sum(row.calls for row in questions.values())
    used = one(rows, "hdfs.open").calls + one(rows, "hdfs.create").calls
    if calls < LEAST or calls < 4 * used:
        return None
    time = sum(row.time for row in questions.values())
    return Judgement(
        share=facts.share(time),
        text=f"programs asked {count(calls)} questions about files, and opened or created "
        f"{plural(used, 'file')}; the questions took {seconds(time)}",
        evidence=[
            *(Evidence(f"calls of {op}", row.calls, "count") for op, row in questions.items()),
            Evidence("files that were opened or created", used, "count"),
            Evidence("time of the questions", time, "ns"),
        ],
        change=[
            Change("list a directory once instead of asking for each file"),
            Change("remember what does not change; open a file, and handle its absence then"),
        ],
        gain=(0.6, 1.0),
    )
