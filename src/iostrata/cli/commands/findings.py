"""iostrata findings"""

from __future__ import annotations

from typing import Annotated

import typer

from iostrata.cli.commands._arguments import JsonOption, RunArgument, StoreOption, examples
from iostrata.cli.console import print_json
from iostrata.cli.opening import opened_run


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata findings               of the latest run",
            "iostrata findings --details     with evidence, and the SQL that repeats it",
            "iostrata findings --json | jq '.findings[0].change'",
            "iostrata findings --rules       what is looked for",
        )
    )(findings)


def findings(
    run: RunArgument = None,
    details: Annotated[
        bool, typer.Option("--details", help="Evidence, its query, why, and when it is no advice.")
    ] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules; no run is read.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """What holds a run back, what to change, and what that would bring.

    A finding's share is the part of the run's time that its cause took: severe from 20 %, a warning
    from 8 %, a note from 3 %.
    """
    from iostrata.analyse.engine import DuckDb
    from iostrata.explain.rules import RULES
    from iostrata.show.findings import explained, findings_lines
    from iostrata.text import columns

    if rules:
        rows = [[rule.name, rule.title] for rule in RULES]
        print("\n".join(columns(["rule", "what it finds"], rows)))
        return
    with opened_run(store, run) as opened:
        if json:
            found = explained(DuckDb(opened), opened.run)
            print_json(found | {"incomplete": opened.incomplete})
        else:
            print("\n".join(findings_lines(DuckDb(opened), opened.run, details)).rstrip())
