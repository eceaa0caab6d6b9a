"""iostrata points"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.point_calls import UserPoint, calls_of_points, user_points
from iostrata.cli.answers import listed, listed_of_user, listed_row
from iostrata.cli.arguments import JsonOption, StoreOption, command
from iostrata.cli.console import note, print_json, print_table
from iostrata.cli.opening import traced_run
from iostrata.errors import UserError
from iostrata.schema.points import POINTS, Point
from iostrata.schema.users import full_name, read_user_points
from iostrata.schema.verified import point_key, verified_points
from iostrata.text import count

SHOWN = ("found", "missing", "other version", "of the JDK", "of Spark", "of HBase", "of Netty")


@command(
    "iostrata points                      all points, and how many tests call each",
    "iostrata points --fired my-run       how often a run called each",
    "iostrata points --fired latest --json",
    'iostrata points --check "$(hadoop classpath)"   the points that this Hadoop lacks',
    "iostrata points --check mine.toml    whether `record --points` would take it",
)
def points(
    fired: Annotated[
        str | None, typer.Option(help="Count the calls of each point in this run, or in `latest`.")
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="CLASSPATH|FILE.toml",
            help="Look the points up in jars, folders and DIR/*, or check a file of points.",
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Lists the methods that are traced.

    A point that no end-to-end test fires is shown as unverified; --json says why.
    With --check, it lists only those that a Hadoop lacks; exit code 1 says that one of them counts
    bytes.
    """
    if check is not None:
        if fired is not None:
            raise UserError("--check looks at a class path, --fired at a run", "choose one")
        if check.endswith(".toml"):
            _check_file(Path(check), json)
        else:
            _check(check, json)
        return
    counts: Counter[int] | None = None
    users: list[UserPoint] = []
    if fired is not None:
        name = None if fired == "latest" else fired
        with traced_run(store, name) as traced:
            engine = DuckDb(traced.opened)
            counts, users = calls_of_points(engine), user_points(engine, traced.opened.run)
    if json:
        calls = {} if counts is None else {point.id: counts[point.id] for point in POINTS}
        ours = [listed(point, calls.get(point.id)) for point in POINTS]
        print_json([*ours, *map(listed_of_user, users)])
        return
    header = ["id", "layer", "op", "mode", "tests" if counts is None else "calls", "method"]
    rows = [_row(point, counts) for point in POINTS]
    rows += [_row_of_user(point) for point in users]
    print_table(header, rows, {0} if counts is None else {0, 4})


def _check_file(file: Path, json: bool) -> None:
    """Prints the points of a user's file; raises UserError for what is wrong in it."""
    rows = read_user_points([file])
    if json:
        print_json([listed_row(row) for row in rows])
        return
    shown = [[row["layer"], row["op"], row["mode"], full_name(row)] for row in rows]
    print_table(["layer", "op", "mode", "method"], shown)


def _row_of_user(point: UserPoint) -> list[str]:
    shown = point.trouble or count(point.calls)
    return ["yours", point.layer, point.op, "", shown, point.method]


def _check(text: str, json: bool) -> None:
    """Prints what a class path lacks; exits with 1 when a point that counts bytes is missing."""
    from iostrata.record.classpath import ClassPath, check

    path = ClassPath(text)
    states = check(path)
    missing = [each for each in states if each.lacking]
    for entry in path.absent:
        note(f"{entry} in the class path does not exist")
    if json:
        print_json([listed(each.point, state=each) for each in states])
    else:
        if missing:
            rows = [[str(f.point.id), f.point.layer, f.state, _method(f.point)] for f in missing]
            print_table(["id", "layer", "state", "method"], rows, {0})
        counts = Counter("missing" if each.lacking else each.state for each in states)
        shown = ", ".join(f"{counts[name]} {name}" for name in SHOWN if counts[name])
        print(f"Hadoop {path.version() or 'of unknown version'}: {shown}")
    if any(each.point.bytes for each in missing):
        raise typer.Exit(1)


def _method(point: Point) -> str:
    return f"{point.cls}#{point.method}{point.desc}"


def _row(point: Point, counts: dict[int, int] | None) -> list[str]:
    if not point.makes_rows:
        shown = "identity"  # it makes no row: what it learns is in the others' columns
    elif counts is None:
        tests = verified_points().get(point_key(point), [])
        shown = f"{len(tests)}" if tests else "unverified"
    else:
        shown = count(counts[point.id]) if point.id in counts else "never fired"
    return [str(point.id), point.layer, point.op, point.mode, shown, _method(point)]
