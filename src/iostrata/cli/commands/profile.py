"""iostrata profile"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.arguments import JsonOption, QuietOption, command
from iostrata.cli.console import note, print_json
from iostrata.errors import UserError

if TYPE_CHECKING:
    from iostrata.predict.measuring import ProfileState

OutOption = Annotated[
    Path | None, typer.Option(help="Folder of profiles; by default .profiles in the store.")
]


def profile_folder(out: Path | None, name: str) -> Path:
    """Where the profile of that name is, or will be."""
    from iostrata.store.location import default_store

    return (out or default_store() / ".profiles") / name


@command(
    "iostrata profile disk.toml --plan      what it would take",
    "iostrata profile disk.toml --yes       measure without being asked",
)
def profile(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="What is measured, and where.")],
    plan: Annotated[bool, typer.Option("--plan", help="Say what it takes, and end.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    out: OutOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measures how fast a storage is, by operation, access, size, clients and what else it says.

    It writes files of its own into the folder that the file names, and deletes them at the end.
    What was measured before is not measured again: a profile that was interrupted goes on.
    """
    from iostrata.predict import measuring
    from iostrata.predict.fio import Fio
    from iostrata.predict.plan import plan as planned
    from iostrata.predict.samples import SampleFile
    from iostrata.predict.spec import read_spec

    wanted = read_spec(spec)
    takes = planned(wanted)
    if plan or not quiet:
        for line in takes.lines():
            print(line, file=sys.stdout if plan else sys.stderr)
    if plan:
        return
    if not wanted.filesystem and not wanted.hosts:
        Fio.found()
    if not yes:
        _ask()
    file = SampleFile(profile_folder(out, wanted.name), measuring.facts_of(wanted))
    file.open()
    begin, before = time.monotonic(), len(file.samples)

    def progress(text: str, done: int, most: int) -> None:
        taken = time.monotonic() - begin
        left = (most - done) * taken / (done - before) if done > before else None
        rest = "" if left is None else f", {left / 60:.0f} min left at most"
        if not quiet:
            note(f"{done + 1} of {most} at most: {text}{rest}")

    with measuring.load_for(wanted) as load:
        state = measuring.measure(wanted, file, load, progress)
    file.table()
    if json:
        print_json({"folder": str(file.folder), **asdict(state)})
    else:
        _say(state, file.folder)


def _ask() -> None:
    if not sys.stdin.isatty():
        raise UserError("nobody is there to agree to this", "add --yes")
    if not typer.confirm("Begin?", err=True):
        raise typer.Exit(1)


def _say(state: ProfileState, folder: Path) -> None:
    print(
        f"{state.samples} samples of {state.points} points, {state.disturbed} of them disturbed: "
        f"{state.known} points are known well enough, {state.wide} have a wide interval, "
        f"{state.unmeasured} have no sample"
    )
    if 2 * state.disturbed > state.samples:
        print("other processes used the CPU: measure again when this machine has less to do")
    if state.cut:
        print(
            f"{state.cut} samples in sequence were cut by measure.sample: a storage that reads "
            "ahead is faster than they say, so give it more seconds, or smaller files"
        )
    if state.ended_by_budget:
        print("the budget is spent: the same command goes on")
    print(f"fit a model: iostrata fit {folder}")
