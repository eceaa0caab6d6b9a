"""What holds a run back, as text."""

from __future__ import annotations

from iostrata.analyse.calltree.bottlenecks import Bottleneck, Bottlenecks
from iostrata.show.bottlenecks import bottleneck_lines

MS = 1_000_000
WORKS = Bottleneck("task", "run", "reduce", "a", 1, 900 * MS, 500 * MS, 0, 660 * MS, 0)
WAITS = Bottleneck("rpc", "call", "map", "a", 7, 100 * MS, 100 * MS, 70 * MS, 340 * MS, 340 * MS)
OTHER = Bottleneck("fs", "read", "map", "a", 2, 9 * MS)


RANKED = Bottlenecks(
    "critical", 1000 * MS, sampled=False, functions=[WORKS, WAITS, OTHER], incomplete=[]
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
    none = Bottlenecks("critical", 0, sampled=False, functions=[], incomplete=[])
    assert bottleneck_lines(none, 9) == ["no calls were recorded: iostrata summary says why"]


def test_a_narrow_terminal_gets_the_columns_that_rank() -> None:
    """The host goes where there is but one, then what does not belong to the ranking."""
    titles = [bottleneck_lines(RANKED, 2, width)[2].split("  ") for width in (80, 60, 10)]
    assert [[title.strip() for title in row if title] for row in titles] == [
        ["function", "role", "of critical", "working", "waiting", "calls", "self", "total"],
        ["function", "role", "of critical", "working", "waiting", "calls"],
        ["funct…ting"],
    ]
