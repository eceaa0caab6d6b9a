"""A share of the requests in detail: trees whole or absent, sums as ever, estimates that hold."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from tests.e2e.cluster import Cluster
from tests.e2e.labs import Labs
from tests.e2e.trees import Call, Tree

from iostrata.analyse import sample
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import Row

pytestmark = pytest.mark.cluster

FILES = 300  # estimates need 100 requests: of the 900 times that a file is looked up, 225 are kept
SIZE = 3000
# ms until a client asks again whether a file is complete; a third of a second a file otherwise.
RETRIED = "dfs.client.block.write.locateFollowingBlock.initial.delay.ms"
SEEDS = 500
HOLDS = int(stats.binom.ppf(0.001, SEEDS, 0.95))  # as in show/tests/test_sample.py
# Of times, whose tail is this machine's: the longer it is, the more often a small sample lacks it.
TIMES_HOLD = int(stats.binom.ppf(0.001, SEEDS, 0.93))


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    found = labs.at()
    files = found.folder / "files"
    files.mkdir()
    for number in range(FILES):
        (files / f"{number}").write_bytes(os.urandom(SIZE + 7 * number))
    put = ("hadoop", "fs", "-D", f"{RETRIED}=10", "-put", str(files))
    found.record("whole", *put, "/whole")
    found.record("quarter", *put, "/quarter", options=("--sampling", "1/4"))
    return found


def requests(tree: Tree) -> dict[Call, list[Call]]:
    """Calls of each request by its first one; what is not below a task has no way up."""
    found: dict[Call, list[Call]] = defaultdict(list)
    for call in tree.calls:
        if call.layer != "task":
            way = tree.way_up(call)
            below = next((n for n, above in enumerate(way) if above.layer == "task"), len(way))
            found[way[below - 1]].append(call)
    return found


def test_each_call_is_in_a_whole_request(cluster: Cluster) -> None:
    """What is kept of the quarter hangs together as in the run of which all is kept."""
    whole, quarter = Tree(cluster.run("whole")), Tree(cluster.run("quarter"))
    broken = [call for call in quarter.calls if tree_is_broken(quarter, call)]
    assert broken == []
    kinds: dict[str, list[list[str]]] = defaultdict(list)
    for first, calls in requests(whole).items():
        kinds[f"{first.role} {first.name}"].append(hadoop(calls))
    compared = 0
    for first, calls in requests(quarter).items():
        usual = kinds[f"{first.role} {first.name}"]
        if first.role == "client" and first.layer in ("fs", "hdfs") and len(usual) >= FILES:
            compared += 1
            # names only: how often a client asks whether a file is complete is for time to say
            found, known = set(hadoop(calls)), [set(names) for names in usual]
            assert set.intersection(*known) <= found <= set.union(*known), first
    assert compared > FILES / 2  # of several requests a file


def hadoop(calls: list[Call]) -> list[str]:
    """Without files and sockets: which call loads a class depends on what ran before."""
    return [f"{call.role} {call.name}" for call in calls if call.layer != "java"]


def tree_is_broken(tree: Tree, call: Call) -> bool:
    last = tree.way_up(call)[-1]
    return last.parent is not None


def test_calls_in_another_process_share_the_fate_of_their_cause(cluster: Cluster) -> None:
    quarter = Tree(cluster.run("quarter"))
    asked = quarter.named("client", "rpc", "call")
    handled = [c for c in quarter.named("NameNode", "rpc", "handle") if c.parent_proc]
    assert len(asked) > FILES / 4
    assert {c.parent for c in handled} == {c.span for c in asked}
    written = quarter.named("DataNode", "datanode", "write_block")
    assert {quarter.origin(c) for c in written} == {"client"}
    assert 0 < len(written) < FILES


def test_as_many_are_kept_as_were_asked_for(cluster: Cluster) -> None:
    """Of each operation that begins a request: within five deviations of a binomial."""
    run = cluster.run("quarter")
    assert run.rows("SELECT DISTINCT inclusion FROM events WHERE kind = 'call' ORDER BY ALL") == [
        (0.25,),
        (None,),
    ]
    assert (
        run.one(
            "SELECT count(*) FROM events WHERE layer NOT IN ('task', 'jvm') AND kind = 'call' "
            "AND inclusion IS NULL"
        )
        == 0
    )
    for layer, op in (("hdfs", "create"), ("hdfs", "stat"), ("hdfs", "rename")):
        where = f"layer = '{layer}' AND op = '{op}' AND role = 'client' AND (flags & 1) = 0"
        total = run.one(f"SELECT sum(count)::BIGINT FROM events WHERE kind = 'sum' AND {where}")
        kept = run.one(f"SELECT count(*) FROM events WHERE kind = 'call' AND {where}")
        assert total >= FILES, op
        assert abs(kept - total / 4) <= 5 * np.sqrt(total * 3 / 16), (op, kept, total)


def test_sums_are_those_of_the_whole(cluster: Cluster) -> None:
    """Counts and bytes of what the command did, whatever was recorded individually."""
    query = (
        "SELECT role, layer, op, sum(count)::BIGINT, sum(bytes)::BIGINT FROM events "
        "WHERE kind = 'sum' AND (layer IN ('fs', 'hdfs') AND role = 'client' "
        "OR layer = 'datanode' OR layer = 'namenode' AND op IN ('create', 'add_block')) "
        "GROUP BY ALL ORDER BY ALL"
    )
    whole, quarter = cluster.run("whole").rows(query), cluster.run("quarter").rows(query)
    # not those that are repeated until the DataNode has reported; paths differ in length; a
    # streamer whose file was closed does not wait for the acknowledgement that closed it
    by_time = ("client", "hdfs", "wait_acks")
    for rows in (whole, quarter):
        waits = sum(row[3] for row in rows if row[:3] == by_time)
        assert FILES <= waits <= 2 * FILES
    stable = [[row[:4] for row in rows if row[:3] != by_time] for rows in (whole, quarter)]
    assert stable[0] == stable[1]
    total = sum(SIZE + 7 * number for number in range(FILES))
    moved = {row[:3]: row[4] for row in quarter}
    assert moved["DataNode", "datanode", "write"] == total
    assert cluster.run("quarter").losses() == cluster.run("whole").losses()


def test_summaries_say_what_is_estimated(cluster: Cluster) -> None:
    text = cluster.iostrata("summary", "quarter", "--full").stdout
    assert "1/4 of the requests recorded individually" in text
    assert "of the requests" not in cluster.iostrata("summary", "whole", "--full").stdout
    found = cluster.summary("quarter")
    assert (found["sampled"], cluster.summary("whole")["sampled"]) == (True, False)
    files = [row for row in found["targets"] if row["target"].endswith("._COPYING_")]
    assert files  # each is written once: a request or none says nothing of it
    assert {row["time"] for row in files} == {None}
    exact = [row for row in found["targets"] if row["layer"] == "task"]
    assert [row["time_bound"] for row in exact] == [0]


def test_the_call_tree_is_scaled_back(cluster: Cluster) -> None:
    """Of the whole each call that was summed is in it once; of the quarter as many as the whole
    had, within bounds three times as wide."""
    ways: dict[str, dict[tuple[str, ...], Row]] = {}
    for name in ("whole", "quarter"):
        text = cluster.iostrata("calltree", name, "--json").stdout
        ways[name] = {way: node for root in json.loads(text) for way, node in walked(root, ())}
    calls: dict[tuple[str, str], int] = {}
    for node in ways["whole"].values():
        key = node["layer"], node["op"]
        calls[key] = calls.get(key, 0) + node["calls"]
    summed = (
        "SELECT layer, op, sum(count)::BIGINT FROM events"
        " WHERE kind = 'sum' AND layer <> 'jvm' GROUP BY layer, op"
    )
    assert calls == {row[:2]: row[2] for row in cluster.run("whole").rows(summed)}
    known = {way for way, node in ways["quarter"].items() if node["calls_bound"]}
    # one operation each of every file: others depend on which call loads a class, or on time
    stable = [way for way in known if way[-1].startswith(("hdfs.", "rpc.", "namenode."))]
    print({way[-1]: ways["whole"][way]["calls"] for way in stable})
    assert stable
    for way in stable:
        estimate, truth = ways["quarter"][way], ways["whole"][way]["calls"]
        assert abs(estimate["calls"] - truth) <= 3 * estimate["calls_bound"], way
    # which of them take long enough to be shown by default is a matter of luck
    assert "±" in cluster.iostrata("calltree", "quarter", "--least", "0").stdout


def walked(node: Row, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Row]]:
    way = (*above, f"{node['layer']}.{node['op']}")
    yield way, node
    for below in node["below"]:
        yield from walked(below, way)


def test_samples_of_the_whole_hold_its_truth(cluster: Cluster) -> None:
    """A run of which all was kept, sampled 500 times by the agent's rule at 1/4."""
    with OpenedRun(find_run(cluster.store, "whole")) as opened:
        opened.rows(
            "CREATE TEMP TABLE drawn AS SELECT * REPLACE "
            "(CASE WHEN layer <> 'task' THEN 0.25 END AS inclusion) FROM events"
        )
        opened.rows("CREATE TEMP VIEW events AS SELECT * FROM drawn")
        opened.rows("CREATE TEMP VIEW calls AS SELECT * FROM drawn WHERE kind = 'call'")
        sample.draw(opened)
        (count,) = opened.rows("SELECT max(request)::BIGINT AS n FROM sample")
        opened.rows("ALTER TABLE sample RENAME TO population")
        kept = [np.random.default_rng([9, s]).random(count["n"]) < 0.25 for s in range(SEEDS)]
        pairs = [(s, int(r) + 1) for s, of in enumerate(kept) for r in np.flatnonzero(of)]
        chosen = pa.table(dict(zip(("seed", "request"), zip(*pairs, strict=True), strict=True)))
        opened._db.register("chosen", chosen)
        opened.rows(
            "CREATE TEMP TABLE sample AS SELECT seed, layer, op, dur, population.request, w "
            "FROM population JOIN chosen ON population.request = chosen.request"
        )
        compared = 0
        for layer, op, name, truth in measures(opened):
            where = f"layer = '{layer}' AND op = '{op}'"
            if name == "mean":
                estimates = sample.means(opened, "seed", "dur", where)
            elif name == "median":
                estimates = sample.quantiles(opened, "seed", "dur", 0.5, where)
            else:
                estimates = sample.totals(opened, "seed", "dur" if name == "time" else "1", where)
            held = sum((one.low or 0) <= truth <= (one.high or 0) for one in estimates.values())
            print(layer, op, name, held)
            assert len(estimates) == SEEDS
            least = TIMES_HOLD if name in ("time", "mean") else HOLDS
            assert held >= least, (layer, op, name, held)
            compared += 1
        assert compared >= 10


