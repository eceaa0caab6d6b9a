"""iostrata findings"""

from __future__ import annotations

from typing import Annotated

import typer

from iostrata.cli.commands._arguments import (
    JsonOption,
    QuietOption,
    RunArgument,
    StoreOption,
    examples,
)
from iostrata.cli.console import print_json, progress
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
    quiet: QuietOption = False,
) -> None:
    """What holds a run back, what to change, and what that would bring.

    A finding's share is the part of the run's time that its cause took: severe from 20 %, a warning
    from 8 %, a note from 3 %.
    """
    from iostrata.explain.rank import RULE_STEPS
    from iostrata.explain.rules import RULES
    from iostrata.explain.verdict import explanation
    from iostrata.records import builtins
    from iostrata.show.findings import findings_lines
    from iostrata.text import columns

    if rules:
        rows = [[rule.name, rule.title] for rule in RULES]
        print("\n".join(columns(["rule", "what it finds"], rows)))
        return
    with (
        opened_run(store, run) as opened,
        progress(("sums", *RULE_STEPS), quiet) as step,
    ):
        step("sums")
        opened.gather_sums()
        found = explanation(opened, step)
    if json:
        print_json(builtins(found))
    else:
        print("\n".join(findings_lines(found, details)).rstrip())
