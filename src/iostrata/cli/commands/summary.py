"""iostrata summary"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from iostrata.cli.commands._arguments import (
    JsonOption,
    QuietOption,
    RunArgument,
    StoreOption,
    examples,
)
from iostrata.cli.console import print_json, progress
from iostrata.progress import Progress, silent
from iostrata.store.location import default_store
from iostrata.store.runs import find_run

if TYPE_CHECKING:
    from iostrata.store.opened import OpenedRun


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata summary                     the latest run",
            "iostrata summary 20260301-101500-a1b2",
            "iostrata summary --json | jq '.layers[]'",
        )
    )(summary)


def summary(
    run: RunArgument = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Says what a run did, how completely it was traced, and what held it back.

    Totals are exact, whatever detail was dropped.
    The time of a layer is summed over threads; ~ marks times that sampled clocks estimate.
    Median, 95 % and 99 % of the time of calls are at most a thousandth too short.
    """
    from iostrata.explain.rank import RULE_STEPS
    from iostrata.show.totals import TOTALS_STEPS, totals
    from iostrata.store.opened import OpenedRun

    with OpenedRun(find_run(store or default_store(), run)) as opened:
        if json:
            with progress(TOTALS_STEPS, quiet) as step:
                found = totals(opened, step=step)
            print_json(found.as_dict())
        else:
            with progress((*TOTALS_STEPS, *RULE_STEPS), quiet) as step:
                lines = summary_text(opened, step)
            print("\n".join(lines))


def summary_text(opened: OpenedRun, step: Progress = silent) -> list[str]:
    """The lines of a summary, the verdict last."""
    from iostrata.explain.verdict import explanation
    from iostrata.show.findings import short_lines
    from iostrata.show.summary import summary_lines
    from iostrata.show.totals import totals

    found = totals(opened, step=step)
    lines = summary_lines(found)
    return [*lines, "", *short_lines(explanation(opened, step))] if found.layers else lines
