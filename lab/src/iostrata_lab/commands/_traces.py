"""iostrata workload fit, history, model: what was asked for, to ask for the like of it."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.arguments import (
    JsonOption,
    QuietOption,
    RunArgument,
    StoreOption,
    examples,
)
from iostrata.cli.console import note, print_json, print_table, progress
from iostrata.text import count, percent, plural, size

if TYPE_CHECKING:
    from iostrata_lab.workload.requests.model import Model, Observed
    from iostrata_lab.workload.swim.fit import Fit, GapModel, SizeFit
    from iostrata_lab.workload.swim.history import History


def register(group: typer.Typer) -> None:
    group.command(
        epilog=examples(
            "iostrata workload fit fb-2009",
            "iostrata workload fit trace.tsv.gz --out fit.json",
            "iostrata workload run swim --set fit=fit.json   jobs drawn from it",
        )
    )(fit)
    group.command(
        epilog=examples(
            "iostrata workload history --out mine.tsv   all that the cluster's history has",
            "iostrata workload history /mr-history/done/2026/11 --out november.tsv",
            "iostrata workload run swim --set trace=mine.tsv --set time_scale=1",
            "iostrata workload fit mine.tsv",
        )
    )(history)
    group.command(
        epilog=examples(
            "iostrata workload model nightly --out nightly.txt",
            "iostrata workload run requests --settings nightly.txt --set alpha=2   twice its rate",
            "iostrata workload model nightly --pause 0.5   threads have sessions with pauses",
            "iostrata workload model nightly --out nightly.txt --gaps gaps.txt   exactly its gaps",
        )
    )(model)


def fit(
    trace: Annotated[str, typer.Argument(help="fb-2009, fb-2009-first50, or a file like them.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the fit to this file, too, as JSON.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Fits gaps, sizes and shared inputs of a trace of SWIM, to draw jobs from them."""
    from iostrata.cli.files import whole_file
    from iostrata.records import builtins
    from iostrata_lab.workload.swim.fitting import fitted
    from iostrata_lab.workload.swim.trace import read

    found = fitted(trace, read(trace))
    if out:
        with whole_file(out) as file:
            file.write(json_module.dumps(builtins(found.answer()), indent=2).encode() + b"\n")
    if json:
        print_json(found.answer())
    else:
        _say_fit(found)


