"""iostrata place"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.arguments import JsonOption, QuietOption, StoreOption, commands, examples
from iostrata.cli.console import note, print_json, print_table
from iostrata.errors import UserError

if TYPE_CHECKING:
    from iostrata.place.classify import JobClass
    from iostrata.place.samples import JobSample
    from iostrata.place.zones import ZoneMap

group = typer.Typer(no_args_is_help=True, help="Says where files of jobs are to lie.")
commands.add_typer(group, name="place")
_BARS = " ▁▂▃▄▅▆▇█"


@group.callback()
def _several() -> None:
    """Says where files of jobs are to lie."""


@group.command(
    epilog=examples(
        "iostrata place classify                            all runs of the store",
        "iostrata place classify monday tuesday --why       two of them, and their curves",
        "iostrata place classify --by 'etl-(\\w+)' --json",
    )
)
def classify(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN…", help="All that have ended if left out.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="REGEX",
            help="What jobs of a kind share in the title or command of their run; its first group, "
            "if it has one. By default the words that are no path, option or number.",
        ),
    ] = "",
    beta: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Files are temporary where less of the most at a time is left."
        ),
    ] = 0.1,
    why: Annotated[
        bool, typer.Option("--why", help="Show the space of each run over time.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Says of each kind of job whether its files are temporary, and what its tasks wait for.

    Each recorded run of a kind has a vote. Without a majority files are unknown: leave them where
    they are, as those of jobs that were never recorded.
    """
    from iostrata.place.classify import classes

    found = classes(_samples(store, runs or [], _regex(by)), beta)
    if json:
        print_json(found)
        return
    if not found:
        note("no run here has a job that used 1 MiB or more")
        return
    print_table(
        ["jobs", "runs", "files are", "sure", "most at a time", "left", "bound by", "sure"],
        [_row(one) for one in found],
    )
    for one in found if why else ():
        print(f"\n{one.pattern}")
        print("\n".join(_curve(sample) for sample in one.samples))


@group.command(
    epilog=examples(
        "sudo iostrata place zones /dev/sdb                 reads 64 places in three passes",
        "iostrata place zones disk.img --svg zones.svg --json",
    )
)
def zones(
    disk: Annotated[Path, typer.Argument(metavar="DISK", help="A block device, or an image.")],
    places: Annotated[int, typer.Option(min=2, max=1024, help="Places to read at.")] = 64,
    passes: Annotated[int, typer.Option(min=1, max=100, help="How often each.")] = 3,
    read: Annotated[str, typer.Option(metavar="SIZE", help="Bytes in sequence at each.")] = "64MiB",
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a picture of rates by address.")
    ] = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Says how fast a disk is at each address, and which zones it has. Nothing is written to it.

    The outer zone of a turning disk is up to twice as fast as the inner one; others have no zones.
    """
    from iostrata.cli.files import whole_file
    from iostrata.place import picture, reading
    from iostrata.place.zones import zone_map
    from iostrata.text import bytes_of

    each = bytes_of(read)
    if not each:
        raise UserError(f"--read {read!r} is no size", "for example 64MiB")

    def step(done: int, at: int) -> None:
        if not quiet and at == 0:
            note(f"pass {done + 1} of {passes}")

    with reading.opened(disk) as one:
        if one.has_holes:
            note(f"{disk} has holes, which are on no disk: they look like a fast zone")
        where = reading.places_of(one.size, places, each)
        rates = reading.rates(one, where, each, passes, step)
        found = zone_map(str(disk), one.size, each, one.direct, where, rates)
    if svg:
        with whole_file(svg) as file:
            file.write(picture.svg(found).encode())
    if json:
        print_json(found)
    else:
        print("\n".join(_zone_lines(found)))


def _zone_lines(found: ZoneMap) -> list[str]:
    from iostrata.place.zones import megabytes
    from iostrata.text import percent, plural, size

    way = "past the page cache" if found.direct else "through the page cache"
    lines = [f"{found.disk}: {size(found.size)}, {plural(len(found.places), 'place')} read {way}"]
    first, *others = found.zones
    if not others:
        rate, noise = f"{megabytes(first.rate)} MB/s", percent(found.noise, 1)
        return [*lines, f"no zones: {rate} everywhere ({noise} of a place are noise)"]
    lines += [
        f"{size(zone.begin)} to {size(zone.end)}: {megabytes(zone.rate)} MB/s "
        f"({megabytes(zone.least)} to {megabytes(zone.most)})"
        for zone in found.zones
    ]
    return [*lines, f"the fastest zone is {found.ratio:.3g} times as fast as the slowest"]


def _regex(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise UserError(
            f"--by {text!r} is no regular expression: {error}", "as 'etl-(\\w+)'"
        ) from None


def _samples(
    store: Path | None, runs: Sequence[str], by: re.Pattern[str] | None
) -> list[JobSample]:
    from iostrata.cli.opening import traced_run
    from iostrata.place.samples import job_samples
    from iostrata.store.location import default_store
    from iostrata.store.runs import list_runs

    home = store or default_store()
    named = [*runs] or [run.name for run in list_runs(home) if run.end and run.state == "ok"]
    found: list[JobSample] = []
    for name in named:
        with traced_run(home, name) as traced:
            found += job_samples(traced.opened, by)
    return found


def _row(one: JobClass) -> list[str]:
    from iostrata.text import percent, size

    kept = sorted(sample.kept for sample in one.samples)
    span = f"{percent(kept[0])} to {percent(kept[-1])}" if len(kept) > 1 else percent(kept[0])
    sure = [percent(share) if share else "–" for share in (one.files_sure, one.bound_sure)]
    return [
        one.pattern,
        str(one.runs),
        one.files,
        sure[0],
        size(one.most),
        span,
        one.bound,
        sure[1],
    ]


def _curve(sample: JobSample) -> str:
    from iostrata.text import size

    last = len(_BARS) - 1
    bars = "".join(_BARS[-(-last * at // sample.most)] for at in sample.curve)
    name = f"{sample.run} {sample.job}" if sample.job else sample.run
    return f"  {bars}  {name}: {size(sample.most)} at most, {size(sample.left)} left"
