"""iostrata patterns"""

from __future__ import annotations

from typing import Annotated

import typer

from iostrata.cli.arguments import JsonOption, RunArgument, StoreOption, command
from iostrata.cli.console import print_json, terminal_width
from iostrata.cli.opening import traced_run


@command(
    "iostrata patterns                     of the latest run: how it went through its files",
    "iostrata patterns nightly --most 100",
    "iostrata patterns --json | jq '.streams[] | select(.pattern == \"random\").target'",
)
def patterns(
    run: RunArgument = None,
    most: Annotated[int, typer.Option(min=1, help="Streams to show.")] = 12,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Shows in which order files and blocks were read and written.

    A stream is what one process reads from, or writes to, one file or block. Its pattern is
    contiguous, strided (fixed, 2-d, 3-d) or random; it is made of requests that were recorded
    individually and whose place is known. The streams that moved most come first.
    """
    from iostrata.analyse.patterns import access_patterns
    from iostrata.show.patterns import pattern_lines

    with traced_run(store, run) as traced:
        found = access_patterns(traced.opened, most)
        empty = "" if found.streams else traced.empty
    if json:
        print_json(found)
    else:
        print(empty or "\n".join(pattern_lines(found, terminal_width())))
