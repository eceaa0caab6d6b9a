"""What all tests share: how hypothesis looks for examples, and one Spark session."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest_plugins = ["tests.balance", "tests.drawn"]

# A shell that runs the tests in the background has them ignore SIGINT, and all that they start:
# what is to end by Ctrl-C would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no counterexample: times are for benchmarks.
settings.register_profile("iostrata", deadline=None)
settings.load_profile("iostrata")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `spark` are skipped, and say so, where pyspark is not installed."""
    lacks = find_spec("pyspark") is None
    for item in items:
        if item.get_closest_marker("spark"):
            # Python's side of a session leaves sockets to the collector of garbage.
            ignored = "ignore::pytest.PytestUnraisableExceptionWarning"
            item.add_marker(pytest.mark.filterwarnings(ignored))
            if lacks:
                remedy = "scripts/test spark runs them"
                item.add_marker(pytest.mark.skip(f"pyspark is not installed: {remedy}"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session of all tests, on two threads; nothing of it is outside of loopback and a
    temporary folder. Tests that want it are marked `spark`.
    """
    from iostrata.analyse.spark import session

    folder = tmp_path_factory.mktemp("spark")
    opened = session(
        {
            "spark.master": "local[2]",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # half the CPU time: no query is asked often enough to be worth C2
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.local.dir": str(folder / "local"),
        }
    )
    yield opened
    opened.stop()
