"""Requests are found by the way up; targets of a sample are scaled back to what sums say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from iostrata.analyse import sample, sampled
from iostrata.analyse.summary import summary
from iostrata.records import builtins
from iostrata.schema.points import POINTS
from iostrata.show.summary import summary_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import Row, make_run, process, row_of_call, row_of_sum

READ = next(p.id for p in POINTS if (p.layer, p.op, p.mode) == ("java", "read", "call"))
CERTAIN = 50


def call(span: int, parent: int | None, **more: Any) -> Row:
    given = {"proc": 1, "span": span, "parent": parent, "inclusion": 0.5, "point": READ}
    return row_of_call("java", "read", **{"target": f"/{span}", **given, **more})


def task(span: int, kind: str = "call") -> Row:
    return row_of_call("task", "map", "t", kind=kind, proc=1, span=span)


def opened(store: Path, events: list[Row], **more: Any) -> OpenedRun:
    make_run(store, "r", events, [process("client", 1)], **more)
    return OpenedRun(find_run(store, "r"))


def test_a_request_is_what_hangs_from_its_first_call(tmp_path: Path) -> None:
    events = [
        task(1, "unfinished"),
        task(2, "begin"),
        call(10, 1),
        call(11, 10),
        call(12, 11, proc=2, parent_proc=1),  # in another process
        call(13, 12, proc=2),
        call(20, 2),  # of a task as well: a request of its own
        call(21, 20),
        call(22, 21),
        call(30, None),  # of no task
        call(40, 99),  # hangs from a call that was lost
        call(41, 99),
        call(42, 41),
        call(50, 60, inclusion=None),  # kept in any case
        {**call(70, 1), "kind": "unfinished"},
        call(71, 70),
        task(80),
        call(81, 80),  # the task is within a request, and begins others
    ]
    events[-2]["parent"] = 22
    with opened(tmp_path, events) as run:
        assert sample.is_sampled(run)
        sample.draw(run)
        rows = run.rows("SELECT span, request, w FROM sample WHERE layer = 'java' ORDER BY span")
    of = {row["span"]: row["request"] for row in rows}
    groups = [{10, 11, 12, 13}, {20, 21, 22}, {30}, {40, 41, 42}, {71}, {81}]
    for group in groups:
        assert len({of[span] for span in group}) == 1, group
    assert len({of[min(group)] for group in groups}) == len(groups)
    assert (of[50], {row["w"] for row in rows}) == (None, {1.0, 2.0})
    assert set(of) == {50}.union(*groups)


SEEDS = 100
HOLDS = int(stats.binom.ppf(0.001, SEEDS, 0.95))  # 88: once in a thousand an exact one has fewer
SHARES = {"/large": 0.6, "/middle": 0.25, "/rare": 0.01}  # of the requests; the rest on others


def requests() -> Any:
    """Calls of 4,000 requests, each on one target: request, target, bytes, dur; some heavy."""
    random = np.random.default_rng(3)
    names = np.array([*SHARES, "/other"])
    target = random.choice(names, 4000, p=[*SHARES.values(), 1 - sum(SHARES.values())])
    calls = 1 + (2 * random.pareto(2.5, 4000)).astype(int)
    request = np.repeat(np.arange(4000), calls)
    size = np.exp(random.normal(8, 1, 4000))[request].astype(np.int64)
    return request, target[request], size, 100 + size // 7


def test_targets_are_scaled_back_to_the_sums(tmp_path: Path) -> None:
    """Over 100 samples; what is certain, and sums with times of all calls, are as the agent's."""
    request, target, size, dur = requests()
    sums = row_of_sum(
        "java", "read", category="file", point=READ, count=len(size), bytes=int(size.sum()),
        timed_dur=int(dur.sum()), proc=1,
    )  # fmt: skip
    held: dict[tuple[str, str], int] = {}
    with opened(tmp_path, [sums, call(1, None, category="file")]) as run:
        for seed in range(SEEDS):
            kept = (np.random.default_rng([5, seed]).random(4000) < 0.25) | (
                np.arange(4000) < CERTAIN
            )
            of = kept[request]
            certain = request[of] < CERTAIN
            run._db.register(
                "drawn",
                pa.table(
                    {
                        "request": pa.array(request[of], mask=certain),
                        "w": np.where(certain, 1.0, 4.0),
                        "target": target[of],
                        "bytes": size[of],
                        "dur": dur[of],
                    }
                ),
            )
            run.rows("DROP TABLE IF EXISTS sample")
            run.rows(
                "CREATE TEMP TABLE sample AS SELECT *, 'java' AS layer, 'read' AS op, "
                "'file' AS category, NULL::BIGINT AS block, 0 AS flags FROM drawn"
            )
            found = {row.target: builtins(row) for row in sampled.hottest(run, 4)}
            assert found["/rare"]["time"] is None
            assert "time_bound" not in found["/rare"]
            for name in ("/large", "/middle", "/other"):
                mine = target == name
                truth = {"calls": mine.sum(), "time": dur[mine].sum()}
                truth["bytes_read"] = size[mine].sum()
                for what, exact in truth.items():
                    off = abs(found[name][what] - exact)
                    key = (name, what)
                    held[key] = held.get(key, 0) + (off <= found[name][f"{what}_bound"])
                assert (found[name]["bytes_sent"], found[name]["bytes_sent_bound"]) == (0, 0)
            shown = sum(found[name]["calls"] for name in ("/large", "/middle", "/other"))
            assert shown < len(size) * 1.01  # they are shares of what sums say
    print(held)
    assert {key: n for key, n in held.items() if n < HOLDS} == {}


