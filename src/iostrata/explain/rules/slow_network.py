"""A node that sends slower than its peers."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.peers import beside_others
from iostrata.analyse.tables import SUMS, Row
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.explain.rules.parts import account
from iostrata.text import seconds, size

TIMES = 3.0
LEAST = 4 << 20  # bytes that a host sent


def evidence(scope: Scope) -> ir.Table:
    rows = SUMS.filter(SUMS.layer == "java", SUMS["op"] == "send", SUMS.category == "socket")
    rows = account(rows.mutate(host=rows.host.fill_null("")), "op", "host")
    rows = rows.filter(rows.sent >= LEAST)
    rows = rows.select("op", "host", "calls", "sent", "time", rate=rows.time / rows.sent)
    return beside_others(rows, "rate", among="op", who="host").order_by("host")


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    beside = [row for row in rows if row["others"]]  # there are others, and they were timed
    slow = [row for row in beside if row["rate"] > TIMES * row["others"]]
    worst = max(slow, key=_cost, default=None)
    if worst is None:
        return None
    cost, host = _cost(worst), worst["host"]
    speed = f"{size(int(1e9 / worst['rate']))}/s"
    usual = f"{size(int(1e9 / worst['others']))}/s"
    return Seen(
        share=facts.share(cost),
        text=f"{host} sent {size(worst['sent'])} at {speed} while a thread sent; other "
        f"hosts at {usual}: {seconds(int(cost))} longer",
        evidence=[
            Evidence("host", host, "text"),
            Evidence("bytes it sent", worst["sent"], "bytes"),
            Evidence("time its threads were in send", worst["time"], "ns"),
            Evidence("bytes a second", speed, "text"),
            Evidence("of other hosts", usual, "text"),
        ],
        change=[
            Change("look at the link: speed, duplex, errors, who else sends (ethtool, ip -s link)"),
        ],
        gain=(0.3, 1.0),
    )


def _cost(row: Row) -> float:
    return float((row["rate"] - row["others"]) * row["sent"])


RULE = Rule(
    name="slow-network",
    title="A slow network link",
    evidence=evidence,
    judge=judge,
    why="What others read from this node, and pipelines through it, go at the speed of its link.",
    unless="its peers cannot receive faster: then theirs are the slow links.",
    explains=("straggler", "slow-node", "low-locality"),
)
