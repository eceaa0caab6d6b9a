"""iostrata calltree"""

from __future__ import annotations

from typing import Annotated

import typer

from iostrata.cli.commands._arguments import JsonOption, RunArgument, StoreOption, examples
from iostrata.cli.console import print_json
from iostrata.store.location import default_store
from iostrata.store.runs import find_run


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata calltree                     of the latest run",
            "iostrata calltree --depth 20 --least 0",
            "iostrata calltree --json | jq '.[].layer'",
        )
    )(calltree)


def calltree(
    run: RunArgument = None,
    depth: Annotated[int, typer.Option(min=1, help="Levels to show.")] = 12,
    least: Annotated[
        float, typer.Option(min=0, max=100, help="Hide what took less, in % of all time.")
    ] = 1.0,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """What calls cause, across threads, processes and hosts: calls that came the same way are one.

    Made of the calls kept one by one; scaled back, with ±, where only some requests were kept.
    """
    from iostrata.show.tree import call_tree, tree_lines
    from iostrata.store.opened import OpenedRun

    with OpenedRun(find_run(store or default_store(), run)) as opened:
        roots = call_tree(opened)
    if json:
        print_json([node.as_dict() for node in roots])
    else:
        print("\n".join(tree_lines(roots, depth, least / 100)))
