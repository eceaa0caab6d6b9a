"""Work that the disks of its hosts limit: the run itself keeps them busy, and waits for them."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.targets import targets
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import FILES, HostDisks, host_disks, with_own
from iostrata.records import Bytes, Ns
from iostrata.replay.hardware import faster_disks
from iostrata.text import percent, shortened, size

LEAST = 0.1  # of the time, on a host
OWN = 0.5  # of the bytes of its disks
LAYER = "java"


class BoundDisks(HostDisks, frozen=True):
    """Of `own`, what was read and what was written; bytes of files that the run's processes mapped,
    and the local file from and to which their calls moved most, '' for none.
    """

    own_read: Bytes
    own_written: Bytes
    mapped: Bytes
    target: str
    of_target: Bytes

    @property
    def waited(self) -> Ns:
        """The time in which threads stood still; without it, that in which a disk was busy."""
        return self.busy if self.stalled is None else self.stalled

    @property
    def cost(self) -> float:
        """ns. The kernel does not say whose threads stood still: those of the run as much as the
        bytes are.
        """
        return self.waited * self.own / self.moved if self.moved else 0.0


def evidence(workforce: Workforce) -> ir.Table:
    found = with_own(
        host_disks(workforce),
        own_read=("disk_read",),
        own_written=("disk_written",),
        mapped=("mapped",),
    )
    files = targets()
    files = files.filter(files.layer == LAYER, files.category.isin(FILES))
    files = files.mutate(of_target=files.bytes_read + files.bytes_written)
    largest = files.order_by(ibis.desc("of_target"), "target", "block").limit(1)
    largest = largest.select("target", "of_target", of_layer="layer")
    found = found.mutate(at=ibis.literal(LAYER))
    found = found.left_join(largest, found.at == largest.of_layer).drop("at", "of_layer")
    return found.mutate(
        target=found.target.fill_null(""), of_target=found.of_target.fill_null(0)
    ).order_by("host")


@rule(
    title="The disks are the limit",
    evidence=Query(evidence, BoundDisks),
    why="The run itself keeps the disks busy, and its threads stand still until they are served: "
    "more tasks or faster CPUs would only wait longer.",
    unless="another finding names why it reads or writes so much, or why each request is slow.",
    most="warning",
    explains=("idle",),
)
def judge(rows: list[BoundDisks], facts: RunFacts) -> Judgement | None:
    bound = [row for row in rows if row.own >= OWN * row.moved and row.cost >= LEAST * row.time]
    if not bound:
        return None
    worst = max(bound, key=lambda row: row.cost / row.time)
    share = min(1.0, sum(row.cost for row in bound) / sum(row.time for row in rows))
    # who does not wait in calls writes behind; but pages of mapped files come without a call
    by_calls = all(row.mapped * 2 < row.own for row in bound)
    in_calls = facts.share(sum(row.calls for row in bound)) if by_calls else 1.0
    return Judgement(
        share=min(share * facts.coverage, in_calls),
        text=f"{_stalls(worst)}, and the run's processes read {size(worst.own_read)} from its "
        f"disks and wrote {size(worst.own_written)}, {size(_rate(worst))}/s{_on(worst)}",
        evidence=_evidence(worst),
        change=[
            Change("read and write less: each byte once, only what is needed, compressed"),
            Change(
                "give what is read again room in memory: a cgroup's limit counts its cache, too"
            ),
            Change("spread the files over more disks, or use faster ones"),
        ],
        gain=(0.0, 1.0),
        tries=(faster_disks("2x"),),
    )


def _stalls(row: BoundDisks) -> str:
    host = row.host or "the host"
    if row.stalled is None:
        return f"a disk of {host} was busy for {percent(row.busy / row.time)} of the run"
    return f"threads of {host} stood still for I/O in {percent(row.stalled / row.time)} of the time"


def _rate(row: BoundDisks) -> int:
    """Bytes per second from and to disks, of the run's processes."""
    return row.own * 10**9 // row.time


def _on(row: BoundDisks) -> str:
    """The local file that stands for at least half of it."""
    has_most = row.of_target * 2 > row.own_read + row.own_written
    return f"; most bytes of its calls were on {shortened(row.target, 48)}" if has_most else ""


def _evidence(row: BoundDisks) -> list[Evidence]:
    found = [
        Evidence("host", row.host or "", "text"),
        Evidence("time of the run", row.time, "ns"),
        Evidence("of it the busiest disk was busy", row.busy, "ns"),
        Evidence("bytes of all disks", row.moved, "bytes"),
        Evidence("read from disks by the run's traced processes", row.own_read, "bytes"),
        Evidence("written to disks by them", row.own_written, "bytes"),
        Evidence("bytes of files that they mapped", row.mapped, "bytes"),
        Evidence("time of their calls on local files", row.calls, "ns"),
    ]
    if row.stalled is not None:
        found.insert(2, Evidence("of it some thread was stalled for I/O", row.stalled, "ns"))
    if row.target:
        found.append(Evidence(f"bytes of calls on {row.target}", row.of_target, "bytes"))
    return found
