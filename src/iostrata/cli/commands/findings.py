"""iostrata findings"""

from __future__ import annotations

from typing import Annotated

import typer

from iostrata.cli.arguments import (
    JsonOption,
    QuietOption,
    RunArgument,
    StoreOption,
    command,
)
from iostrata.cli.console import print_json, progress
from iostrata.cli.opening import traced_run


@command(
    "iostrata findings               of the latest run",
    "iostrata findings --details     with the evidence, the reason, and when it does not apply",
    "iostrata findings --sql         with the query that repeats the evidence",
    "iostrata findings --json | jq '.findings[0].change'",
    "iostrata findings --rules       the causes that it looks for",
)
def findings(
    run: RunArgument = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details", help="Also show evidence, the reason, and when it does not apply."
        ),
    ] = False,
    sql: Annotated[
        bool, typer.Option("--sql", help="Also show the query that repeats the evidence.")
    ] = False,
    rules: Annotated[
        bool, typer.Option("--rules", help="List the rules, without reading a run.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Says what holds a run back, what to change, and what the change is expected to bring.

    The share of a finding is the part of the run's time that its cause took. A finding is severe
    from 20 %, a warning from 8 %, and a note from 3 %.
    """
    from iostrata.explain.rank import RULE_STEPS
    from iostrata.explain.rules import RULES
    from iostrata.show.findings import findings_lines
    from iostrata.text import columns

    if rules:
        rows = [[rule.name, rule.title] for rule in RULES.values()]
        print("\n".join(columns(["rule", "what it finds"], rows)))
        return
    with (
        traced_run(store, run) as traced,
        progress(("sums", *RULE_STEPS), quiet) as step,
    ):
        step("sums")
        traced.opened.gather_sums()
        explanation = traced.explain(step)
    if json:
        print_json(explanation)
    else:
        print("\n".join(findings_lines(explanation, details, sql)).rstrip())