@pytest.mark.parametrize("hidden", [0, 100_000])
def test_calls_that_do_not_agree_with_sums_are_only_scaled_up(tmp_path: Path, hidden: int) -> None:
    """Sums may count calls that were never recorded individually: no share is taken of those."""
    calls = [call(n, None, target=f"/{n % 2}", category="file") for n in range(1000)]
    sums = row_of_sum("java", "read", category="file", point=READ, count=2000 + hidden)
    with opened(tmp_path, [*calls, sums]) as run:
        sample.draw(run)
        sample_rows = sampled.hottest(run, 5)
    assert [row.calls for row in sample_rows] == [1000, 1000]
    # of a total that is known the share alone is uncertain
    off = 1.96 * np.sqrt(500 * 2 * (0.25 if hidden == 0 else 1) * (2 if hidden == 0 else 1))
    assert sample_rows[0].calls_bound == pytest.approx(off, rel=0.1)


def test_the_summary_shows_what_is_estimated(tmp_path: Path) -> None:
    calls = [call(n, None, target=f"/{n % 2}", category="file", bytes=10) for n in range(1000)]
    few = [call(n, None, target="/few", category="file") for n in range(1000, 1010)]
    count = 2 * len(calls + few)
    sums = row_of_sum(
        "java", "read", category="file", point=READ, count=count, bytes=20_000, proc=1
    )
    with opened(tmp_path, [*calls, *few, task(5000), sums], sampling=500_000_000) as run:
        found = summary(run)
        text = "\n".join(summary_lines(found))
    assert "sampling 1/2: 1/2 of the requests recorded individually, the rest only in sums" in text
    (line,) = [line for line in text.splitlines() if line.endswith(" /0")]
    assert "~1 000 ±" in line
    (line,) = [line for line in text.splitlines() if line.endswith(" /few")]
    assert line.count("too few") == 4
    assert "95 of 100" in text
    assert builtins(found)["sampled"] is True


def test_a_run_kept_whole_has_no_estimates(tmp_path: Path) -> None:
    with opened(tmp_path, [call(1, None, inclusion=None), row_of_sum("java", "read")]) as run:
        found = summary(run)
    assert not found.sampled
    assert [row.calls for row in found.targets] == [1]
    assert "individually" not in "\n".join(summary_lines(found))
