"""What programs collide in, and which of their operations wait: of numbers made by hand."""

from __future__ import annotations

import dataclasses
import os

import pytest

from iostrata.analyse.parts import PartOperation
from iostrata_lab.mix.collide import Timed, as_alone, collision, grown, layers, shared, times
from iostrata_lab.mix.counters import (
    Kind,
    MachineCpu,
    ProcessCpu,
    Reading,
    ResourceWatch,
    Use,
    resources,
)
from iostrata_lab.mix.result import GrownOperation

SECOND = 10**9


def disk(share: float | None, name: str = "node-1") -> Use:
    return Use("server disk", name, share, 1e6)


def cpu(share: float) -> Use:
    return Use("machine CPU", "all cores", share, 0.0)


def test_they_collide_in_what_they_want_most_together() -> None:
    alone = {"A": [[disk(0.7), cpu(0.5)]], "B": [[disk(0.6), cpu(0.4)], [disk(0.8), cpu(0.4)]]}
    found = shared(alone, [[disk(0.96), cpu(0.9)], [disk(0.98), cpu(0.9)]])
    best = collision(found)
    assert best is not None
    assert (best.kind, best.alone, best.together) == ("server disk", {"A": 0.7, "B": 0.7}, 0.97)


def test_one_that_only_one_of_them_uses_is_no_collision() -> None:
    found = shared({"A": [[disk(0.97)]], "B": [[disk(0.0)]]}, [[disk(0.97)]])
    assert collision(found) is None
    # who takes all of it stands in the way of who needs a little
    assert collision(shared({"A": [[disk(0.97)]], "B": [[disk(0.1)]]}, [[disk(0.99)]])) is not None


def test_one_of_which_nobody_knows_the_limit_is_shown_and_never_full() -> None:
    found = shared({"A": [[disk(None)]], "B": [[disk(None)]]}, [[disk(None)]])
    assert [(one.alone, one.together) for one in found] == [({"A": None, "B": None}, None)]
    assert collision(found) is None


def operation(
    part: str, layer: str, op: str, calls: int, time: int, role: str = "client"
) -> PartOperation:
    return PartOperation(
        part=part, role=role, layer=layer, op=op, calls=calls, time=time, time_bound=0,
        estimated=False, errors=0, bytes_read=0, bytes_written=0, bytes_received=0, bytes_sent=0,
    )  # fmt: skip


def test_the_deepest_operation_that_explains_the_growth_is_the_layer() -> None:
    alone = times(
        [
            operation("A", "task", "map", 1, 10 * SECOND),
            operation("A", "fs", "write", 10, 4 * SECOND),
            operation("A", "java", "write", 10, 3 * SECOND),
            operation("A", "java", "read", 10, SECOND),
        ]
    )
    together = times(
        [
            operation("A", "task", "map", 1, 30 * SECOND),
            operation("A", "fs", "write", 10, 9 * SECOND),
            operation("A", "java", "write", 10, 7 * SECOND),
            operation("A", "java", "read", 10, 2 * SECOND),
        ]
    )
    found = grown("A", [alone["A"]], [together["A"]])
    assert [(one.layer, one.op, one.grown) for one in found] == [
        ("fs", "write", 5 * SECOND),
        ("java", "write", 4 * SECOND),
        ("java", "read", SECOND),
    ]
    assert layers(found) == {
        "A": GrownOperation("A", "client", "java", "write", 3 * SECOND, 7 * SECOND)
    }
    assert layers([]) == {}


def test_calls_of_servers_are_compared_with_as_many_alone() -> None:
    alone = [
        times([operation("", "posix", "write", 10, 100)])[""],
        times([operation("", "posix", "write", 30, 300)])[""],
    ]
    together = times(
        [operation("", "posix", "write", 50, 900), operation("", "posix", "sync", 1, 7)]
    )[""]
    found = grown("", [as_alone(alone, together)], [together])
    # nobody knows how long a sync takes alone
    assert [(one.op, one.alone, one.together) for one in found] == [("write", 500, 900)]


def test_a_server_without_a_request_does_not_wait_for_anything() -> None:
    idle = [
        operation("", "posix", "wait", 1, 10, role="ceph-osd"),
        operation("", "posix", "read", 1, 10, role="mfsmount"),  # of /dev/fuse
    ]
    alone, together = times(idle)[""], {key: Timed(1, 99) for key in times(idle)[""]}
    assert grown("", [alone], [together]) == []
    assert len(grown("A", [alone], [together])) == 2


def test_the_largest_share_of_a_resource_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now, is_there = [0.0], [True]
    monkeypatch.setattr("iostrata_lab.mix.counters.time.monotonic", lambda: now[0])

    class Halved:
        kind: Kind = "server disk"
        name = "node-1"

        def read(self) -> Reading:
            if not is_there[0]:
                raise FileNotFoundError
            return Reading((now[0] / 2, now[0] / 4), int(now[0] * 1000))

    watch = ResourceWatch([Halved()])
    watch.look()
    now[0] = 2.0
    watch.look()
    assert watch.uses() == [Use("server disk", "node-1", 0.5, 1000.0)]
    (series,) = watch.series(["server disk"])
    assert (series.times, series.rates) == ([1.0], [1000.0])
    now[0], is_there[0] = 4.0, False
    watch.look()
    assert watch.uses() == []


def test_the_busiest_node_of_each_moment_is_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    now, counted = [0.0], {"node-1": 0.0, "node-2": 0.0}
    monkeypatch.setattr("iostrata_lab.mix.counters.time.monotonic", lambda: now[0])

    @dataclasses.dataclass
    class Node:
        name: str
        kind: Kind = "server disk"

        def read(self) -> Reading:
            return Reading((counted[self.name],), int(100 * counted[self.name]))

    watch = ResourceWatch([Node("node-1"), Node("node-2")])
    watch.look()
    for first, second in ((1.0, 0.2), (0.0, 0.6)):  # each of them is busy at another time
        now[0] += 1
        counted["node-1"] += first
        counted["node-2"] += second
        watch.look()
    shares = {use.name: use.share for use in watch.uses()}
    assert shares == {"node-1": 0.5, "node-2": 0.4, "the busiest node": 0.8}
    assert watch.uses()[-1].rate == 90.0


def test_this_machine_and_its_processes_are_read() -> None:
    found = resources(None)
    assert any(isinstance(one, MachineCpu) for one in found)
    busy = ProcessCpu("server", "us", os.getpid())
    before = busy.read().used[0], MachineCpu().read().used[0]
    while busy.read().used[0] - before[0] < 0.05:
        sum(range(10_000))
    assert MachineCpu().read().used[0] > before[1]
