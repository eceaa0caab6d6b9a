"""What holds a run back, as text."""

from __future__ import annotations

import msgspec

from iostrata.analyse.calltree.bottlenecks import Bottleneck, Bottlenecks
from iostrata.analyse.calltree.critical import PathStage
from iostrata.show.bottlenecks import bottleneck_lines

MS = 1_000_000
WORKS = Bottleneck("task", "run", "reduce", "a", 1, 900 * MS, 500 * MS, 0, 660 * MS, 0)
WAITS = Bottleneck("rpc", "call", "map", "a", 7, 100 * MS, 100 * MS, 70 * MS, 340 * MS, 340 * MS)
OTHER = Bottleneck("fs", "read", "map", "a", 2, 9 * MS)


RANKED = Bottlenecks(
    "critical", 1000 * MS, sampled=False, functions=[WORKS, WAITS, OTHER], stages=[], incomplete=[]
)


def test_the_first_functions_and_how_many_more() -> None:
    lines = bottleneck_lines(RANKED, 1, width=100)
    assert lines[0] == "critical path: 1.00 s, 34 % of it waiting for a peer"
    assert lines[2].split() == [
        "function", "role", "host", "of", "critical", "working", "waiting", "calls", "critical",
        "path", "self", "total",
    ]  # fmt: skip
    assert lines[3].split()[:9] == [
        "task.run", "reduce", "a", "66.0", "%", "660.0", "ms", "0", "µs",
    ]  # fmt: skip
    assert lines[-1] == "(1 function more)"


def test_a_run_without_calls_has_no_path() -> None:
    none = Bottlenecks("critical", 0, sampled=False, functions=[], stages=[], incomplete=[])
    assert bottleneck_lines(none, 9) == ["no calls were recorded: iostrata summary says why"]


def test_a_narrow_terminal_gets_the_columns_that_rank() -> None:
    """The host goes where there is but one, then what does not belong to the ranking."""
    titles = [bottleneck_lines(RANKED, 2, width)[2].split("  ") for width in (80, 60, 10)]
    assert [[title.strip() for title in row if title] for row in titles] == [
        ["function", "role", "of critical", "working", "waiting", "calls", "self", "total"],
        ["function", "role", "of critical", "working", "waiting", "calls"],
        ["funct…ting"],
    ]


def test_stages_of_the_path_come_first() -> None:
    app = "application_1"
    stages = [
        PathStage(app, "stage 9.0", 2, 470 * MS, 35 * MS, 0),
        PathStage(app, "driver", 0, 300 * MS, 0, 100 * MS),
        *(PathStage(app, f"stage {n}.0", 1, 20 * MS, 0, 0) for n in range(9)),
        PathStage("", "client", 0, 50 * MS, 0, 0),
    ]
    lines = bottleneck_lines(msgspec.structs.replace(RANKED, stages=stages), 9)
    assert lines[2:5] == [
        "stage      tasks  of critical   working  waiting      idle",
        "stage 9.0      2       47.0 %  435.0 ms  35.0 ms      0 µs",
        "driver         0       30.0 %  200.0 ms     0 µs  100.0 ms",
    ]
    assert lines[11:13] == ["(4 stages more)", ""]
    assert lines[13].startswith("function")
    # two jobs: each line says whose it is
    stages = [*stages[:2], PathStage("application_2", "driver", 0, 9 * MS, 0, 0)]
    lines = bottleneck_lines(msgspec.structs.replace(RANKED, stages=stages), 9)
    assert lines[3].split()[-1] == app
    # by other times the path is beside the point, and so is one stage
    for few in (stages[:1], []):
        lines = bottleneck_lines(msgspec.structs.replace(RANKED, stages=few), 9)
        assert lines[2].startswith("function")
    own = msgspec.structs.replace(RANKED, by="self", stages=stages)
    assert bottleneck_lines(own, 9)[2].startswith("function")
