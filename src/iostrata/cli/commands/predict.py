"""iostrata predict"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.arguments import JsonOption, StoreOption, command
from iostrata.cli.console import note, print_json
from iostrata.errors import UserError

if TYPE_CHECKING:
    from iostrata.predict.program import Program
    from iostrata.predict.ranking import Forecast


@command(
    "iostrata predict profiles/disk/model.json operation=read access=90-10 size=1GiB clients=2",
    "iostrata predict profiles/disk/model.json operation=write size=200MiB clients=1 --bytes 5GiB",
    "iostrata predict disk/model.json ssd/model.json operation=read size=1GiB --bytes 5TiB "
    "--price disk=0.00005 --price ssd=0.0002",
    "iostrata predict disk/model.json ssd/model.json --run nightly --folder /data",
)
def predict(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL… NAME=VALUE…",
            help="model.json of iostrata fit, of several storages to rank them; of each dimension "
            "its value.",
        ),
    ],
    bytes_: Annotated[
        str, typer.Option("--bytes", metavar="SIZE", help="Say how long that takes, too.")
    ] = "",
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER", help="Of a GB and an hour, by storage: cheapest first."
        ),
    ] = None,
    run: Annotated[
        str,
        typer.Option(metavar="RUN", help="The load is what the programs of this run did at files."),
    ] = "",
    folder: Annotated[
        str, typer.Option(metavar="FOLDER", help="With --run: only files in there.")
    ] = "",
    extrapolate: Annotated[
        bool, typer.Option("--extrapolate", help="Also beyond what was profiled.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Says how fast a storage is at what was not measured, with an interval; or ranks several.

    With --run, how long a recorded program takes there: what it computes, the trace says.
    """
    from iostrata.predict.model import read_model
    from iostrata.predict.ranking import rank, rank_program
    from iostrata.records import builtins
    from iostrata.text import bytes_of

    models = [read_model(Path(word)) for word in words if "=" not in word]
    if not models:
        raise UserError("no model is named", "make one: iostrata fit PROFILE")
    size = bytes_of(bytes_) if bytes_ else None
    if bytes_ and not size:
        raise UserError(f"--bytes {bytes_!r} is no size", "for example 5GiB")
    if folder and not run:
        raise UserError("--folder is of a run", "add --run RUN")
    if size and run:
        raise UserError("--bytes and --run are two loads", "say one of them")
    point, prices = [word for word in words if "=" in word], _prices(price or [])
    if run:
        program = _program(store, run, folder, silent=json)
        found = rank_program(models, program, point, prices)
    else:
        found = rank(models, point, size, prices)
    for one in found:
        _say_what_is_outside(one, extrapolate, silent=json)
    if json:
        print_json([builtins(one) for one in found] if len(found) > 1 else builtins(found[0]))
        return
    for one in found:
        print(_line(one, bytes_ or run, len(found) > 1))
    if doubtful := [one.name for one in found if one.overlaps]:
        print(f"intervals overlap with that of {found[0].name}: {', '.join(doubtful)}")


def _program(store: Path | None, run: str, folder: str, silent: bool) -> Program:
    """A recorded one; says what was recorded."""
    from iostrata.cli.opening import traced_run
    from iostrata.predict.program import recorded_program
    from iostrata.text import seconds, size

    with traced_run(store, run) as traced:
        found = recorded_program(traced.opened, str(Path(folder).absolute()) if folder else "")
    if not silent:
        note(
            f"{run}: {seconds(found.recorded)} as recorded, {seconds(round(found.rest))} without "
            f"waits for files; moves {size(round(found.bytes))}"
        )
        if found.again:
            note(f"{size(round(found.again))} were read again: the page cache has them")
        if found.unsynced:
            note(
                f"{size(found.unsynced)} were written and never synced: they count as if they "
                "stayed in memory"
            )
    return found


def _prices(words: list[str]) -> dict[str, float]:
    found = {}
    for word in words:
        name, _, text = word.rpartition("=")
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = math.nan
        if not name or not 0 <= found[name] < math.inf:
            raise UserError(f"--price {word!r} is no price", "for example disk=0.0001")
    return found


def _say_what_is_outside(one: Forecast, extrapolate: bool, silent: bool) -> None:
    outside = "; ".join(one.outside)
    if outside and not extrapolate:
        raise UserError(
            f"beyond the profile of {one.name}: {outside}",
            "profile that, too, or add --extrapolate",
        )
    if outside and not silent:
        note(f"beyond the profile of {one.name}: {outside}")


def _line(one: Forecast, size: str, named: bool) -> str:
    from iostrata.predict.model import COVERAGE
    from iostrata.text import percent, seconds

    rate, low, high = (f"{rate / 1e6:.4g} MB/s" for rate in (one.throughput, one.low, one.high))
    parts = [f"{rate} ({low} to {high}, {percent(COVERAGE)})"]
    if one.time and one.least and one.most:
        parts.append(f"{size}: {seconds(one.time)} ({seconds(one.least)} to {seconds(one.most)})")
    if one.moving:
        parts[-1] += f", of which {seconds(one.moving)} are what its bytes take"
    if one.price is not None:
        parts.append(f"price {one.price:.4g}")
    if named:
        return f"{one.name}: {'; '.join(parts)}"
    return "\n".join(parts)
