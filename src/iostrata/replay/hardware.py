"""Changes of what jobs share: disks, networks, machines, containers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from statistics import median

import msgspec

from iostrata.errors import UserError
from iostrata.replay.alternative import Alternative, positive_number, with_cluster
from iostrata.replay.jobs import HostDisk, RecordedJobs
from iostrata.replay.layout import hosts_of, with_nodes
from iostrata.text import plural

_RATE = re.compile(r"(\d+(?:\.\d+)?) ?([kKMGT]?)i?(bit|B)(?:/s|ps)?")
_PREFIX = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def faster_disks(text: str) -> Alternative:
    """`2x`: the disks of all hosts move so many times the bytes a second; raises UserError."""
    factor = positive_number(
        text.removesuffix("x"), "--faster-disk", "2x, or 0.5x for a slower one"
    )

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        _check_disks(recorded)
        return msgspec.structs.replace(recorded, cluster=recorded.cluster.with_disks(factor))

    return Alternative(
        f"disks {factor:g} times as fast",
        "the kernel lets as many dirty bytes wait for the disks",
        apply,
    )


def network(text: str) -> Alternative:
    """`10Gbit`: each host sends and receives so much a second at the most; raises UserError."""
    rate = _rate(text)

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        if len(hosts_of(recorded)) < 2:
            raise UserError("the run was on one host", "nothing of it went over a network")
        if not any(part.came or part.hdfs for one in recorded.attempts for part in one.parts):
            raise UserError(
                "servers of this run moved no byte that is known to be for its attempts",
                "record it with traced servers",
            )
        return with_cluster(recorded, link=rate)

    return Alternative(
        f"a network of {text} at each host",
        "the network held nothing back when the run was recorded; outputs of maps are fetched when "
        "all maps have ended",
        apply,
    )


def storages(new: str, old: str, times: Callable[[str, int], float]) -> Alternative:
    """Disks like the profiled storage `new`, in place of those like `old`. `times`: how many times
    as fast it is, at an operation (read, write) of so many clients.
    """

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        _check_disks(recorded)
        cluster = recorded.cluster
        clients = max(1, round(cluster.containers / len(hosts_of(recorded))))
        moved = {"read": 0.0, "write": 0.0}
        for one in recorded.attempts:
            for part in one.parts:
                moved["read"] += sum(part.read.values())
                moved["write"] += sum(part.hdfs.values()) + part.dirtied
        # the time of all bytes, where those of each operation go at the rate of that
        took = sum(amount / times(name, clients) for name, amount in moved.items() if amount)
        factor = sum(moved.values()) / took if took else 1.0
        return msgspec.structs.replace(recorded, cluster=cluster.with_disks(factor))

    return Alternative(
        f"{new} in place of {old}",
        "disks are as much faster as their profiles say, at the run's own mix of reads and writes "
        "and its attempts at once on a host",
        apply,
    )


def even_disks() -> Alternative:
    """The disks of each host are at least as fast as those of the usual one."""

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        disks = recorded.cluster.disks
        if len(disks) < 2:
            raise UserError("fewer than two hosts have disks that hold them back", "none is slow")
        usual = median(disk.rate for disk in disks.values())
        even = {host: HostDisk(max(disk.rate, usual), disk.room) for host, disk in disks.items()}
        return with_cluster(recorded, disks=even)

    return Alternative("disks as fast as the usual one", "nothing else slows them down", apply)


def containers(number: int) -> Alternative:
    """So many attempts at once."""

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        return msgspec.structs.replace(recorded, cluster=recorded.cluster.with_containers(number))

    return Alternative(
        f"{plural(number, 'container')} at once",
        "attempts begin in the order in which they began, on the same hosts",
        apply,
    )


def cores(number: int) -> Alternative:
    """Each machine has so many."""

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        return with_cluster(recorded, cores=dict.fromkeys(recorded.cluster.cores, float(number)))

    return Alternative(f"{plural(number, 'core')} in each machine", "nobody else needs them", apply)


def nodes(number: int) -> Alternative:
    """So many nodes like those of the run."""
    return Alternative(
        f"{plural(number, 'node')}",
        "nodes are alike, attempts go to them in turn, and maps find their input as near as before",
        partial(with_nodes, number=number),
    )


def _check_disks(recorded: RecordedJobs) -> None:
    if not recorded.cluster.disks:
        raise UserError(
            "no disk held this run back, so how fast its disks are is not known",
            "record it where they do",
        )


def _rate(text: str) -> float:
    """Bytes a second of `10Gbit`, `100Mbit/s` or `20MB/s`; raises UserError."""
    found = _RATE.fullmatch(text.strip())
    value = float(found[1]) * _PREFIX[found[2].upper()] if found else 0.0
    if not found or value <= 0:
        raise UserError(f"--network {text!r} is no rate", "for example 10Gbit, 100Mbit or 20MB/s")
    return value / 8 if found[3] == "bit" else value
