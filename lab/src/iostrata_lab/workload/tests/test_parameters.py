from __future__ import annotations

import pytest

from iostrata.errors import UserError
from iostrata_lab.workload.catalog import WORKLOADS
from iostrata_lab.workload.parameters import BYTES, Parameter, Value, values
from iostrata_lab.workload.runner import WorkloadOrder

ROWS = Parameter("rows", "", 1000, "rows", low=1, high=10_000, scaled=True)
SIZE = Parameter("size", "", 1 << 20, BYTES, low=1 << 10, scaled=True)
RATE = Parameter("rate", "", 0.5, "1/s", low=0.0, high=1.0)
MODE = Parameter("mode", "", "write", choices=("write", "read"))
KEEP = Parameter("keep", "", False)
ALL = (ROWS, SIZE, RATE, MODE, KEEP)
DEFAULTS = {"rows": 1000, "size": 1 << 20, "rate": 0.5, "mode": "write", "keep": False}


def test_what_is_not_given_has_its_default() -> None:
    assert values(ALL, []) == DEFAULTS


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ("rows=1", "rows", 1),
        ("size=64MB", "size", 64 << 20),
        ("size=1.5 GiB", "size", 3 << 29),
        ("size=2048", "size", 2048),
        ("rate=1", "rate", 1.0),
        ("mode=read", "mode", "read"),
        ("keep=yes", "keep", True),
    ],
)
def test_what_is_given_is_read(given: str, name: str, value: Value) -> None:
    found = values(ALL, [given])
    assert found == {**DEFAULTS, name: value}
    assert type(found[name]) is type(value)


@pytest.mark.parametrize(
    ("given", "said", "remedy"),
    [
        ("rows=0", "rows=0 is not allowed", "say 1 … 10000 rows"),
        ("rows=1e3", "rows=1e3 is not allowed", "say 1 … 10000 rows"),
        ("size=1", "size=1 is not allowed", "say 1.0 KiB … "),
        ("size=4 parsecs", "size=4 parsecs is not allowed", "say 1.0 KiB … "),
        ("rate=nan", "rate=nan is not allowed", "say 0 … 1 1/s"),
        ("rate=1.01", "rate=1.01 is not allowed", "say 0 … 1 1/s"),
        ("mode=append", "mode=append is not allowed", "say write, read"),
        ("keep=maybe", "keep=maybe is not allowed", "say true, false"),
        ("row=1", "no parameter row", "rows, size, rate, mode, keep"),
        ("rows", "rows: no NAME=VALUE", "rows, size, rate, mode, keep"),
    ],
)
def test_what_is_not_allowed_is_one_line(given: str, said: str, remedy: str) -> None:
    with pytest.raises(UserError) as error:
        values(ALL, [given])
    assert (error.value.message, error.value.remedy) == (said, remedy)


def test_scale_is_for_defaults_of_what_scales() -> None:
    found = values(ALL, ["size=4KB"], scale=3.0)
    assert (found["rows"], found["size"], found["rate"]) == (3000, 4096, 0.5)
    assert values(ALL, [], scale=1e-6)["rows"] == 1
    with pytest.raises(UserError, match="rows=1000000 is not allowed"):
        values(ALL, [], scale=1000.0)


def test_what_was_asked_for_is_said_as_it_can_be_asked_for_again() -> None:
    """GIVEN a workload with its defaults but one THEN its title has what scales and that one."""
    workload = WORKLOADS.named("terasort")
    asked = WorkloadOrder(workload, values(workload.parameters, ["reduces=3"]))
    name, *given = asked.title.split(" ")
    assert name == "terasort"
    assert "reduces=3" in given
    assert values(workload.parameters, given) == asked.values
