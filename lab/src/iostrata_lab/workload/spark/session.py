"""What every program of ours does in the driver: one half of a workload, and what it says of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INPUT, RUN = "input", "run"


@dataclass(frozen=True)
class ProgramArguments:
    """What a program is arguments for: values of its parameters, and where its folder is."""

    values: Mapping[str, Any]
    seed: int
    folder: str

    @property
    def input(self) -> str:
        return f"{self.folder}/in"


def main(
    make: Callable[[Any, ProgramArguments], None],
    work: Callable[[Any, ProgramArguments], dict[str, Any]],
) -> None:
    """Makes the input or does the work, as the file says that is this program's argument.

    Both get the session; the file is what `submit` wrote.
    """
    from pyspark.sql import SparkSession

    said = json.loads(Path(sys.argv[1]).read_text())
    arguments = ProgramArguments(said["values"], said["seed"], said["folder"])
    spark = SparkSession.builder.getOrCreate()
    try:
        if said["half"] == INPUT:
            make(spark, arguments)
            result: dict[str, Any] = {}
        else:
            result = work(spark, arguments)
    finally:
        spark.stop()
    Path(said["result"]).write_text(json.dumps(result))
