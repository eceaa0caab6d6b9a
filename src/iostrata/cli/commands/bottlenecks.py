"""iostrata bottlenecks"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from iostrata.cli.arguments import (
    JsonOption,
    QuietOption,
    RunArgument,
    StoreOption,
    command,
)
from iostrata.cli.console import print_json, progress, terminal_width
from iostrata.cli.opening import traced_run


class Rank(StrEnum):
    """What functions are ranked by."""

    critical = "critical"
    own = "self"
    total = "total"


@command(
    "iostrata bottlenecks                  of the latest run, by its critical path",
    "iostrata bottlenecks --by self        by their own time, over all threads",
    "iostrata bottlenecks --json | jq '.functions[0]'",
)
def bottlenecks(
    run: RunArgument = None,
    by: Annotated[
        Rank,
        typer.Option(
            help="critical: time on the way back from the end of the job, always to what ended "
            "last; self: time in no call below in the same thread; total: all time."
        ),
    ] = Rank.critical,
    most: Annotated[int, typer.Option(min=1, help="Functions to show.")] = 20,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Ranks the functions that held a run back, and separates working from waiting for a peer.

    The critical path adds up to the wall time of the job; self and total are of all threads.
    """
    from iostrata.analyse.calltree.bottlenecks import STEPS
    from iostrata.analyse.calltree.bottlenecks import bottlenecks as ranked
    from iostrata.show.bottlenecks import bottleneck_lines

    with traced_run(store, run) as traced, progress(STEPS, quiet) as step:
        functions = ranked(traced.opened, by.value, step)
    if json:
        print_json(functions)
    else:
        print("\n".join(bottleneck_lines(functions, most, terminal_width())))
