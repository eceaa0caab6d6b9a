"""iostrata mix"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.arguments import (
    JsonOption,
    QuietOption,
    SeedOption,
    StoreOption,
    examples,
)
from iostrata.cli.console import note, print_json

if TYPE_CHECKING:
    from iostrata_lab.mix.result import MixDocument


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata mix 'dd if=/dev/urandom of=$MIX_OWN/x bs=1M count=64' 'grep -r x /usr/lib'",
            "iostrata mix 'ior -o $MIX_OWN/x' 'hadoop jar app.jar /in $HADOOP_MIX_OWN/out' "
            "--on moosefs --on cephfs",
            "iostrata mix job ior-1 ior-n --together AB --together AC   each of two beside a job",
            "iostrata mix A.sh B.sh --setup 'cp -r data $MIX_SHARED' --repeats 10 --out mixed",
        )
    )(mix)


def mix(
    programs: Annotated[
        list[str], typer.Argument(metavar="COMMAND COMMAND…", help="Of a shell, each quoted.")
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(help="A lab on which they run; repeatable. By default this machine."),
    ] = None,
    together: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AB", help="Programs that run at the same time; repeatable. By default all."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Of each trial.")] = 5,
    setup: Annotated[
        str, typer.Option(metavar="COMMAND", help="Runs once on each lab, before its first trial.")
    ] = "",
    prepare: Annotated[
        str, typer.Option(metavar="COMMAND", help="Runs before each trial, and is not in it.")
    ] = "",
    seed: SeedOption = 1,
    untraced: Annotated[
        bool,
        typer.Option("--untraced", help="Record nothing: no layers, only times and resources."),
    ] = False,
    cost: Annotated[
        bool,
        typer.Option("--cost", help="Run each trial untraced, too: what recording costs."),
    ] = False,
    budget: Annotated[
        str,
        typer.Option(envvar="IOSTRATA_BUDGET", help="Budget of tracing, as for `iostrata record`."),
    ] = "1%",
    name: Annotated[
        str, typer.Option(help="Of the mix; by default the same for the same programs and labs.")
    ] = "",
    anew: Annotated[
        bool, typer.Option("--anew", help="Forget the trials of this mix that ran before.")
    ] = False,
    store: StoreOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for mix.md, mix.json and mix.svg.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Runs programs alone and at the same time, and says what they collide in.

    Each repeat runs each program alone and all of them together, in random order, with caches
    dropped; those that end earlier start again until all have ended once. Programs find
    in $MIX_OWN a new folder for each repetition, in $MIX_SHARED one that is the same for all
    ($HADOOP_MIX_OWN and $HADOOP_MIX_SHARED: as Hadoop names them), on the lab. Each trial is a
    recorded run. A mix that was interrupted goes on where it was.
    """
    from iostrata.schema.detail import parse_budget
    from iostrata.store.location import check_run_name, default_store
    from iostrata_lab.commands._recorded import clean_up_at_every_end, writable
    from iostrata_lab.mix.conclude import conclude
    from iostrata_lab.mix.runner import MixOrder, check, forget, perform

    parse_budget(budget)
    if name:
        check_run_name(name)
    where = (store or default_store()).absolute()
    order = MixOrder(
        programs, on or [], repeats, seed, where, setup, prepare, not untraced, budget, name,
        together or (), cost,
    )  # fmt: skip
    check(order)
    if out:
        writable(out)
    clean_up_at_every_end()
    if anew:
        forget(order)
    found = conclude(order, perform(order, note if not quiet else lambda _: None))
    _tell(found, out, json)


def _tell(found: MixDocument, out: Path | None, json: bool) -> None:
    from iostrata_lab.commands._recorded import keep, typed
    from iostrata_lab.mix.page import figure, markdown, text

    if out:
        keep(out, "mix", markdown(found, typed()), found, figure(found))
    if json:
        print_json(found)
    else:
        print("\n".join(text(found)))
