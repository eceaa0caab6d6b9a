"""iostrata export"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import RunArgument, StoreOption, command
from iostrata.cli.console import note, progress
from iostrata.cli.files import whole_file
from iostrata.cli.opening import traced_run
from iostrata.errors import InternalError, UserError
from iostrata.show.export.formats import FORMATS, ExportFormat
from iostrata.show.export.selection import TABLES, Selection
from iostrata.show.export.source import Source
from iostrata.text import count, plural, size

_ENDPOINT = "http://127.0.0.1:4318"


@command(
    "iostrata export perfetto             the latest run, in iostrata-RUN.pftrace",
    "iostrata export speedscope --task attempt_1_0001_m_000000_0",
    "iostrata export otlp                 to a receiver on this machine",
    "iostrata export strace -o - --layer java | head",
    "iostrata export csv --table system -o hosts.csv",
)
def export(
    format: Annotated[  # noqa: A002
        str,
        typer.Argument(
            help=" · ".join(f"{each.name}: {each.help}" for each in FORMATS.values()),
            show_default=False,
        ),
    ],
    run: RunArgument = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file, or - for standard output.  [iostrata-RUN.*]"
        ),
    ] = None,
    begin: Annotated[
        float | None,
        typer.Option("--from", help="Only calls that end after this second of the run."),
    ] = None,
    end: Annotated[
        float | None,
        typer.Option("--to", help="Only calls that begin before this second of the run."),
    ] = None,
    job: Annotated[str | None, typer.Option(help="Only calls of this job.")] = None,
    task: Annotated[str | None, typer.Option(help="Only calls of this task attempt.")] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(help="Only calls of this layer; may be repeated."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help=f"The table that csv writes: {', '.join(TABLES)}.  [calls]"),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="The URL of the receiver to which otlp sends spans unless -o is given.  "
            f"[$OTEL_EXPORTER_OTLP_ENDPOINT, or {_ENDPOINT}]"
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Writes the calls of a run for another tool.

    Only calls that were recorded individually are written. Standard error says how many calls are
    missing because they were only summed.
    """
    chosen = FORMATS.named(format)
    if table is not None and format != "csv":
        raise UserError(f"{format} has no tables", "--table is for csv")
    if endpoint is not None and format != "otlp":
        raise UserError(f"{format} is sent nowhere", "--endpoint is for otlp")
    selection = Selection(table or "calls", begin, end, job, task, tuple(layer or ()))
    with traced_run(store, run) as traced:
        with progress(("export",), quiet=False) as step:
            source = Source(traced.opened, selection, chosen.pauses, step)
            _check_any(source)
            if format == "otlp" and output is None:
                place = endpoint or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _ENDPOINT
                written = _send(source, place)
            else:
                place, written = _write(source, chosen, output)
            if written != source.count:
                raise InternalError(f"{written} {chosen.unit}s of {source.count} were written")
        note(f"{plural(written, chosen.unit)} of run {source.run.name}, {place}")
        _say_missing(source)


def _check_any(source: Source) -> None:
    if source.count or source.selection.table != "calls":
        return
    options = " ".join(f"{option} {value}" for option, value in source.selection.given().items())
    raise UserError(
        f"no call of run {source.run.name} was recorded individually"
        + (f" for {options}" * bool(options)),
        "iostrata summary says what is in the run",
    )


def _send(source: Source, endpoint: str) -> int:
    from iostrata.show.export.otlp import batches, request
    from iostrata.show.export.otlp_client import OtlpClient

    sent = 0
    with OtlpClient(endpoint, _headers()) as client:
        for batch in batches(source):
            client.send(request(source.run.name, batch))
            sent += len(batch.calls)
    if client.rejected:
        raise UserError(
            f"{endpoint} rejected {plural(client.rejected, 'span')} of {count(sent)}",
            "see the receiver's log",
        )
    return sent


def _headers() -> dict[str, str]:
    """`NAME=VALUE,…` of $OTEL_EXPORTER_OTLP_HEADERS."""
    pairs = os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",")
    return {
        name.strip(): value.strip() for name, _, value in (p.partition("=") for p in pairs) if name
    }


def _write(source: Source, chosen: ExportFormat, output: Path | None) -> tuple[str, int]:
    """Writes the file whole or not at all; where it is and how large, and how many calls."""
    if str(output) == "-":
        return "standard output", _print(source, chosen)
    path = (output or Path(f"iostrata-{source.run.name}{chosen.suffix}")).absolute()
    with whole_file(path) as file:
        written = chosen.writer()(source, file)
    print(path)
    return size(path.stat().st_size), written


def _print(source: Source, chosen: ExportFormat) -> int:
    try:
        written = chosen.writer()(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        # Whoever reads has seen enough; Python would flush once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(128 + signal.SIGPIPE) from error
    return written


def _say_missing(source: Source) -> None:
    missing = source.only_summed() if source.selection.table == "calls" else []
    layers = "; ".join(
        f"{row.layer} {plural(row.calls, 'call')} ({size(row.bytes)})" for row in missing
    )
    if missing:
        when = " at any time" if source.selection.windowed else ""
        note(f"not in it, as they were only summed{when}: {layers}")
