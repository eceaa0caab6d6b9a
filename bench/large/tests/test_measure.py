"""Figures of commands, and the line through them."""

from __future__ import annotations

from pathlib import Path

from bench.large.generate import generate
from bench.large.measure import fit, measured


def test_a_run_is_measured(tmp_path: Path) -> None:
    generate(tmp_path, "r", 20_000)
    found = measured(tmp_path, "r", with_queries=True)
    assert (found["run"], found["calls"]) == ("r", 20_000)
    for name in ("summary", "findings", "report"):
        assert found[name]["cpu"] > 0
        assert found[name]["memory"] > 20  # MB: it is a Python process
    assert 100_000 < found["report"]["page"] < 3_000_000
    assert len(found["queries"]) == 20


def test_linear_cost_lies_on_the_line() -> None:
    runs = [{"calls": n * 10**6, "report": {"cpu": 2.5 + 1.5 * n}} for n in (1, 3, 10, 100)]
    assert fit(runs, "report") == {"per_million": 1.5, "none": 2.5, "off": 0.0}
    runs.append({"calls": 50 * 10**6, "report": {"cpu": 155.0}})
    assert fit(runs, "report")["off"] > 0.4
