from __future__ import annotations

import json

import pytest

from iostrata.errors import UserError
from iostrata.records import builtins
from iostrata_lab.workload.catalog import WORKLOADS
from iostrata_lab.workload.interface import Workload
from iostrata_lab.workload.parameters import values


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
def test_each_says_what_may_be_asked_of_it(workload: Workload) -> None:
    assert WORKLOADS.named(workload.name) is workload
    assert json.loads(json.dumps(builtins(workload.answer())))["name"] == workload.name
    assert len({one.name for one in workload.parameters}) == len(workload.parameters)
    assert workload.steps
    # its own defaults are allowed
    defaults = values(workload.parameters, [])
    for one in workload.parameters:
        assert one.checked(defaults[one.name]) == one.default


def test_names_are_one_workload_each() -> None:
    with pytest.raises(UserError, match="no workload is called 'teragenn'"):
        WORKLOADS.named("teragenn")
