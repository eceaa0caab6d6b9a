"""What is seen of a recording: one live line while it lasts, three lines at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from iostrata.cli.console import complain, note
from iostrata.cli.recordline import RecordOptions
from iostrata.errors import UserError
from iostrata.record.collector import NODE_DIR, Collector, collector_of, distrust
from iostrata.record.command import NotStartedError
from iostrata.record.protocol import RunProgress
from iostrata.record.session import (
    COULD_NOT_RECORD,
    Act,
    Recorded,
    RecordRequest,
    Show,
    new_run_name,
    record,
)
from iostrata.schema.detail import asked_for
from iostrata.show.completeness import Picture, completeness_lines, why_empty
from iostrata.store.coverage import ReportedCoverage, coverage
from iostrata.store.location import check_run_name, default_store
from iostrata.store.tags import tags_of
from iostrata.text import count, plural, printable, seconds, size


def record_command(options: RecordOptions, act: Callable[[str], Act] | None = None) -> NoReturn:
    """Does what `iostrata record` is asked for and ends with the exit code of its command; raises
    UserError where it could not be started. `act`: what is done in place of the command, for the
    run of that name.
    """
    try:
        request = request_for(options)
        request = replace(request, act=act and act(request.run))
        with recording_line(options.quiet) as show:
            recorded = record(request, show)
    except NotStartedError:
        raise
    except UserError as error:
        raise UserError(error.message, error.remedy, COULD_NOT_RECORD) from error
    if recorded.message:
        note(recorded.message)
    if not options.quiet:
        conclude(recorded)
    sys.exit(recorded.code)


@contextmanager
def recording_line(quiet: bool) -> Iterator[Show | None]:
    """The live line on standard error, and what replaces it; None when that is no terminal or
    `quiet`.
    """
    begin = time.monotonic()
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.live import Live
    from rich.text import Text

    from iostrata.cli.terminal import err

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
    if not recorded.published:
        return "not all of the run is in the store, so nobody knows how complete it is"
    if recorded.reported is not None:
        return _reported_line(recorded, recorded.reported)
    from iostrata.cli.opening import traced_run

    try:
        with traced_run(recorded.store, recorded.run, say=False) as run:
            return _first(run.completeness, run.empty)
    except UserError as error:
        complain(error.message, error.remedy)
        return "the run cannot be read back"


def _reported_line(recorded: Recorded, reported: ReportedCoverage) -> str:
    """Of what the collector reported, without reading the run: orphans are not known."""
    picture = Picture(
        processes=coverage(recorded.cluster, reported.processes, reported.tasks),
        layers=reported.layers,
        of_jobs=reported.of_jobs,
        dropped=reported.sum_of("dropped"),
        collapsed=reported.sum_of("collapsed"),
        lost=reported.sum_of("lost"),
        rejected=reported.sum_of("rejected"),
        faulted_points=reported.faulted_points,
        unfinished=reported.unfinished,
    )
    empty = "" if reported.layers else why_empty(picture, recorded.state, recorded.progress.events)
    return _first(completeness_lines(picture), empty)


def _first(completeness: list[str], empty: str) -> str:
    first = "; ".join(completeness[:4])
    return f"{first}: {empty}" if empty else first


def request_for(options: RecordOptions) -> RecordRequest:
    """What is to be recorded and how. Raises UserError."""
    request = _request(options)
    points: list[dict[str, str]] = []
    points_off: list[int] = []
    if options.points:
        from iostrata.schema.users import read_user_points

        points = read_user_points(options.points)
    if options.without_point:
        from iostrata.schema.names import points_named

        points_off = points_named(options.without_point)
    detail = asked_for(options.level, options.sampling, options.budget)
    tags = tags_of(options.tag)
    return replace(
        request,
        points=points,
        points_off=points_off,
        detail=detail,
        tags=tags,
        native=options.native,
        devices=options.devices,
    )


def _request(options: RecordOptions) -> RecordRequest:
    """What is to be recorded and where: a lab's collector, one that is named, the node's, or one
    of one's own.
    """
    command, directory, lab, private = options.command, options.dir, options.lab, options.private
    if directory is not None and (private or lab is not None):
        raise UserError("--dir names a collector already", "leave --lab or --private out")
    name = check_run_name(options.run) if options.run else new_run_name()
    own = (options.store or default_store()).absolute()
    if lab is not None:
        return _request_on_lab(options, lab, own, name)
    collector = None if private else collector_of(NODE_DIR)
    if directory is not None:
        remedy = f"start one: iostrata-native collect --dir {directory} --store … --spool …"
        collector = _needed(directory.absolute(), f"no collector is alive in {directory}", remedy)
    return RecordRequest(command, own, name, collector)


def _request_on_lab(options: RecordOptions, lab: str, store: Path, name: str) -> RecordRequest:
    from iostrata.record.clusters import cluster_named

    cluster = cluster_named(lab)
    collector = None
    if not options.private:
        remedy = "iostrata lab up hadoop"
        collector = _needed(cluster.directory, f"lab {lab} records nothing", remedy)
    return RecordRequest(
        options.command,
        store,
        name,
        collector,
        cluster.environment(),
        cluster.daemons(),
        survey=cluster.survey,
    )


def _needed(directory: Path, message: str, remedy: str) -> Collector:
    collector = collector_of(directory)
    if collector is None:
        raise distrust(directory) or UserError(message, remedy)
    return collector
