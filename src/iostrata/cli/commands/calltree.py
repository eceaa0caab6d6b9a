"""iostrata calltree"""

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
from iostrata.cli.console import print_json, progress
from iostrata.cli.opening import traced_run


class Order(StrEnum):
    """Which calls are one."""

    paths = "paths"
    sets = "sets"
    runs = "runs"


class By(StrEnum):
    """What a function is."""

    op = "op"
    point = "point"


@command(
    "iostrata calltree                     of the latest run",
    "iostrata calltree --depth 20 --least 0",
    "iostrata calltree --drop 'java.*' --drop rpc.respond",
    "iostrata calltree --keep functions.txt   one pattern a line",
    "iostrata calltree --order runs        what followed what",
    "iostrata calltree --json | jq '.[].layer'",
)
def calltree(
    run: RunArgument = None,
    depth: Annotated[int, typer.Option(min=1, help="Levels to show.")] = 12,
    least: Annotated[
        float, typer.Option(min=0, max=100, help="Hide functions that took less, in % of all time.")
    ] = 1.0,
    order: Annotated[
        Order,
        typer.Option(
            help="One node are calls that came the same way (paths), siblings of equal structure "
            "(sets), or neighbours of equal structure (runs)."
        ),
    ] = Order.paths,
    by: Annotated[
        By, typer.Option(help="A function is an operation of a layer, or a traced method.")
    ] = By.op,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Show only these functions: a pattern like 'hdfs.*', or a file of them."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Leave these out; what they called hangs from their caller."),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Shows what calls cause, across threads, processes and hosts.

    Calls that were only counted hang from the task, phase, block or RPC around them; their time is
    part of its self time, too. Numbers are scaled up, with ±, where only some requests were
    recorded.
    """
    from iostrata.analyse.calltree.native import Choice, call_trees
    from iostrata.analyse.calltree.trees import call_tree
    from iostrata.show.tree import tree_lines

    choice = Choice(order.value, by.value, tuple(keep or ()), tuple(drop or ()))
    with (
        traced_run(store, run) as traced,
        progress(("call tree",), quiet) as step,
    ):
        roots = call_tree(traced.opened, call_trees(traced.opened, choice, step))
    if json:
        print_json(roots)
    else:
        print("\n".join(tree_lines(roots, depth, least / 100)))
