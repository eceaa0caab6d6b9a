"""TestDFSIO and NNBench."""

from __future__ import annotations

import re

from iostrata.errors import UserError
from iostrata_lab.workload import mapreduce
from iostrata_lab.workload.interface import Context, Result, Workload
from iostrata_lab.workload.parameters import BYTES, Parameter

MB = 1 << 20
FILES = Parameter(
    "files", "number of files, each with a map of its own", 2, "files", low=1, high=10_000
)
SIZE = Parameter(
    "size", "size of each file", 32 << 20, BYTES, low=MB, high=1 << 44, scaled=True
)  # fmt: skip
MODE = Parameter(
    "mode", "whether writing or reading is measured", "write", choices=("write", "read")
)
MAPS = Parameter("maps", "maps that call the NameNode", 2, "tasks", low=1, high=1000)
NAMES = Parameter("names", "files of each map", 200, "files", low=1, high=1e7, scaled=True)
OPERATIONS = ("create_write", "open_read", "rename", "delete")
OPERATION = Parameter("operation", "operation on each file", "create_write", choices=OPERATIONS)
_RATE = re.compile(r"Throughput mb/sec:\s*([\d.]+)")
_TRANSACTIONS = re.compile(r"TPS: .*?:\s*([\d.]+)")
_FAILED = re.compile(r"# exceptions: (\d+)")


def _dfsio_size(context: Context) -> int:
    return context.number("files") * context.number("size")


def _dfsio_check(context: Context) -> None:
    if context.number("size") % MB:
        raise UserError(f"size={context.number('size')} is not allowed", "say whole MB")


def _dfsio(context: Context, mode: str) -> tuple[list[mapreduce.Job], str]:
    size = f"{context.number('size') // MB}MB"
    words = ("-nrFiles", str(context.number("files")), "-size", size)
    log = f"{context.scratch}/TestDFSIO-{mode}.txt"
    base = f"-Dtest.build.data={context.folder}"
    main = "org.apache.hadoop.fs.TestDFSIO"
    return mapreduce.run(context, main, base, f"-{mode}", *words, "-resFile", log)


def _dfsio_input(context: Context) -> None:
    context.step("input")
    if context.text("mode") == "read":
        _dfsio(context, "write")


def _dfsio_run(context: Context) -> Result:
    context.step("run")
    jobs, said = _dfsio(context, context.text("mode"))
    rate = _RATE.search(said)
    return {
        "asked_bytes": _dfsio_size(context),
        "mb_per_s_of_a_map": float(rate[1]) if rate else None,
        "jobs": [job.answer() for job in jobs],
    }


def _nnbench(context: Context, operation: str) -> tuple[list[mapreduce.Job], str]:
    numbers = {
        "maps": context.number("maps"),
        "reduces": 1,
        "startTime": 0,
        "blockSize": 1 << 20,
        "bytesToWrite": 0,
        "numberOfFiles": context.number("names"),
        "replicationFactorPerFile": 1,
    }
    words = [word for name, number in numbers.items() for word in (f"-{name}", str(number))]
    main = "org.apache.hadoop.hdfs.NNBench"
    more = ("-baseDir", context.folder, "-readFileAfterOpen", "false")
    return mapreduce.run(context, main, "-operation", operation, *words, *more)


def _nnbench_input(context: Context) -> None:
    context.step("input")
    if context.text("operation") != "create_write":
        _nnbench(context, "create_write")


def _nnbench_run(context: Context) -> Result:
    context.step("run")
    jobs, said = _nnbench(context, context.text("operation"))
    failed = _FAILED.search(said)
    if failed and int(failed[1]):
        raise UserError(f"NNBench: {failed[1]} operations failed", "see the logs of its maps", 1)
    rate = _TRANSACTIONS.search(said)
    return {
        "asked_operations": context.number("maps") * context.number("names"),
        "transactions_per_s": float(rate[1]) if rate else None,
        "jobs": [job.answer() for job in jobs],
    }


DFSIO = Workload(
    name="testdfsio",
    about="writes or reads one large file a map",
    stresses="DataNodes, disks and network; no shuffle to speak of",
    parameters=(FILES, SIZE, MODE),
    run=_dfsio_run,
    check=_dfsio_check,
    prepare=_dfsio_input,
    bytes=_dfsio_size,
    steps=("input", "run"),
)
NNBENCH = Workload(
    name="nnbench",
    about="creates, opens, renames or deletes many files",
    stresses="the NameNode: RPC, lock, edit log",
    parameters=(MAPS, NAMES, OPERATION),
    run=_nnbench_run,
    prepare=_nnbench_input,
    steps=("input", "run"),
)
