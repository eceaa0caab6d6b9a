"""What a run is asked needs no compiler, once SQL is compiled ahead of time."""

from __future__ import annotations

import pytest

from iostrata.analyse import compiled as ahead
from iostrata.analyse import engine
from iostrata.explain.rank import explain
from iostrata.explain.tests.cases import CASES
from iostrata.explain.tests.conftest import Made


def test_no_rule_is_compiled_when_it_is_asked(
    facts_of: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a build, and a run that has all causes at once
    if not ahead._known():
        pytest.skip("no SQL of these sources is compiled: make build")
    events = [event for case in CASES for event in case.events]
    processes = [process for case in CASES for process in case.processes]
    nodes = [{"name": host, "host": host, "pid": None, "rack": "/r"} for host in ("a", "b")]
    facts = facts_of(events, processes=processes, cluster={"datanodes": nodes})

    def rejected(operation: object) -> str:
        raise AssertionError(f"compiled now: {operation}")

    monkeypatch.setattr(engine, "to_sql", rejected)
    # THEN all rules are asked without a compiler
    assert explain(facts)
