"""iostrata workload"""

from __future__ import annotations

import json as json_module
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.commands._arguments import JsonOption, QuietOption, StoreOption, examples
from iostrata.cli.console import note, print_json, print_table, progress
from iostrata.errors import UserError

if TYPE_CHECKING:
    from iostrata.schema.detail import Detail
    from iostrata.workload.cluster import Cluster
    from iostrata.workload.interface import Context, Result
    from iostrata.workload.parameters import Parameter
    from iostrata.workload.runner import Asked, Done

NameArgument = Annotated[str, typer.Argument(help="Name of a workload.")]
LabOption = Annotated[str | None, typer.Option(help="A lab's cluster; else `hadoop` of the PATH.")]
CONTEXT, RESULT = "context.json", "result.json"


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Workloads worth observing.")
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
        )
    )(run)
    group.command(
        epilog=examples(
            "iostrata workload fit fb-2009",
            "iostrata workload fit trace.tsv.gz --out fit.json",
            "iostrata workload run swim --set fit=fit.json   jobs drawn from it",
        )
    )(fit)
    group.command("inside", hidden=True)(inside)
    app.add_typer(group, name="workload")


def list_(json: JsonOption = False) -> None:
    """Lists the workloads."""
    from iostrata.workload.catalog import WORKLOADS

    if json:
        print_json([workload.as_dict() for workload in WORKLOADS])
        return
    rows = [[one.name, one.about, one.stresses] for one in WORKLOADS]
    print_table(["workload", "what it does", "what it stresses"], rows)


def describe(name: NameArgument, json: JsonOption = False) -> None:
    """Says what a workload does, and what may be asked of it."""
    from iostrata.workload.catalog import workload_named

    workload = workload_named(name)
    if json:
        print_json(workload.as_dict())
        return
    print(f"{workload.name}: {workload.about}\nstresses: {workload.stresses}")
    for source in workload.sources:
        print(f"after: {source}")
    print()
    header = ["parameter", "default", "unit", "allowed", "what it is"]
    print_table(header, parameter_rows(workload.parameters))


def parameter_rows(parameters: Sequence[Parameter]) -> list[list[str]]:
    """A row of cells for each parameter: name, default, unit, range, what it is."""
    from iostrata.text import size
    from iostrata.workload.parameters import BYTES

    rows = []
    for one in parameters:
        is_size = one.unit == BYTES and isinstance(one.default, int)
        default = size(int(one.default)) if is_size else str(one.default).lower()
        about = f"{one.about} (scaled)" if one.scaled else one.about
        rows.append([one.name, default, "" if one.unit == BYTES else one.unit, one.range, about])
    return rows


def run(
    name: NameArgument,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter.")
    ] = None,
    scale: Annotated[
        float, typer.Option(min=1e-6, help="Times the defaults of what scales.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is random.")] = 1,
    lab: LabOption = None,
    record: Annotated[bool, typer.Option("--record", help="Trace it; not its input.")] = False,
    run: Annotated[str | None, typer.Option("--run", help="Name of the recorded run.")] = None,
    store: StoreOption = None,
    folder: Annotated[
        str, typer.Option(help="Folder in HDFS that is not there yet; one of its own in /tmp.")
    ] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Leave that folder there.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Runs a workload on a cluster and says what became of it.

    First its parameters and the cluster are checked; what cannot work is one line, and nothing has
    been started. Whatever happens later, its jobs are ended and its files removed.
    """
    from iostrata.workload.catalog import workload_named
    from iostrata.workload.parameters import values
    from iostrata.workload.runner import Asked, perform, steps

    workload = workload_named(name)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it cleans up as at Ctrl-C
    asked = Asked(workload, values(workload.parameters, set_ or [], scale), seed, folder, keep)
    recorded = Recorded(asked, lab, run, store, quiet) if record else None
    with progress(steps(workload), quiet) as step:
        done = perform(asked, cluster_of(lab), step, recorded.inner if recorded else None)
    if json:
        print_json(done.as_dict() | {"run": recorded and recorded.run})
    else:
        _say(done)


class Recorded:
    """Runs a workload in a process of its own, which is recorded."""

    def __init__(
        self,
        asked: Asked,
        lab: str | None,
        run: str | None,
        store: Path | None,
        quiet: bool,
        detail: Detail | None = None,
    ) -> None:
        self._asked, self._lab, self._store, self._quiet = asked, lab, store, quiet
        self._detail = detail
        self.run = run

    def inner(self, context: Context) -> Result:
        """What it said, as it would have said it here."""
        from iostrata.cli.recording import Live, conclude, request_for
        from iostrata.record.session import record
        from iostrata.workload.runner import hand_over

        there = context.scratch / CONTEXT
        hand_over(context, self._asked.workload, there)
        command = [sys.executable, "-m", "iostrata", "workload", "inside", str(there)]
        request = request_for(command, None, self._lab, self.run, self._store, False)
        if self._detail:
            request = replace(request, detail=self._detail)
        with Live(self._quiet) as live:
            recorded = record(request, live.show)
        self.run = recorded.run
        if recorded.message:
            note(recorded.message)
        if recorded.code:
            raise UserError(
                f"{self._asked.workload.name} failed while it was recorded as {recorded.run}",
                "see above",
                exit_code=recorded.code,
            )
        if not self._quiet:
            conclude(recorded)
        result: Result = json_module.loads((context.scratch / RESULT).read_text())
        return result


def inside(path: Path) -> None:
    """The run itself, of a workload that is recorded."""
    from iostrata.progress import unseen
    from iostrata.workload.catalog import workload_named
    from iostrata.workload.runner import taken_over

    name = json_module.loads(path.read_text())["workload"]
    context = taken_over(path, cluster_of(None), unseen)
    result = workload_named(name).run(context)
    (context.scratch / RESULT).write_text(json_module.dumps(dict(result)))


def fit(
    trace: Annotated[str, typer.Argument(help="fb-2009, fb-2009-first50, or a file like them.")],
    out: Annotated[Path | None, typer.Option(help="Also writes it there, as JSON.")] = None,
    json: JsonOption = False,
) -> None:
    """Fits gaps, sizes and shared inputs of a trace of SWIM: in few numbers, to draw jobs from."""
    from iostrata.cli.commands._fit import say
    from iostrata.cli.files import whole_file
    from iostrata.workload.swim.fitting import fitted
    from iostrata.workload.swim.trace import read

    found = fitted(trace, read(trace))
    if out:
        with whole_file(out) as file:
            file.write(json_module.dumps(found.as_dict(), indent=2).encode() + b"\n")
    if json:
        print_json(found.as_dict())
    else:
        say(found)


def cluster_of(lab: str | None) -> Cluster:
    from iostrata.record.artifacts import jobs_jar
    from iostrata.workload.cluster import Cluster

    if lab is None:
        return Cluster(dict(os.environ), jobs_jar())
    from iostrata.cli.labs import lab_environment

    return Cluster(lab_environment(lab)[0], jobs_jar())


def _say(done: Done) -> None:
    """A line for each number, then one for each job, operation, trial."""
    said = done.as_dict()
    print(f"{said['workload']}: {said['run_s']:.1f} s, after {said['prepare_s']:.1f} s of input")
    for key, value in said["result"].items():
        if not isinstance(value, list):
            print(f"{key.replace('_', ' ')}: {value}")
    parts = [value for value in said["result"].values() if isinstance(value, list)]
    for part in chain.from_iterable(parts):
        print(" · ".join(f"{name.replace('_', ' ')} {value}" for name, value in part.items()))
    if said["folder"]:
        print(f"kept: {said['folder']}")
