"""A node that sends slower than its peers."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, Row
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.explain.rules.parts import account, beside_others
from iostrata.text import seconds, size

TIMES = 3.0
LEAST = 4 << 20  # bytes that a host sent


def evidence(scope: Scope) -> ir.Table:
    rows = SUMS.filter(SUMS.layer == "java", SUMS["op"] == "send", SUMS.category == "socket")
    rows = account(rows, "host")
    return rows.select("host", "calls", "sent", "time").order_by("host")


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    enough = {row["host"]: row for row in rows if row["sent"] >= LEAST}
    rates = {host: row["time"] / row["sent"] for host, row in enough.items()}
    slow = [
        ((rate - others) * enough[host]["sent"], host, others)
        for host, (rate, others) in beside_others(rates).items()
        if rate > TIMES * others
    ]
    if not slow:
        return None
    cost, host, others = max(slow)
    speed = f"{size(int(1e9 / rates[host]))}/s"
    usual = f"{size(int(1e9 / others))}/s"
    return Seen(
        share=facts.share(cost),
        text=f"{host} sent {size(enough[host]['sent'])} at {speed} while a thread sent; other "
        f"hosts at {usual}: {seconds(int(cost))} longer",
        evidence=[
            Evidence("host", host, "text"),
            Evidence("bytes it sent", enough[host]["sent"], "bytes"),
            Evidence("time its threads were in send", enough[host]["time"], "ns"),
            Evidence("bytes a second", speed, "text"),
            Evidence("of other hosts", usual, "text"),
        ],
        change=[
            Change("look at the link: speed, duplex, errors, who else sends (ethtool, ip -s link)"),
        ],
        gain=(0.3, 1.0),
    )


RULE = Rule(
    name="slow-network",
    title="A slow network link",
    evidence=evidence,
    judge=judge,
    why="What others read from this node, and pipelines through it, go at the speed of its link.",
    unless="its peers cannot receive faster: then theirs are the slow links.",
    explains=("straggler", "slow-node", "low-locality"),
)
