"""Values that no trace has are found; those of traces are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.store.oddities import oddity
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import START, make_run, process, row_of_call, row_of_sum, sample
from iostrata.store.tests.test_golden import GOLDEN, PART

NAN = float("nan")
POINTS = "896 woven a.B#c(I)V,897 faulted a.B#<init>()V"


def found(store: Path, call: Any = (), one: Any = (), second: Any = ()) -> str:
    make_run(
        store,
        "r",
        [row_of_sum("fs", "read", start=START), row_of_call("java", "read", "/a", start=START)]
        + [row_of_call("java", "read", "/a", **{"start": START, **dict(call)})],
        [process("client", 7, **{"user_points": POINTS, **dict(one)})],
        [sample(0), sample(1, **dict(second))],
    )
    with OpenedRun(find_run(store, "r")) as run:
        return oddity(run.rows)


def test_a_trace_has_none(tmp_path: Path) -> None:
    assert found(tmp_path, call={"offset": -1, "proc": -(1 << 63)}) == ""
    golden = tmp_path / "golden"
    (golden / PART).parent.mkdir(parents=True)
    (golden / PART).write_bytes((GOLDEN / "events.parquet").read_bytes())
    (golden / "run.json").write_text(json.dumps({"run": "golden", "state": "ok"}))
    with OpenedRun(find_run(tmp_path, "golden")) as run:
        assert oddity(run.rows) == ""


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"call": {"start": None}}, "events.start is missing in 1 row"),
        ({"call": {"dur": -5}}, "events.dur is negative in 1 row"),
        ({"call": {"bytes": (1 << 63) - 1}}, "events.bytes is too large in 1 row"),
        ({"call": {"inclusion": NAN}}, "events.inclusion is no number in 1 row"),
        ({"call": {"inclusion": 0.0}}, "events.inclusion is no probability in 1 row"),
        (
            {"one": {"user_points": "x" * 5000}},
            "processes.user_points is no list of points in 1 row",
        ),
        ({"second": {"disk_read": None}}, "system.disk_read is missing in 1 row"),
    ],
)
def test_what_no_trace_has_is_named(odd: dict[str, Any], said: str, tmp_path: Path) -> None:
    assert found(tmp_path, **odd) == said


def test_only_what_comes_to_an_error_is_asked(tmp_path: Path) -> None:
    """A fault of ours on a run without a flaw stays one."""
    assert found(tmp_path, call={"dur": -5})
    with OpenedRun(find_run(tmp_path, "r")) as run:
        assert run.user_query("SELECT min(dur) FROM calls")[1] == [(-5,)]
    with pytest.raises(UserError) as raised, OpenedRun(find_run(tmp_path, "r")):
        raise RuntimeError
    wrong = "run r has values that no trace has: events.dur is negative in 1 row"
    assert raised.value.message == wrong
    assert found(tmp_path / "right") == ""
    with pytest.raises(RuntimeError), OpenedRun(find_run(tmp_path / "right", "r")):
        raise RuntimeError
