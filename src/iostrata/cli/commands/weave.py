"""iostrata weave"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import JsonOption, command
from iostrata.cli.console import note, print_json
from iostrata.errors import UserError


@command(
    'iostrata weave "$(hadoop classpath)"      so that no task has to weave',
    "iostrata weave lib/job.jar lib/more.jar",
    "iostrata weave --cache /var/cache/iostrata   the JDK's own classes only",
)
def weave(
    classpath: Annotated[
        list[str] | None,
        typer.Argument(help="Jars, folders and DIR/*, with colons between several."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Folder of the cache; by default /var/tmp/iostrata-UID."),
    ] = None,
    java: Annotated[
        Path | None, typer.Option(help="The java whose own classes are woven as well.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Fills the cache of woven classes ahead of time.

    The native loader takes classes from this cache. The first JVM that loads a missing class weaves
    it, which takes some tenths of a second.
    """
    from iostrata.record.classpath import ClassPath
    from iostrata.record.weaving import weave as fill

    named = java or shutil.which("java")
    if named is None:
        raise UserError("no java on the PATH", "name one: --java PATH")
    paths = [ClassPath(text) for text in classpath or []]
    for entry in (entry for path in paths for entry in path.absent):
        note(f"{entry} in the class path does not exist")
    filled = fill(paths, cache, Path(named))
    if json:
        print_json(filled)
    else:
        states = Counter(each.state for each in filled.classes)
        woven = sum(each.found for each in filled.classes)
        missing = sum(each.missing for each in filled.classes)
        print(
            f"{len(filled.classes)} classes with {woven} points in {filled.cache}: "
            f"{states['new']} new, {states['known']} known; {missing} points of other versions"
        )
    if filled.failed:
        names = ", ".join(each.name for each in filled.failed)
        raise UserError(f"not kept in {filled.cache}: {names}", "is there room, may it be written?")
