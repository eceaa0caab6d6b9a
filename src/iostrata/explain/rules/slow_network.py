"""A node whose links are slower than those between its peers."""

from __future__ import annotations

from iostrata.analyse.links import Link, links
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.text import seconds, size

TIMES = 3.0
LEAST = 4 << 20  # bytes over the links of a host, and over all others


@rule(
    title="A network link is slow",
    evidence=Query(lambda _: links(), Link),
    why="All that this host sends and receives goes at the speed of its link. Its own reduces "
    "wait, and so do all that fetch from it.",
    unless="the host is on another rack or site, and its links are meant to be slower.",
    explains=("straggler", "speculation", "slow-node", "low-locality", "uncompressed-intermediate"),
)
def judge(rows: list[Link], facts: RunFacts) -> Judgement | None:
    slow = []
    for host in {host or "" for row in rows for host in (row.sender, row.receiver)}:
        own = [row for row in rows if host in (row.sender, row.receiver)]
        rest = [row for row in rows if row not in own]
        moved, took = _sums(own)
        others_moved, others_took = _sums(rest)
        if min(moved, others_moved) >= LEAST:
            rate, usual = took / moved, others_took / others_moved
            if rate > TIMES * usual:
                slow.append(((rate - usual) * moved, host, moved, took, usual))
    if not slow:
        return None
    cost, host, moved, took, usual = max(slow)
    speed = f"{size(int(1e9 * moved / took))}/s"
    others = f"{size(int(1e9 / max(usual, 1e-9)))}/s"
    return Judgement(
        share=facts.share(cost),
        text=f"threads transferred {size(moved)} between {host} and other hosts at {speed}, and "
        f"between all others at {others}; the difference cost {seconds(int(cost))}",
        evidence=[
            Evidence("host", host, "text"),
            Evidence("bytes over its links", moved, "bytes"),
            Evidence("time that threads took for these bytes", took, "ns"),
            Evidence("speed of a thread over its links", speed, "text"),
            Evidence("speed of a thread over other links", others, "text"),
        ],
        change=[
            Change(
                "check the link: its speed, duplex mode and errors, and who else sends over it "
                "(ethtool, ip -s link)"
            ),
        ],
        gain=(0.3, 1.0),
    )


def _sums(rows: list[Link]) -> tuple[int, int]:
    """Bytes and ns of several links."""
    return sum(row.bytes for row in rows), sum(row.time for row in rows)
