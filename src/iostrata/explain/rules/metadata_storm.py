"""Programs that ask about files far more often than they read or write them."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, plural, seconds

LEAST = 500  # questions
ASKING = ("stat", "list", "locate")
LAYERS = ("hdfs", "posix")


@rule(
    title="Too many questions are asked about files",
    evidence=work(*(f"{name}.{op}" for name in LAYERS for op in (*ASKING, "open", "create"))),
    why="In HDFS each question is a round trip to the NameNode, and on other distributed file "
    "systems one to a server of metadata. All clients share it.",
    unless="the purpose of the program is to list files.",
    of_imports=True,
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    asked = {name: {op: one(rows, f"{name}.{op}") for op in ASKING} for name in LAYERS}
    layer = max(LAYERS, key=lambda name: sum(row.time for row in asked[name].values()))
    questions = {op: row for op, row in asked[layer].items() if row.calls}
    calls = sum(row.calls for row in questions.values())
    used = one(rows, f"{layer}.open").calls + one(rows, f"{layer}.create").calls
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
