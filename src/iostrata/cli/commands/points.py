"""iostrata points"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from iostrata.cli.commands._arguments import JsonOption, StoreOption, examples
from iostrata.cli.console import print_json, print_table
from iostrata.schema.points import POINTS, Point
from iostrata.schema.verified import point_key, verified_points
from iostrata.show.text import count
from iostrata.store.location import default_store
from iostrata.store.runs import find_run


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata points                      every point and what verifies it",
            "iostrata points --fired my-run       how often each was called in a run",
            "iostrata points --fired latest --json",
        )
    )(points)


def points(
    fired: Annotated[
        str | None, typer.Option(help="Count the calls of this run (`latest` for the latest).")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Lists the methods that are traced.

    A point that no end-to-end test has seen fire is shown as unverified.
    """
    counts = None
    if fired is not None:
        name = None if fired == "latest" else fired
        from iostrata.store.opened import OpenedRun

        with OpenedRun(find_run(store or default_store(), name)) as opened:
            rows = opened.rows('SELECT point, sum("count")::BIGINT AS n FROM sums GROUP BY point')
        counts = {int(row["point"]): int(row["n"]) for row in rows if row["point"] is not None}
    if json:
        print_json([_facts(point, counts) for point in POINTS])
        return
    header = ["id", "layer", "op", "mode", "tests" if counts is None else "calls", "method"]
    rows_ = [_row(point, counts) for point in POINTS]
    print_table(header, rows_, {0} if counts is None else {0, 4})


def _row(point: Point, counts: dict[int, int] | None) -> list[str]:
    if not point.makes_rows:
        shown = "identity"  # it makes no row: what it learns is in the others' columns
    elif counts is None:
        tests = verified_points().get(point_key(point), [])
        shown = f"{len(tests)}" if tests else "unverified"
    else:
        shown = count(counts[point.id]) if point.id in counts else "never fired"
    method = f"{point.cls.replace('/', '.')}#{point.method}{point.desc}"
    return [str(point.id), point.layer, point.op, point.mode, shown, method]


def _facts(point: Point, counts: dict[int, int] | None) -> dict[str, Any]:
    tests = verified_points().get(point_key(point), [])
    facts = {**point._asdict(), "class": point.cls, "verified_by": tests}
    del facts["cls"]
    if counts is not None:
        facts["calls"] = counts.get(point.id, 0)
    return facts
