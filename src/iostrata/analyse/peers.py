"""Each DataNode beside the others: the time of its disks, and of the DataNodes that send to it."""

from __future__ import annotations

from typing import Annotated

import ibis
import msgspec
from ibis.expr import types as ir

from iostrata.analyse.servers import disks
from iostrata.analyse.tables import CALLS
from iostrata.records import Bytes, Count, Ns, Record

LEAST = 20  # calls; the mean of fewer says little

MeanNs = Annotated[float, msgspec.Meta(description="nanoseconds, on average")]


class PeerDisk(Record, frozen=True):
    """A step of a DataNode that waits for its disks; `others`: the median of the means of all other
    DataNodes, null where there is none.
    """

    op: str
    host: str | None
    proc: int | None
    calls: Count
    mean: MeanNs
    others: MeanNs | None


class PeerMirror(Record, frozen=True):
    """A DataNode to which `senders` passed packets on; `time`: of those; `others`: as in
    `PeerDisk`.
    """

    host: str | None
    proc: int | None
    senders: Count
    packets: Count
    bytes: Bytes
    time: Ns
    max: Ns
    mean: MeanNs
    others: MeanNs | None


def beside_others(rows: ir.Table, value: str, who: str, *among: str) -> ir.Table:
    """`rows` with `others`: the median of `value` over the rows of the same `among` and another
    `who`; null where there is none. No two rows have the same `among` and `who`.
    """
    key = [*among, who]
    others = rows.select(*among, its=who, value=value)
    pairs = rows.select(*key).join(others, [*among], how="inner")
    pairs = pairs.filter(pairs.its != pairs[who])
    whole = ibis.window(group_by=key)
    ordered = ibis.window(group_by=key, order_by=[pairs.value, pairs.its])
    pairs = pairs.mutate(
        place=ibis.row_number().over(ordered), last=pairs.its.count().over(whole) - 1
    )
    # the row in the middle, or the two of them
    middle = pairs.filter((2 * pairs.place - pairs.last).abs() <= 1)
    medians = middle.group_by(*key).agg(others=middle.value.mean())
    return rows.left_join(medians, key).select(*rows.columns, "others")


def slow_disks(least: int = LEAST) -> ir.Table:
    """Per step and DataNode that was timed at least so often in it a `PeerDisk`."""
    rows = disks()
    rows = rows.filter(rows.timed >= least)
    names = ("op", "host", "proc", "calls")
    rows = rows.select(*names, node=_node(rows), mean=rows.time / rows.timed)
    compared = beside_others(rows, "mean", "node", "op")
    return compared.drop("node").order_by("op", "host", "proc")


def slow_mirrors(least: int = LEAST) -> ir.Table:
    """Per DataNode to which others passed on at least so many packets a `PeerMirror`.

    A sender waits for the network and for the receiver, whose buffers are full while its disk is
    slow. Hadoop itself calls such receivers slow peers. The cause of the receiver's `write_block`
    says who sent to it. All of these calls are recorded individually.
    """
    sent = CALLS.filter(CALLS.layer == "hdfs", CALLS["op"] == "mirror_packet")
    sent = sent.select("block", "bytes", "dur", sender=sent.proc)
    rows = sent.join(_pipeline(), ["sender", "block"], how="inner")
    peers = rows.group_by("host", "proc").agg(
        senders=rows.sender.nunique(),
        packets=rows.count(),
        bytes=rows.bytes.sum().cast("int64"),
        time=rows.dur.sum().cast("int64"),
        max=rows.dur.max(),
    )
    peers = peers.filter(peers.packets >= least)
    peers = peers.mutate(mean=peers.time / peers.packets, op=ibis.literal("mirror_packet"))
    peers = beside_others(peers.mutate(node=_node(peers)), "mean", "node", "op")
    return peers.drop("op", "node").order_by("host", "proc")


def _pipeline() -> ir.Table:
    """Per block and sender the DataNode that received it, if it is one: host, proc."""
    rows = CALLS.filter(CALLS.layer == "datanode", CALLS["op"] == "write_block")
    rows = rows.filter(rows.parent_proc.notnull())
    received = rows.group_by("block", sender=rows.parent_proc).agg(
        host=rows.host.max(), proc=rows.proc.max(), receivers=rows.proc.nunique()
    )
    return received.filter(received.receivers == 1).drop("receivers")


def _node(rows: ir.Table) -> ir.StringValue:
    """One string for host and process; imported calls may have none."""
    return rows.host.fill_null("") + "/" + rows.proc.fill_null(0).cast("string")
