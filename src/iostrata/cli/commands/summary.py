"""iostrata summary"""

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
    "iostrata summary                     the latest run",
    "iostrata summary 20260301-101500-a1b2",
    "iostrata summary --full              operations, sizes, latencies, targets, tasks",
    "iostrata summary --json | jq '.layers[]'",
)
def summary(
    run: RunArgument = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show all that there is, of whatever length.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Says what held a run back, how completely it was traced, and what it did, on one screen.

    Totals are exact, whatever detail was dropped.
    The time of a layer is summed over threads; ~ marks times that sampled clocks estimate.
    A call within another one of its layer and operation is a part of that when calls are timed.
    Median, 95 % and 99 % of the time of calls are at most 3 % off.
    """
    from iostrata.analyse.summary import SUMMARY_STEPS
    from iostrata.explain.rank import RULE_STEPS

    with traced_run(store, run, say=False) as traced:
        if json:
            with progress(SUMMARY_STEPS, quiet) as step:
                whole = traced.summarize(step)
            print_json(whole)
        else:
            with progress((*SUMMARY_STEPS, *RULE_STEPS), quiet) as step:
                text = traced.text(step, full)
            print(text)
