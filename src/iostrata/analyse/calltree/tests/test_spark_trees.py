"""Call trees on Spark are those of one machine, to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iostrata.analyse.calltree.native import ORDERS, Choice, call_trees
from iostrata.analyse.calltree.spark import spark_call_trees
from iostrata.analyse.calltree.tests.job import Job
from iostrata.errors import UserError
from iostrata.store.files import run_files
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def made(store: Path, spark: SparkSession, seed: int) -> tuple[OpenedRun, DataFrame]:
    job = Job(seed, requests=40)
    make_run(store, f"r{seed}", job.rows + job.sums())
    run = find_run(store, f"r{seed}")
    return OpenedRun(run), spark.read.parquet(*map(str, run_files(run)["events"]))


@pytest.mark.parametrize("order", ORDERS)
def test_the_document_is_that_of_one_machine(
    tmp_path: Path, spark: SparkSession, order: str
) -> None:
    choice = Choice(order, drop=("rpc.handle",))
    opened, events = made(tmp_path, spark, ORDERS.index(order))
    with opened:
        expected = call_trees(opened, choice)
    assert len(expected.clocks) == 2
    assert {node.spans > 0 for node in expected.nodes} == {True, False}
    assert spark_call_trees(events, choice) == expected


def test_no_rows_are_no_trees(tmp_path: Path, spark: SparkSession) -> None:
    _, events = made(tmp_path, spark, 9)
    trees = spark_call_trees(events.limit(0))
    assert (trees.spans, trees.nodes) == (0, [])


def test_errors_are_one_line(tmp_path: Path, spark: SparkSession) -> None:
    _, events = made(tmp_path, spark, 9)
    with pytest.raises(UserError, match=r"^call trees: no function is called s3\.\*; there are "):
        spark_call_trees(events, Choice(drop=("s3.*",)))
