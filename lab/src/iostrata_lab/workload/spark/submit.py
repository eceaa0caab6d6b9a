"""Programs of pyspark, submitted to a master; what they said, and what Spark counted."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import iostrata_lab
from iostrata import errors
from iostrata.errors import UserError
from iostrata.text import size
from iostrata_lab.workload.interface import Context, Result
from iostrata_lab.workload.parameters import BYTES, Parameter
from iostrata_lab.workload.spark.counters import counters
from iostrata_lab.workload.spark.session import INPUT, RUN

YARN = "yarn"
_MASTER = re.compile(r"local(\[(\d+|\*)\])?|yarn")
# Spark takes no JVM of less than 450 MiB for its tasks, and asks YARN for this much beside it.
LEAST = 450 << 20
BESIDE = 384 << 20
MASTER_MEMORY = 512 << 20  # of the ApplicationMaster, Spark's default
MASTER = Parameter("master", "where tasks run: local[N] is one JVM of N threads, yarn", "local[2]")
EXECUTORS = Parameter(
    "executors", "number of executors with master=yarn", 1, "JVMs", low=1, high=10_000
)
CORES = Parameter("cores", "tasks that an executor runs at a time", 2, "tasks", low=1, high=1000)
MEMORY = Parameter(
    "memory", "heap of the local JVM or of each executor", 512 << 20, BYTES, low=LEAST, high=1 << 42
)
PARTITIONS = Parameter(
    "partitions", "partitions of input and shuffles", 4, "tasks", low=1, high=100_000
)
JARS = Parameter(
    "jars",
    "with master=yarn: Spark is at the same place on all nodes, or is sent there",
    "local",
    choices=("local", "sent"),
)
COMMON = (PARTITIONS, MASTER, EXECUTORS, CORES, MEMORY, JARS)


def on_yarn(context: Context) -> bool:
    """Whether its tasks run there."""
    return context.text("master") == YARN


def check(context: Context) -> None:
    """Raises UserError for no pyspark, a master that is none, a cluster that cannot be reached."""
    spark_home()
    if not _MASTER.fullmatch(context.text("master")):
        raise UserError(f"master={context.text('master')} is not allowed", "say local[N] or yarn")
    if "HADOOP_CONF_DIR" not in context.cluster.environment:
        raise UserError("Spark finds no cluster", "name a lab: --lab NAME, or set HADOOP_CONF_DIR")
    has = context.cluster.facts
    needed = context.number("executors") * (context.number("memory") + BESIDE)
    needed += MASTER_MEMORY + BESIDE
    if on_yarn(context) and has.nodemanagers and needed > has.memory:
        raise UserError(
            f"YARN has {size(has.memory)} for containers, the application needs {size(needed)}",
            "ask for less: --set executors=, --set memory=",
        )


def spark_home() -> Path:
    """Where pyspark is; raises UserError where it is not installed."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise UserError("pyspark is not installed", "pip install 'iostrata-lab[spark]'")
    return Path(found.origin).parent


def make_input(context: Context, program: Path) -> None:
    """Has the program make its input."""
    context.step("input")
    _submit(context, program, INPUT)


def run(context: Context, program: Path) -> Result:
    """Has the program do its work: what it found, then `spark`, what Spark counted."""
    context.step("run")
    return _submit(context, program, RUN)


def _submit(context: Context, program: Path, half: str) -> dict[str, Any]:
    asked, result = context.scratch / f"{half}.json", context.scratch / f"{half}-result.json"
    events = context.scratch / f"{half}-events"
    events.mkdir()
    said = {"values": dict(context.values), "seed": context.seed, "folder": context.folder}
    asked.write_text(json.dumps({**said, "half": half, "result": str(result)}))
    home = spark_home()
    environment = {
        "PYSPARK_PYTHON": sys.executable,
        **context.cluster.environment,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_HOME": str(home),
        "PYTHONPATH": import_path(context.cluster.environment),
    }
    cluster = replace(context.cluster, environment=environment)
    options = [word for one in _options(context, events) for word in ("--conf", one)]
    command = [str(home / "bin/spark-submit"), "--master", context.text("master"), *options]
    cluster.run([*command, str(program), str(asked)], context.scratch / f"{half}.log")
    (log,) = events.iterdir()
    return {**json.loads(result.read_text()), "spark": counters(log)}


def import_path(environment: Mapping[str, str]) -> str:
    """Both packages first: the driver is a Python of its own."""
    packages = [str(Path(str(module.__file__)).parents[1]) for module in (iostrata_lab, errors)]
    return ":".join(filter(None, (*packages, environment.get("PYTHONPATH", ""))))


def _options(context: Context, events: Path) -> list[str]:
    """Settings that make the number of tasks what was asked for, and attempts one each."""
    partitions, memory = context.number("partitions"), context.number("memory") >> 20
    options: dict[str, object] = {
        "spark.app.name": context.tag,
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.default.parallelism": partitions,
        "spark.sql.shuffle.partitions": partitions,
        "spark.sql.adaptive.enabled": "false",
        "spark.speculation": "false",
        "spark.driver.memory": f"{memory}m",
        "spark.executor.memory": f"{memory}m",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    if not on_yarn(context):
        options["spark.local.dir"] = context.scratch / "local"
    else:
        options |= {
            "spark.executor.instances": context.number("executors"),
            "spark.executor.cores": context.number("cores"),
            "spark.yarn.tags": context.tag,
        }
        if context.text("jars") == "local":
            options["spark.yarn.jars"] = f"local:{spark_home()}/jars/*"
    return [f"{name}={value}" for name, value in options.items()]
