"""iostrata summary"""

from __future__ import annotations

import typer

from iostrata.cli.commands._arguments import JsonOption, RunArgument, StoreOption, examples
from iostrata.cli.console import print_json
from iostrata.store.location import default_store
from iostrata.store.runs import find_run


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata summary                     the latest run",
            "iostrata summary 20260301-101500-a1b2",
            "iostrata summary --json | jq '.layers[]'",
        )
    )(summary)


def summary(run: RunArgument = None, store: StoreOption = None, json: JsonOption = False) -> None:
    """What a run did: how complete the picture is, then totals by layer, operation, target, task.

    Totals are exact whatever was dropped.
    The time of a layer is summed over threads; a ~ marks times scaled up from sampled clocks.
    """
    from iostrata.show.summary import summary_lines
    from iostrata.show.totals import totals
    from iostrata.store.opened import OpenedRun

    with OpenedRun(find_run(store or default_store(), run)) as opened:
        found = totals(opened)
    if json:
        print_json(found.as_dict())
    else:
        print("\n".join(summary_lines(found)))