def measures(opened: OpenedRun) -> list[tuple[str, str, str, float]]:
    """Of operations with 480 requests, so that all samples have the 100 that an interval needs.

    Without those of which a hundredth is in one request: no sample can know what is not in it. The
    first call of a client loads a thousand classes. And without means whose spread is that of a few
    requests, as tails of times have it: of 500 samples the intervals of a mean held
    the truth at least 455 times where the spread was worth 20 requests (Σe⁴ ≤ (Σe²)² / 20, tried on
    logarithmic normal distributions), and as few as 281 times where it was worth one.
    """
    rows = opened.rows(
        """
        WITH own AS (
            SELECT layer, op, request, count(*) AS n, sum(dur)::DOUBLE AS time FROM population
            WHERE request IS NOT NULL GROUP BY ALL),
        off AS (
            SELECT *, (time - n * sum(time) OVER own_op / sum(n) OVER own_op) ^ 2 AS square
            FROM own WINDOW own_op AS (PARTITION BY layer, op)),
        total AS (
            SELECT layer, op, sum(n) AS calls, sum(time) AS time, 100 * max(n) <= calls AS even,
                100 * max(time) <= sum(time) AS even_time,
                20 * sum(square ^ 2) <= sum(square) ^ 2 AS even_spread
            FROM off GROUP BY ALL HAVING count(*) >= 480)
        SELECT layer, op, calls::DOUBLE AS calls, time, even, even_time, even_spread,
            (SELECT quantile_disc(dur, 0.5) FROM population AS p
                WHERE p.layer = total.layer AND p.op = total.op AND request IS NOT NULL) AS median
        FROM total ORDER BY ALL"""
    )
    found = []
    for row in rows:
        of = (row["layer"], row["op"])
        if row["even"]:
            found += [(*of, "calls", row["calls"]), (*of, "median", row["median"])]
        if row["even"] and row["even_time"]:
            found.append((*of, "time", row["time"]))
        if row["even"] and row["even_time"] and row["even_spread"]:
            found.append((*of, "mean", row["time"] / row["calls"]))
    return found
