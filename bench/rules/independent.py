#!/usr/bin/env python3
"""Are findings right about programs that nobody here wrote? Records them and judges what is found.

    bench/rules/independent.py LIST FOLDER --work WORK [--only TITLE …]   records what is not there
    bench/rules/independent.py LIST FOLDER --work WORK --judge            the same ones, asked anew
    bench/rules/independent.py LIST FOLDER --page                         the tables of the README

LIST is a file beside this one, such as others.toml or settings.toml: each run is a program as it
was published, with a cause that its settings or its cluster have, or none. A run that has one names
its baseline, the same without the cause: both are timed in turns without a recording, which says
what the cause costs. The folder gets runs.json; recordings stay in WORK. Ctrl-C ends it with what
it has.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from scipy.stats import binomtest

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from bench.measure.results import machine, say  # noqa: E402
from bench.rules.gains import MEASURED, interval, measured_cells  # noqa: E402
from bench.rules.matrix import Bench, found, iostrata  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FIRST = 2  # findings that people read
DEEP = 4  # fields within fields
LEAST_COST = (
    0.03  # of the run, that a cause must take to be one: what is a note (explain/finding.py)
)
Row = dict[str, Any]


@dataclass(frozen=True)
class Other:
    """A program, and what is wrong with how it runs: any of the rules `causes`; none: nothing.

    `baseline`: the title of the run that is the same without what is wrong.
    """

    title: str
    program: str
    command: str
    planted: str = ""
    causes: tuple[str, ...] = ()
    baseline: str = ""
    lab: str = ""  # of causes.py
    prepare: str = ""
    inputs: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()
    brakes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunList:
    """Runs, what names in braces of their commands stand for, and commands that make inputs."""

    fields: dict[str, str]
    inputs: dict[str, str]
    runs: tuple[Other, ...]

    def of(self, title: str) -> Other:
        return next(run for run in self.runs if run.title == title)

    def filled(self, text: str, given: dict[str, Any]) -> str:
        """A text with what stands for the names in braces, which may have names themselves."""
        for _ in range(DEEP):
            for name, value in (self.fields | given).items():
                text = text.replace(f"{{{name}}}", str(value))
        return text


def run_list(path: Path) -> RunList:
    """A list, with the fields and the inputs of the one that it `extends`."""
    given = tomllib.loads(path.read_text("utf-8"))
    base = given.get("extends")
    known = run_list(path.with_name(base)) if base else RunList({}, {}, ())
    return RunList(
        known.fields | given.get("fields", {}),
        known.inputs | given.get("inputs", {}),
        tuple(Other(title, **run) for title, run in given["run"].items()),
    )


def _dependency(coordinates: str) -> str:
    """GROUP:ARTIFACT:VERSION, and perhaps :CLASSIFIER, in a pom."""
    names = ("groupId", "artifactId", "version", "classifier")
    parts = zip(names, coordinates.split(":"), strict=False)
    text = "".join(f"<{name}>{part}</{name}>" for name, part in parts)
    return f"<dependency>{text}</dependency>"


def jars(work: Path, coordinates: Sequence[str]) -> str:
    """A class path of artifacts of Maven with all that they need."""
    if not coordinates:
        return ""
    folder = work / "jars" / coordinates[0].replace(":", "-")
    if not folder.exists():
        wanted = "".join(map(_dependency, coordinates))
        pom = work / "pom.xml"
        pom.write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>set</groupId>"
            "<artifactId>set</artifactId><version>1</version>"
            f"<dependencies>{wanted}</dependencies></project>"
        )
        copy = ("dependency:copy-dependencies", f"-DoutputDirectory={folder}")
        subprocess.run(["mvn", "-B", "-q", "-f", str(pom), *copy], check=True)
    return f"{folder}/*"


def fields(work: Path, other: Other, run: str) -> dict[str, Any]:
    """What the names in braces of a command stand for: {jars}, a class path of the artifacts of
    Maven; {folder}, where these are; {local}, an empty folder; {made}, that of inputs; {run}, with
    which names of outputs end; {root} of the checkout.
    """
    path = jars(work, other.jars)
    local = work / "local" / other.title
    shutil.rmtree(local, ignore_errors=True)
    local.mkdir(parents=True)
    given = {"jars": path, "folder": path.rpartition("/")[0], "run": run}
    return given | {"local": local, "made": work / "made", "root": ROOT}


class Alone:
    """Programs that need no cluster."""

    def __init__(self, work: Path, known: RunList) -> None:
        self.work = work
        self.known = known

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _ready(self, other: Other, run: str) -> tuple[str, ...]:
        """How to start a program, of which all is there that it needs."""
        given = fields(self.work, other, run)
        if other.prepare:
            prepare = self.known.filled(other.prepare, given)
            subprocess.run(["bash", "-ec", prepare], check=True, capture_output=True)
        return "sh", "-c", f"exec {self.known.filled(other.command, given)}"

    def record(self, other: Other) -> None:
        command = self._ready(other, other.title)
        iostrata(self.work / "store", "record", "--quiet", "--run", other.title, "--", *command)

    def seconds(self, other: Other, run: str) -> float:
        """How long a program takes without a recording."""
        command = self._ready(other, run)
        begin = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        return time.monotonic() - begin


class OnLab(Bench):
    """Programs on a cluster of causes.py; inputs are made once."""

    def __init__(self, lab: str, work: Path, known: RunList) -> None:
        super().__init__(lab, work, 1, "small")
        self.known = known

    def __enter__(self) -> Self:
        (self.work / "made").mkdir(exist_ok=True)
        return super().__enter__()

    def _ready(self, other: Other, run: str) -> tuple[str, ...]:
        """How to start a program, of which all is there that it needs."""
        given = fields(self.work, other, run) | {"examples": self.lab.examples_jar}
        made = {name: self.known.inputs[name] for name in other.inputs if name not in self.made}
        for name, text in [*made.items(), ("", other.prepare)]:
            self._do("bash", "-ec", self.known.filled(text, given))
            self.made.add(name)
        return "sh", "-c", f"exec {self.known.filled(other.command, given)}"

    def _do(self, *command: str) -> None:
        self.lab.run(list(command), check=True, capture_output=True)

    def record(self, other: Other) -> None:
        command = self._ready(other, other.title)
        record = ("record", "--quiet", "--lab", self.name, "--run", other.title, "--")
        with self.braked(other):
            self._iostrata(*record, *command)

    def seconds(self, other: Other, run: str) -> float:
        """How long a program takes without a recording; its outputs are gone then."""
        command = self._ready(other, run)
        with self.braked(other):
            begin = time.monotonic()
            self._do(*command)
            took = time.monotonic() - begin
        self._do("hadoop", "fs", "-rm", "-r", "-f", "-skipTrash", f"/set/*-{run}")
        return took


def costs(place: Alone | OnLab, other: Other, pairs: int) -> Row:
    """Seconds of a run and of its baseline, in turns and without a recording."""
    before, after = [], []
    for pair in range(pairs):
        before.append(place.seconds(other, f"{other.title}-{pair}"))
        baseline = place.known.of(other.baseline)
        after.append(place.seconds(baseline, f"{baseline.title}-for-{other.title}-{pair}"))
    return {"before_s": before, "after_s": after}


def row_of(other: Other, known: RunList, store: Path) -> Row:
    """What is kept of a run; places of this machine stay names in braces."""
    return {
        "run": other.title,
        "program": other.program,
        "planted": other.planted,
        "causes": list(other.causes),
        "baseline": other.baseline,
        **found(store, other.title),
        "command": known.filled(other.command, {"run": other.title}),
        "machine": machine(),
    }


def first_two(row: Row) -> list[str]:
    return [finding["rule"] for finding in row["findings"][:FIRST]]


def severe(row: Row) -> set[str]:
    return {finding["rule"] for finding in row["findings"] if finding["severity"] == "severe"}


def part(right: int, of: int) -> str:
    """A share with its 95 % interval (Clopper and Pearson)."""
    if not of:
        return "none"
    ends = binomtest(right, of).proportion_ci()
    return f"{right} of {of} ({ends.low:.0%} to {ends.high:.0%})"


def cost_of(row: Row) -> tuple[float, float, float] | None:
    """The part of a run that its cause took, and the 95 % interval of it; None: not measured."""
    return interval(row["cost"]) if row.get("cost") else None


def costs_nothing(row: Row) -> bool:
    """Whether there was nothing to find, though the run has a cause."""
    measured = cost_of(row)
    return measured is not None and measured[0] < LEAST_COST


def page(rows: list[Row]) -> str:
    """Markdown: how often the cause is among the first two, a line a rule, and a line a run."""
    cheap = [row for row in rows if costs_nothing(row)]
    planted = [row for row in rows if row["causes"] and row not in cheap]
    healthy = [row for row in rows if not row["causes"]]
    right = [row for row in planted if set(first_two(row)) & set(row["causes"])]
    lines = [
        f"{len(rows)} runs of {len({row['program'] for row in rows})} programs: the cause is among "
        f"the first two findings in {part(len(right), len(planted))}, and a run without a cause "
        f"has a severe finding in {part(sum(map(bool, map(severe, healthy))), len(healthy))}."
    ]
    if cheap:
        alarms = sum(bool(severe(row) & set(row["causes"])) for row in cheap)
        lines.append(
            f"In {part(len(cheap), len(cheap) + len(planted))} the cause cost nothing, less than "
            f"{LEAST_COST:.0%} of the run; it is severe in {alarms} of these."
        )
    return "\n".join([*lines, "", *_by_rule(rows, planted), "", *_by_run(rows), *_gains(planted)])


def _by_rule(rows: list[Row], planted: list[Row]) -> list[str]:
    lines = [
        "| rule | planted and among the first two | severe, of those where it was planted |",
        "|---|---:|---:|",
    ]
    for rule in sorted({rule for row in rows for rule in [*row["causes"], *severe(row)]}):
        of = [row for row in planted if rule in row["causes"]]
        hits = sum(rule in first_two(row) for row in of)
        alarms = [row for row in rows if rule in severe(row)]
        true = sum(rule in row["causes"] for row in alarms)
        lines.append(f"| {rule} | {part(hits, len(of))} | {part(true, len(alarms))} |")
    return lines


def _by_run(rows: list[Row]) -> list[str]:
    """With what the cause cost, where that was measured of any."""
    are_measured = any(map(cost_of, rows))
    heads = ["program", "what is wrong", *(["what it cost"] if are_measured else []), "wall"]
    sides = ["---", "---", *(["---:"] if are_measured else []), "---:"]
    lines = [f"| {' | '.join(heads)} | findings |", f"|{'|'.join(sides)}|---|"]
    for row in rows:
        seen = ", ".join(
            f"{each['rule']} ({each['severity']} {each['share']:.0%})" for each in row["findings"]
        )
        what = f"{row['planted']}: {' or '.join(row['causes'])}" if row["causes"] else "nothing"
        cells = [row["program"], what, *([_cost_said(row)] if are_measured else [])]
        lines.append(f"| {' | '.join(cells)} | {row['wall'] / 1e9:.0f} s | {seen or '-'} |")
    return lines


def _gains(planted: list[Row]) -> list[str]:
    """What the finding of a cause predicted, beside what a run without the cause saves."""
    lines = []
    for row in planted:
        of_cause = (each for each in row["findings"] if each["rule"] in row["causes"])
        said = next((each for each in of_cause if each["gain"]), None)
        if said and cost_of(row):
            predicted = [said["gain"]["low"], said["gain"]["high"]]
            cells = measured_cells(row["cost"] | {"predicted": predicted})
            lines.append(f"| {row['program']} | {row['planted']} | {said['rule']} | {cells} |")
    if not lines:
        return []
    heads = f"| program | what is wrong | rule | {MEASURED[0]} |"
    return ["", heads, f"|---|---|---|{MEASURED[1]}|", *lines]


def _cost_said(row: Row) -> str:
    measured = cost_of(row)
    if measured is None:
        return "-"
    mean, low, high = measured
    nothing = "; nothing" if costs_nothing(row) else ""
    return f"{mean:.0%} ({low:.0%} to {high:.0%}){nothing}"


class Rows:
    """What is kept of runs, in runs.json of a folder."""

    def __init__(self, folder: Path, known: RunList) -> None:
        self.path = folder / "runs.json"
        self.known = known
        there = json.loads(self.path.read_text()) if self.path.exists() else []
        self.of: dict[str, Row] = {row["run"]: row for row in there}

    def __iter__(self) -> Iterator[Row]:
        """In the order of the list."""
        return (self.of[run.title] for run in self.known.runs if run.title in self.of)

    def keep(self, row: Row) -> None:
        self.of[row["run"]] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps([*self.of.values()], indent=1) + "\n")
        seen = row["findings"][:FIRST]
        said = ", ".join(f"{each['rule']} {each['severity']} {each['share']:.0%}" for each in seen)
        took = f"; cost {_cost_said(row)}" if row.get("cost") else ""
        say(f"{row['run']} ({row['wall'] / 1e9:.0f} s; {row['causes']}{took}): {said or '-'}")

    def judge(self, store: Path) -> None:
        """Asks recordings anew; what was measured of them stays."""
        for other in self.known.runs:
            if other.title in self.of and (store / other.title).exists():
                kept = {"cost": self.of[other.title].get("cost")}
                self.keep(row_of(other, self.known, store) | kept)


def record(rows: Rows, wanted: Sequence[Other], work: Path, pairs: int) -> None:
    """Records runs, and times those that have a baseline."""
    known, store = rows.known, work / "store"
    for lab in dict.fromkeys(run.lab for run in wanted):
        with OnLab(lab, work, known) if lab else Alone(work, known) as place:
            for other in (run for run in wanted if run.lab == lab):
                shutil.rmtree(store / other.title, ignore_errors=True)
                place.record(other)
                cost = costs(place, other, pairs) if other.baseline and pairs else None
                rows.keep(row_of(other, known, store) | {"cost": cost})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("list", type=Path, help="runs, such as others.toml")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, help="folder for recordings and what programs need")
    parser.add_argument("--only", nargs="*", default=[], help="titles of runs")
    parser.add_argument("--pairs", type=int, default=3, help="of a run and its baseline; 0: none")
    parser.add_argument("--judge", action="store_true", help="ask anew what is in --work")
    parser.add_argument("--page", action="store_true", help="print the tables of what is there")
    chosen = parser.parse_args()
    known = run_list(chosen.list)
    rows = Rows(chosen.folder, known)
    if chosen.page:
        print(page([*rows]))
        return
    if not chosen.work:
        parser.error("--work is missing: where recordings stay")
    work = chosen.work.resolve()
    (work / "store").mkdir(parents=True, exist_ok=True)
    if chosen.judge:
        rows.judge(work / "store")
        return
    asked = [run for run in known.runs if run.title in chosen.only or not chosen.only]
    wanted = [run for run in asked if run.title not in rows.of or chosen.only]
    record(rows, wanted, work, chosen.pairs)


if __name__ == "__main__":
    main()
