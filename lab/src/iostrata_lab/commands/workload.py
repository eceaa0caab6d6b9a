"""iostrata workload"""

from __future__ import annotations

import json as json_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.arguments import (
    JsonOption,
    QuietOption,
    ScaleOption,
    SeedOption,
    SetOption,
    StoreOption,
    TagOption,
    examples,
)
from iostrata.cli.console import print_json, print_table, progress
from iostrata_lab.commands import _traces

if TYPE_CHECKING:
    from iostrata_lab.workload.runner import Done

NameArgument = Annotated[str, typer.Argument(help="Name of a workload.")]
LabOption = Annotated[
    str | None,
    typer.Option(help="Use this lab; by default the `hadoop` of the PATH, or the folder."),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Runs workloads on a cluster.")
    group.command(
        "list", epilog=examples("iostrata workload list", "iostrata workload list --json")
    )(list_)
    group.command(
        epilog=examples(
            "iostrata workload describe terasort",
            "iostrata workload describe terasort --json | jq '.parameters[].name'",
        )
    )(describe)
    group.command(
        epilog=examples(
            "iostrata workload run terasort --lab hadoop",
            "iostrata workload run terasort --set rows=10000000 --set reduces=8 --record",
            "iostrata workload run testdfsio --scale 4 --json   four times its size",
            "iostrata workload run wordcount --keep --folder /data/words",
            "iostrata workload run checkpoint --set pattern=strided --folder /mnt/ceph/new",
        )
    )(run)
    _traces.register(group)
    group.command("inside", hidden=True)(inside)
    app.add_typer(group, name="workload")


def list_(json: JsonOption = False) -> None:
    """Lists the workloads."""
    from iostrata_lab.workload.catalog import WORKLOADS

    if json:
        print_json([workload.answer() for workload in WORKLOADS.values()])
        return
    rows = [[one.name, one.about, one.stresses] for one in WORKLOADS.values()]
    print_table(["workload", "what it does", "what it stresses"], rows)


def describe(name: NameArgument, json: JsonOption = False) -> None:
    """Says what a workload does, and lists its parameters."""
    from iostrata_lab.commands._recorded import print_parameters
    from iostrata_lab.workload.catalog import WORKLOADS

    workload = WORKLOADS.named(name)
    if json:
        print_json(workload.answer())
        return
    print(f"{workload.name}: {workload.about}\nstresses: {workload.stresses}")
    for source in workload.sources:
        print(f"after: {source}")
    print()
    print_parameters(workload.parameters)


def run(
    name: NameArgument,
    set_: SetOption = None,
    settings: Annotated[
        Path | None, typer.Option(help="File of NAME=VALUE lines; --set goes first.")
    ] = None,
    scale: ScaleOption = 1.0,
    seed: SeedOption = 1,
    lab: LabOption = None,
    record: Annotated[
        bool, typer.Option("--record", help="Trace the workload, without the making of its input.")
    ] = False,
    run: Annotated[str | None, typer.Option("--run", help="Name of the recorded run.")] = None,
    tag: TagOption = None,
    budget: Annotated[
        str,
        typer.Option(envvar="IOSTRATA_BUDGET", help="Budget of tracing, as for `iostrata record`."),
    ] = "1%",
    store: StoreOption = None,
    folder: Annotated[
        str,
        typer.Option(help="A new one; by default in /tmp of HDFS, in the lab's mount, or here."),
    ] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Keep that folder.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Runs a workload on a cluster and prints its result.

    Its parameters and the cluster are checked first: one line says what cannot work, before
    anything starts. Whatever happens later, its jobs are ended and its files are removed.
    """
    from iostrata.schema.detail import Detail, parse_budget
    from iostrata_lab.commands._recorded import RecordedWorkload, clean_up_at_every_end
    from iostrata_lab.recording import cluster_of
    from iostrata_lab.workload.catalog import WORKLOADS
    from iostrata_lab.workload.parameters import settings_of, values
    from iostrata_lab.workload.places import mount_of
    from iostrata_lab.workload.runner import WorkloadOrder, perform, steps

    workload = WORKLOADS.named(name)
    detail = Detail(budget=parse_budget(budget))
    clean_up_at_every_end()
    given = [*(settings_of(settings) if settings else []), *(set_ or [])]
    cluster = cluster_of(lab, workload.on_cluster)
    chosen = values(workload.parameters, given, scale)
    asked = WorkloadOrder(workload, chosen, seed, folder, keep, mount_of(cluster))
    recorded = (
        RecordedWorkload(asked, lab, run, store, quiet, detail, tag or []) if record else None
    )
    with progress(steps(workload), quiet) as step:
        done = perform(asked, cluster, step, recorded.inner if recorded else None)
    if json:
        print_json(done.answer(recorded.run if recorded else None))
    else:
        _say(done)


def inside(path: Path) -> None:
    """The run itself, of a workload that is recorded."""
    from iostrata.progress import silent
    from iostrata.records import builtins
    from iostrata_lab.commands._recorded import RESULT, clean_up_at_every_end
    from iostrata_lab.recording import cluster_of
    from iostrata_lab.workload.catalog import WORKLOADS
    from iostrata_lab.workload.runner import taken_over

    clean_up_at_every_end()  # the recorder hands on what it is sent
    name = json_module.loads(path.read_text())["workload"]
    context = taken_over(path, cluster_of(None), silent)
    result = WORKLOADS.named(name).run(context)
    (context.scratch / RESULT).write_text(json_module.dumps(builtins(dict(result))))


def _say(done: Done) -> None:
    """A line for each number, then one for each job, operation, trial."""
    said = done.answer()
    print(f"{said.workload}: {said.run_s:.1f} s, after {said.prepare_s:.1f} s of input")
    for key, value in said.result.items():
        if not isinstance(value, list):
            print(f"{key.replace('_', ' ')}: {value}")
    parts = [value for value in said.result.values() if isinstance(value, list)]
    for part in chain.from_iterable(parts):
        print(" · ".join(f"{name.replace('_', ' ')} {value}" for name, value in part.items()))
    if said.folder:
        print(f"kept: {said.folder}")
