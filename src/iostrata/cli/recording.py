"""What is seen of a recording: one live line while it lasts, three lines at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.live import Live
from rich.text import Text

from iostrata.cli.console import complain, note
from iostrata.cli.opening import traced_run
from iostrata.cli.terminal import err
from iostrata.errors import UserError
from iostrata.record.clusters import cluster_named
from iostrata.record.collector import NODE_DIR, Collector, collector_of
from iostrata.record.protocol import RunProgress
from iostrata.record.session import Recorded, RecordRequest, new_run_name
from iostrata.store.location import check_run_name, default_store
from iostrata.text import count, plural, printable, seconds, size


@contextmanager
def recording_line(quiet: bool) -> Iterator[Callable[[RunProgress], None]]:
    """The live line on standard error, and what replaces it; nothing when that is no terminal or
    `quiet`.
    """
    begin = time.monotonic()
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    # redirect_*: the command writes to the terminal itself; only our own line is ours.
    with Live(
        console=err,
        refresh_per_second=4,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as live:

        def show(progress: RunProgress) -> None:
            elapsed = seconds(int((time.monotonic() - begin) * 1e9))
            live.update(Text(progress_line(progress, elapsed), style="dim"))

        yield show


def progress_line(progress: RunProgress, elapsed: str) -> str:
    """`recording 12.00 s · 3 processes · 1 024 events · 12.0 KiB · 0 dropped`."""
    return printable(
        f"{progress.state or 'starting'} {elapsed} · {plural(progress.processes, 'process')} · "
        f"{plural(progress.events, 'event')} · {size(progress.bytes)} · "
        f"{count(progress.dropped)} dropped"
    )


def conclude(recorded: Recorded) -> None:
    """Three lines on standard error: how complete, how much, what to do next."""
    progress = recorded.progress
    note(_first_line(recorded))
    note(
        f"run {recorded.run} {recorded.state}, exit {recorded.code}, {recorded.duration:.1f} s, "
        f"{plural(progress.events, 'event')}, {size(progress.bytes)}, "
        f"{count(progress.dropped)} dropped"
    )
    note(f"see it: iostrata summary {recorded.run}")


def _first_line(recorded: Recorded) -> str:
    try:
        with traced_run(recorded.store, recorded.run, say=False) as run:
            first = "; ".join(run.completeness[:4])
            return f"{first}: {run.empty}" if run.empty else first
    except UserError as error:
        complain(error.message, error.remedy)
        return "the run cannot be read back"


def request_for(
    command: list[str],
    directory: Path | None,
    lab: str | None,
    run: str | None,
    store: Path | None,
    private: bool,
) -> RecordRequest:
    """What is to be recorded and where: a lab's collector, one that is named, the node's, or one
    of one's own. Raises UserError.
    """
    if directory is not None and (private or lab is not None):
        raise UserError("--dir names a collector already", "leave --lab or --private out")
    name = check_run_name(run) if run else new_run_name()
    own = (store or default_store()).absolute()
    if lab is not None:
        cluster = cluster_named(lab)
        collector = None
        if not private:
            remedy = "iostrata lab up hadoop"
            collector = _needed(cluster.directory, f"lab {lab} records nothing", remedy)
        environment, expect = cluster.environment(), cluster.daemons()
        return RecordRequest(
            command, own, name, collector, environment, expect, survey=cluster.survey
        )
    if directory is not None:
        remedy = f"start one: iostrata-native collect --dir {directory} --store … --spool …"
        collector = _needed(directory.absolute(), f"no collector is alive in {directory}", remedy)
    else:
        collector = None if private else collector_of(NODE_DIR)
    return RecordRequest(command, own, name, collector)


def _needed(directory: Path, message: str, remedy: str) -> Collector:
    collector = collector_of(directory)
    if collector is None:
        raise UserError(message, remedy)
    return collector
