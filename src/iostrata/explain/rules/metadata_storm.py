"""Programs that ask about files far more often than they read or write them."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import outer
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import OperationSum, account, by_workers, one
from iostrata.text import count, plural, seconds, size

LEAST = 500  # questions
ASKING = ("stat", "list", "locate")
MOVING = ("read", "read_vectored", "receive_packet", "write", "map")
LAYERS = ("hdfs", "posix")
# Bytes of a file: a NameNode keeps hardly fewer for its name and its block.
HARDLY_ANY = 1 << 10


_ONCE = Change("list a directory once instead of asking for each file")
_REMEMBER = Change("remember what does not change; open a file, and handle its absence then")
_TO_READ = Change("open a file only to read it, and keep it open where it is needed again")


def evidence(workforce: Workforce) -> ir.Table:
    """To open or to read a file of HDFS locates its blocks: that is no question of its own."""
    operations = (*ASKING, "open", "create", *MOVING)
    rows = by_workers(*(f"{layer}.{op}" for layer in LAYERS for op in operations))(workforce)
    rows = rows.filter((rows["op"] != "locate") | outer(rows))
    return account(rows, "layer", "op").order_by("layer", "op")


def _moved(rows: list[OperationSum], layer: str) -> int:
    """Bytes of files that were opened; what is written to a file of HDFS was created."""
    of = [one(rows, f"{layer}.{op}") for op in MOVING]
    if layer == "hdfs":
        return max(sum(row.read for row in of), sum(row.received for row in of))
    return sum(row.bytes for row in of)


def _asked(rows: list[OperationSum], layer: str) -> dict[str, OperationSum]:
    """Questions of a layer; to open many files of which hardly a byte is moved is one, too."""
    opens = one(rows, f"{layer}.open").calls
    in_vain = opens >= LEAST and _moved(rows, layer) < HARDLY_ANY * opens
    names = (*ASKING, "open") if in_vain else ASKING
    asked = {op: one(rows, f"{layer}.{op}") for op in names}
    return {op: row for op, row in asked.items() if row.calls}


@rule(
    title="Too many questions are asked about files",
    evidence=Query(evidence, OperationSum),
    why="In HDFS each question is a round trip to the NameNode, and on other distributed file "
    "systems one to a server of metadata. To open a file is a question, too. All clients share it.",
    unless="the purpose of the program is to list files.",
    of_imports=True,
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    of_layers = {layer: _asked(rows, layer) for layer in LAYERS}
    layer = max(LAYERS, key=lambda name: sum(row.time for row in of_layers[name].values()))
    asked = of_layers[layer]
    calls = sum(row.calls for row in asked.values())
    opens = one(rows, f"{layer}.open").calls
    used = one(rows, f"{layer}.create").calls + (0 if "open" in asked else opens)
    if calls < LEAST or calls < 4 * used:
        return None
    time = sum(row.time for row in asked.values())
    use = f"and opened or created {plural(used, 'file')}"
    if "open" in asked:
        mean = size(_moved(rows, layer) // opens)
        use = f"{count(opens)} of them to open files, of which they read or wrote {mean} on average"
    return Judgement(
        share=facts.share(time),
        text=f"programs asked {count(calls)} questions about files, {use}; the questions "
        f"took {seconds(time)}",
        evidence=[
            *(Evidence(f"calls of {op}", row.calls, "count") for op, row in asked.items()),
            Evidence("files that were opened or created, to use them", used, "count"),
            Evidence("time of the questions", time, "ns"),
        ],
        change=[_TO_READ, _packed(layer)] if "open" in asked else [_ONCE, _REMEMBER],
        gain=(0.6, 1.0),
    )


def _packed(layer: str) -> Change:
    by = " (a SequenceFile, a HAR)" if layer == "hdfs" else ""
    return Change(f"put the content of many small files into one{by}")
