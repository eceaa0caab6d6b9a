"""iostrata demo"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import examples
from iostrata.cli.console import note

LAB = "demo"
JOB = ("hadoop", "org.apache.hadoop.fs.TestDFSIO", "-write", "-nrFiles", "2", "-size", "16MB")


def register(app: typer.Typer) -> None:
    app.command(epilog=examples("iostrata demo", "iostrata demo --keep"))(demo)


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the cluster running.")] = False,
) -> None:
    """Records a real MapReduce job on a real cluster and shows what it did.

    Starts HDFS and YARN on loopback, runs Hadoop's own TestDFSIO (2 files of 16 MB), prints the
    summary, writes the report, and leaves nothing behind but the run and that file.
    """
    from iostrata_lab.recording import bring_up, take_down

    clock = _Clock()
    clock.begin("cluster: HDFS and YARN with the agent, off")
    bring_up(LAB, datanodes=1, agent=True)
    try:
        code, report = _record_and_show(clock)
    finally:
        if not keep:
            clock.begin("cluster down")
            take_down(LAB)
    clock.end()
    _what_next(keep)
    clock.report()
    print(f"\nReport: {report}")
    sys.exit(code)


def _record_and_show(clock: _Clock) -> tuple[int, Path]:
    from iostrata.cli.commands.report import write_page
    from iostrata.cli.opening import traced_run
    from iostrata.cli.recording import recording_line, request_for
    from iostrata.cli.recordline import RecordOptions
    from iostrata.record.session import record

    clock.begin(f"record: {' '.join(JOB)}")
    request = request_for(RecordOptions(list(JOB), lab=LAB, level="record"))  # every layer
    with recording_line(quiet=False) as show:
        recorded = record(request, show)
    clock.begin("summary")
    with traced_run(None, recorded.run, say=False) as run:
        print(run.text())
        clock.begin("report")
        report = write_page(run.report())
    return recorded.code, report


def _what_next(keep: bool) -> None:
    print(
        "\nThree things to try next:\n"
        "  iostrata report --open\n"
        "  iostrata findings --details\n"
        '  iostrata query "SELECT role, layer, sum(bytes) FROM sums GROUP BY ALL ORDER BY ALL"'
    )
    if keep:
        print(f"Clean up: iostrata lab down {LAB}")


class _Clock:
    """Says what begins, and at the end how long each step took."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._steps: list[tuple[str, float]] = []

    def begin(self, step: str) -> None:
        self._steps.append((step, time.monotonic()))
        note(f"{time.monotonic() - self._start:6.1f} s  {step}")

    def end(self) -> None:
        self._steps.append(("", time.monotonic()))

    def report(self) -> None:
        for (step, begun), (_, ended) in zip(self._steps, self._steps[1:], strict=False):
            note(f"{ended - begun:6.1f} s  {step}")
        note(f"{time.monotonic() - self._start:6.1f} s  total")
