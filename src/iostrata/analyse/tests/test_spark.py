from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from iostrata.analyse.spark import Spark
from iostrata.errors import UserError
from iostrata.store.files import run_files
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, row_of_sum

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


def test_files_of_another_version_are_named(tmp_path: Path) -> None:
    run_dir = make_run(tmp_path, "r", [row_of_sum("java", "read")])
    part = run_dir / "events/host=node/part-000001.parquet"
    pq.write_table(pq.read_table(part).drop_columns(["anchor"]), part)
    with pytest.raises(UserError) as caught:
        Spark(run_files(find_run(tmp_path, "r")))
    assert caught.value.message == f"{part} lacks the column anchor"
