"""iostrata points"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from iostrata.cli.commands._arguments import JsonOption, StoreOption, examples
from iostrata.cli.console import note, print_json, print_table
from iostrata.cli.opening import opened_run
from iostrata.errors import UserError
from iostrata.schema.pointfile import USER_FIELDS
from iostrata.schema.points import POINTS, Point
from iostrata.schema.users import full_name, read_user_points
from iostrata.schema.verified import point_key, verified_points
from iostrata.show.userpoints import UserPoint, user_points
from iostrata.text import count

SHOWN = ("found", "missing", "other version", "of the JDK", "of Spark")


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata points                      every point and what verifies it",
            "iostrata points --fired my-run       how often each was called in a run",
            "iostrata points --fired latest --json",
            'iostrata points --check "$(hadoop classpath)"   what this Hadoop lacks',
            "iostrata points --check mine.toml    would `record --points mine.toml` take it",
        )
    )(points)


def points(
    fired: Annotated[
        str | None, typer.Option(help="Count the calls of this run (`latest` for the latest).")
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="CLASSPATH|FILE.toml",
            help="Look the points up in jars, folders and DIR/*, exit code 1 if data is missing; "
            "or check a file of points.",
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
    counts = None
    users: list[UserPoint] = []
    if fired is not None:
        name = None if fired == "latest" else fired
        with opened_run(store, name) as opened:
            rows = opened.rows('SELECT point, sum("count")::BIGINT AS n FROM sums GROUP BY point')
            users = user_points(opened)
        counts = {int(row["point"]): int(row["n"]) for row in rows if row["point"] is not None}
    if json:
        print_json([*(_facts(point, counts) for point in POINTS), *(u.as_dict() for u in users)])
        return
    header = ["id", "layer", "op", "mode", "tests" if counts is None else "calls", "method"]
    rows_ = [_row(point, counts) for point in POINTS]
    rows_ += [_row_of_user(point) for point in users]
    print_table(header, rows_, {0} if counts is None else {0, 4})


def _check_file(file: Path, json: bool) -> None:
    """Prints the points of a user's file; raises UserError for what is wrong in it."""
    rows = read_user_points([file])
    if json:
        print_json([{key: row[key] for key in USER_FIELDS} for row in rows])
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
    found = check(path)
    missing = [one for one in found if one.lacking]
    for entry in path.absent:
        note(f"{entry} in the class path does not exist")
    if json:
        print_json(
            [{**_facts(f.point, None), "state": f.state, "source": f.source or None} for f in found]
        )
    else:
        if missing:
            rows = [[str(f.point.id), f.point.layer, f.state, _method(f.point)] for f in missing]
            print_table(["id", "layer", "state", "method"], rows, {0})
        states = Counter("missing" if one.lacking else one.state for one in found)
        shown = ", ".join(f"{states[name]} {name}" for name in SHOWN if states[name])
        print(f"Hadoop {path.version() or 'of unknown version'}: {shown}")
    if any(one.point.bytes for one in missing):
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


def _facts(point: Point, counts: dict[int, int] | None) -> dict[str, Any]:
    tests = verified_points().get(point_key(point), [])
    facts = {**point._asdict(), "class": point.cls, "verified_by": tests}
    del facts["cls"]
    if counts is not None:
        facts["calls"] = counts.get(point.id, 0)
    return facts