def history(
    out: Annotated[Path, typer.Option(help="File of the trace.")],
    folders: Annotated[
        list[str] | None,
        typer.Argument(
            help="Folders of .jhist files, in HDFS or file:///…; by default the cluster's own."
        ),
    ] = None,
    lab: Annotated[
        str | None, typer.Option(help="A lab's cluster; else `hadoop` of the PATH.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Makes a trace of your own MapReduce jobs from their history in Hadoop."""
    from iostrata.cli.files import whole_file
    from iostrata_lab.recording import cluster_of
    from iostrata_lab.workload.swim.history import jobs_of, text

    found = jobs_of(cluster_of(lab), folders or [])
    with whole_file(out) as file:
        file.write(text(found.jobs).encode())
    if json:
        print_json(found.answer())
    else:
        _say_history(found, out)


def model(
    run: RunArgument = None,
    pause: Annotated[
        float,
        typer.Option(min=0, help="Requests of a thread that follow sooner, in s, are one session."),
    ] = 0.0,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the model to this file, too, for `run requests --settings`."),
    ] = None,
    gaps: Annotated[
        Path | None,
        typer.Option(help="Write the gaps to this file, too, to send them as they were."),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fits a model to the requests of a recorded run to HDFS, for the workload `requests`."""
    from iostrata.cli.files import whole_file
    from iostrata_lab.workload.requests.model import gaps_of, model_of

    seen = _observed(run, store, quiet)
    found = model_of(seen, pause)
    said = found.settings()
    if gaps:
        with whole_file(gaps) as file:
            file.write("".join(f"{gap:.9f}\n" for gap in gaps_of(seen, pause)).encode())
        said |= {"arrivals": "recorded", "gaps": str(gaps.absolute())}
    if out:
        with whole_file(out) as file:
            file.write("".join(f"{name}={value}\n" for name, value in said.items()).encode())
    if json:
        print_json(found.answer(said))
    else:
        _say_model(found, said)


def _observed(run: str | None, store: Path | None, quiet: bool) -> Observed:
    from iostrata.analyse.engine import DuckDb
    from iostrata.analyse.hdfs_requests import (
        HdfsRequest,
        HdfsRequestTotal,
        hdfs_request_totals,
        hdfs_requests,
    )
    from iostrata.cli.opening import traced_run
    from iostrata_lab.workload.requests.model import Observed, RecordedRequest

    with progress(("read", "add up"), quiet) as step:
        step("read")
        with traced_run(store, run) as traced:
            step("add up")
            engine = DuckDb(traced.opened)
            asked = engine.records(hdfs_requests, HdfsRequest)
            totals = engine.records(hdfs_request_totals, HdfsRequestTotal)
    requests = [
        RecordedRequest(each.start, each.dur, each.op, each.target, (each.proc, each.tid))
        for each in asked
    ]
    return Observed(requests, {total.op: (total.calls, total.bytes) for total in totals})


def _say_model(model: Model, settings: dict[str, str]) -> None:
    """What was asked for, how well each model of the gaps fits, and the settings."""
    asked = sum(model.operations.values())
    print(
        f"{count(asked)} requests in {model.seconds:.1f} s, {model.rate:.1f}/s; "
        f"{count(model.kept)} of them recorded individually, on {count(model.files.seen)} files\n"
    )
    _say_gaps(model.gaps)
    print()
    print_table(["parameter", "value"], [[name, value] for name, value in settings.items()])


def _say_history(found: History, out: Path) -> None:
    """How many there are of each state, their bytes, what was left out."""
    states = ", ".join(f"{count(many)} {state.lower()}" for state, many in found.states.items())
    print(f"{plural(len(found.jobs), 'job')} in {out}: {states}")
    print(f"{found.seconds} s from the first submission to the last")
    print_table(
        ["map-only jobs", "input", "shuffle", "output"],
        [[count(found.map_only), *(size(total) for total in found.total)]],
        {0, 1, 2, 3},
    )
    for name, what in found.left_out:
        note(f"left out: {name}: {what}")


def _say_fit(fit: Fit) -> None:
    """A table of the models of gaps, one of sizes, and a line about inputs."""
    print(f"{fit.trace}: {fit.jobs} jobs\n")
    _say_gaps(fit.gaps)
    print()
    header = ["sizes", "zero", "log mean", "log deviation", "largest", "tail index", "from"]
    kinds = {"input": fit.input, "shuffle": fit.shuffle, "output": fit.output}
    rows = [[name, *_size(one)] for name, one in kinds.items()]
    print_table(header, rows, set(range(1, len(header))))
    if fit.popularity:
        again, exponent = fit.popularity.reread, fit.popularity.zipf
        print(f"\ninputs: {percent(again, 1)} of jobs read one again, Zipf exponent {exponent:.3f}")
    else:
        print("\ninputs: the trace has no paths")


def _say_gaps(models: Sequence[GapModel]) -> None:
    rows = []
    for model in models:
        parameters = ", ".join(f"{name} {value:.4g}" for name, value in model.parameters.items())
        rows.append([model.name, parameters, f"{model.aic:.0f}", f"{model.ks:.4f}"])
    print_table(["gaps (s), best first", "parameters", "AIC", "KS"], rows, {2, 3})


def _size(one: SizeFit) -> list[str]:
    tail = "" if one.tail is None else f"{one.tail:.3f}"
    start = "" if one.tail_from is None else size(one.tail_from)
    return [percent(one.zero, 1), f"{one.mu:.2f}", f"{one.sigma:.2f}", size(one.most), tail, start]
