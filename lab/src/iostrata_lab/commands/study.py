"""iostrata study"""

from __future__ import annotations

import os
from contextlib import closing
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
    examples,
)
from iostrata.cli.console import note, print_json, print_table
from iostrata.errors import UserError
from iostrata_lab.commands._recorded import (
    RecordedWorkload,
    clean_up_at_every_end,
    keep,
    print_parameters,
    typed,
    writable,
)

if TYPE_CHECKING:
    from iostrata.registry import Registry
    from iostrata_lab.mix.study import MixStudy
    from iostrata_lab.predict.order import PredictStudy
    from iostrata_lab.studies.interface import Described, Outcome, Study, StudyRun
    from iostrata_lab.workload.runner import WorkloadOrder, WorkloadResult

NameArgument = Annotated[str, typer.Argument(help="Name of a study.")]
LabOption = Annotated[
    str | None, typer.Option(help="Use the cluster of this lab; by default one of its own.")
]
LAB = "study"


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Repeats the measurements of papers.")
    group.command("list", epilog=examples("iostrata study list", "iostrata study list --json"))(
        list_
    )
    group.command(
        epilog=examples(
            "iostrata study describe requests",
            "iostrata study describe requests --json | jq '.differences[]'",
        )
    )(describe)
    group.command(
        epilog=examples(
            "iostrata study run functions                     on a cluster of its own",
            "iostrata study run creation --scale 8 --repeats 3 --out creation",
            "iostrata study run requests --set alphas=0.01,0.1 --lab hadoop --json",
        )
    )(run)
    app.add_typer(group, name="study")


def list_(json: JsonOption = False) -> None:
    """Lists the studies."""
    studies = _studies().values()
    if json:
        print_json([study.answer() for study in studies])
        return
    rows = [[one.name, one.about, one.source.partition(", section")[0]] for one in studies]
    print_table(["study", "what it measures", "paper"], rows)


def describe(name: NameArgument, json: JsonOption = False) -> None:
    """Says what a study measures, how it differs from the paper, and lists its parameters."""
    study = _studies().named(name)
    if json:
        print_json(study.answer())
        return
    print(f"{study.name}: {study.about}\nafter: {study.source}")
    for difference in study.differences:
        print(f"differs: {difference}")
    print()
    print_parameters(study.parameters)


def run(
    name: NameArgument,
    set_: SetOption = None,
    scale: ScaleOption = 1.0,
    seed: SeedOption = 1,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Repeats of each run.")] = 1,
    lab: LabOption = None,
    datanodes: Annotated[
        int, typer.Option(min=1, max=16, help="Of the cluster that it starts, without --lab.")
    ] = 2,
    store: StoreOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for NAME.md, NAME.json and NAME.svg.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Runs workloads, records and analyses them, and says what agrees with the paper.

    Without --lab it starts a cluster of its own and ends it. A run that the store has already, with
    the same parameters and seed on the same kind of cluster, is not recorded again, so a study that
    was interrupted goes on where it was.
    """
    from iostrata.store.location import default_store
    from iostrata_lab.mix.study import MixStudy, perform_study
    from iostrata_lab.predict.order import PredictOrder, PredictStudy
    from iostrata_lab.predict.study import perform_predictions
    from iostrata_lab.studies.runner import StudyOrder, perform, plan
    from iostrata_lab.workload.parameters import values

    study = _studies().named(name)
    clean_up_at_every_end()
    where = (store or default_store()).absolute()
    chosen = values(study.parameters, set_ or [], scale)
    say = note if not quiet else _silent
    if isinstance(study, MixStudy | PredictStudy) and lab:
        raise UserError(f"{study.name} has labs of its own", "leave out --lab")
    if isinstance(study, PredictStudy):
        if out:
            writable(out)
        asked = PredictOrder(study, chosen, repeats, seed, where)
        _tell(study, *perform_predictions(asked, say), out, json)
        return
    if isinstance(study, MixStudy):
        mixed = study.order(chosen, repeats, seed, where)
        if out:
            writable(out)
        _tell(study, *perform_study(study, chosen, mixed, say), out, json)
        return
    cluster = f"lab {lab}" if lab else f"{datanodes} DataNodes"
    request = StudyOrder(study, chosen, seed, repeats, cluster, where)
    plan(request)  # what cannot work is said before a cluster starts
    if out:
        writable(out)
    with closing(_Clusters(lab, datanodes, where, quiet)) as clusters:
        samples = perform(request, clusters.record, say)
    _tell(study, study.conclude(samples), samples, out, json)


def _studies() -> Registry[Study | MixStudy | PredictStudy]:
    """All of them, of whatever kind."""
    from iostrata.registry import Registry
    from iostrata_lab.mix.catalog import MIX_STUDIES
    from iostrata_lab.predict.catalog import PREDICT_STUDIES
    from iostrata_lab.studies.catalog import STUDIES

    return Registry("study", (*STUDIES.values(), *MIX_STUDIES.values(), *PREDICT_STUDIES.values()))


def _tell(
    study: Described, outcome: Outcome, samples: list[StudyRun], out: Path | None, json: bool
) -> None:
    from iostrata_lab.studies.page import document, markdown, text

    if out:
        page = markdown(study, outcome, samples, typed())
        keep(out, study.name, page, document(study, outcome, samples), outcome.figure)
    if json:
        print_json(document(study, outcome, samples))
    else:
        print("\n".join(text(study, outcome, samples)))


def _silent(_: str) -> None:
    """Of a study that is to say nothing while it runs."""


class _Clusters:
    """The cluster of a study: the lab that is named, or one that starts with the first run."""

    def __init__(self, lab: str | None, datanodes: int, store: Path, quiet: bool) -> None:
        self._lab, self._datanodes = lab, datanodes
        self._store, self._quiet = store, quiet
        self._own = ""

    def close(self) -> None:
        """Ends the cluster that it started."""
        if self._own:
            from iostrata_lab.recording import take_down

            take_down(self._own)

    def record(self, asked: WorkloadOrder, run: str) -> WorkloadResult:
        """Every call is kept, whatever that costs: what is compared is not speed with a tracer's
        own limits.
        """
        from iostrata.progress import silent
        from iostrata.schema.detail import Detail
        from iostrata_lab.recording import cluster_of
        from iostrata_lab.workload.runner import perform

        lab = self._lab or self._started()
        inner = RecordedWorkload(
            asked, lab, run, self._store, self._quiet, Detail("record", budget=0)
        ).inner
        return perform(asked, cluster_of(lab), silent, inner).answer()

    def _started(self) -> str:
        if not self._own:
            from iostrata_lab.recording import bring_up

            name = f"{LAB}-{os.getpid()}"
            bring_up(name, self._datanodes, agent=True)
            self._own = name
        return self._own
