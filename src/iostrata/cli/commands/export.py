"""iostrata export"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.commands._arguments import RunArgument, StoreOption, examples
from iostrata.cli.console import note
from iostrata.cli.files import whole_file
from iostrata.cli.opening import opened_run
from iostrata.cli.terminal import err
from iostrata.errors import InternalError, UserError
from iostrata.show.export.formats import FORMATS, Format, find_format
from iostrata.show.export.selection import TABLES, Selection
from iostrata.show.export.source import Source
from iostrata.text import count, plural, size

_ENDPOINT = "http://127.0.0.1:4318"
Advance = Callable[[int], None]


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata export perfetto             the latest run, to iostrata-RUN.pftrace",
            "iostrata export speedscope --task attempt_1_0001_m_000000_0",
            "iostrata export otlp                 to a receiver on this machine",
            "iostrata export strace -o - --layer java | head",
            "iostrata export csv --table system -o hosts.csv",
        )
    )(export)


def export(
    format: Annotated[  # noqa: A002
        str,
        typer.Argument(
            help=" · ".join(f"{known.name}: {known.help}" for known in FORMATS.values()),
            show_default=False,
        ),
    ],
    run: RunArgument = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file, - for standard output; iostrata-RUN.* here."
        ),
    ] = None,
    begin: Annotated[
        float | None, typer.Option("--from", help="Only what ends after this second of the run.")
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", help="Only what begins before this second of the run.")
    ] = None,
    job: Annotated[str | None, typer.Option(help="Only calls of this job.")] = None,
    task: Annotated[str | None, typer.Option(help="Only calls of this task attempt.")] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(help="Only this layer; may be repeated."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help=f"csv: {', '.join(TABLES)}.  [calls]"),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="otlp: URL of the receiver, unless -o is given; "
            f"$OTEL_EXPORTER_OTLP_ENDPOINT, else {_ENDPOINT}."
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Writes the calls of a run, kept one by one, for another tool.

    What was kept in sums only is not in it: how much that is stands on standard error.
    """
    known = find_format(format)
    if table is not None and format != "csv":
        raise UserError(f"{format} has no tables", "--table is for csv")
    if endpoint is not None and format != "otlp":
        raise UserError(f"{format} is sent nowhere", "--endpoint is for otlp")
    chosen = Selection(table or "calls", begin, end, job, task, tuple(layer or ()))
    with opened_run(store, run) as opened:
        total = _total(Source(opened, chosen, pauses=known.pauses))
        with _progress(total) as advance:
            source = Source(opened, chosen, known.pauses, advance)
            if format == "otlp" and output is None:
                place = endpoint or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _ENDPOINT
                written = _send(source, place)
            else:
                place, written = _write(source, known, output)
        if written != total:
            raise InternalError(f"{written} {known.unit}s of {total} calls were written")
        note(f"{plural(written, known.unit)} of run {opened.run.name}, {place}")
        _say_missing(source)


def _total(source: Source) -> int:
    total = source.count()
    if total == 0 and source.chosen.table == "calls":
        options = " ".join(f"{option} {value}" for option, value in source.chosen.given().items())
        raise UserError(
            f"no call of run {source.run.name} was kept one by one"
            + (f" for {options}" * bool(options)),
            "iostrata summary says what is in the run",
        )
    return total


@contextmanager
def _progress(total: int) -> Iterator[Advance]:
    """A bar on standard error, where somebody looks at it."""
    from rich.progress import Progress

    with Progress(console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("export", total=total)
        yield lambda done: bar.advance(task, done)


def _send(source: Source, endpoint: str) -> int:
    from iostrata.show.export.otlp import batches, request
    from iostrata.show.export.receiver import Receiver

    sent = 0
    with Receiver(endpoint, _headers()) as receiver:
        for batch in batches(source):
            receiver.send(request(source.run.name, batch))
            sent += len(batch.calls)
    if receiver.rejected:
        raise UserError(
            f"{endpoint} rejected {plural(receiver.rejected, 'span')} of {count(sent)}",
            "see the receiver's log",
        )
    return sent


def _headers() -> dict[str, str]:
    """`NAME=VALUE,…` of $OTEL_EXPORTER_OTLP_HEADERS."""
    pairs = os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",")
    return {
        name.strip(): value.strip() for name, _, value in (p.partition("=") for p in pairs) if name
    }


def _write(source: Source, known: Format, output: Path | None) -> tuple[str, int]:
    """Writes the file whole or not at all; where it is and how large, and how many calls."""
    if str(output) == "-":
        return "standard output", _print(source, known)
    path = (output or Path(f"iostrata-{source.run.name}{known.suffix}")).absolute()
    with whole_file(path) as file:
        written = known.writer()(source, file)
    print(path)
    return size(path.stat().st_size), written


def _print(source: Source, known: Format) -> int:
    try:
        written = known.writer()(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        # Whoever reads has seen enough; Python would flush once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(128 + signal.SIGPIPE) from error
    return written


def _say_missing(source: Source) -> None:
    if source.chosen.table != "calls":
        return
    missing = source.only_summed()
    layers = "; ".join(
        f"{row['layer']} {plural(row['calls'], 'call')} ({size(row['bytes'])})" for row in missing
    )
    if missing:
        when = " at any time" if source.chosen.windowed else ""
        note(f"not in it, as they were only summed{when}: {layers}")
