#!/usr/bin/env python3
"""Are findings right about programs that nobody here wrote? Records them and judges what is found.

    bench/rules/independent.py FOLDER --work WORK [--only TITLE …]   records what is not there yet
    bench/rules/independent.py FOLDER --work WORK --judge            the same recordings, asked anew
    bench/rules/independent.py FOLDER --page                         the tables of docs/findings.md

The runs are in others.toml: each is a program as it was published, with a cause that its settings
or its cluster have, or none. The folder gets runs.json; recordings stay in WORK. Ctrl-C ends it
with what it has.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from scipy.stats import binomtest

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from bench.measure.results import machine, say  # noqa: E402
from bench.rules.matrix import Bench, found, iostrata  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FIRST = 2  # findings that people read
DEEP = 4  # fields within fields
Row = dict[str, Any]


@dataclass(frozen=True)
class Other:
    """A program, and what is wrong with how it runs: any of the rules `causes`; none: nothing."""

    title: str
    program: str
    command: str
    planted: str = ""
    causes: tuple[str, ...] = ()
    lab: str = ""  # of causes.py
    prepare: str = ""
    inputs: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()
    brakes: dict[str, str] = field(default_factory=dict)


_SET = tomllib.loads(Path(__file__).with_name("others.toml").read_text("utf-8"))
FIELDS: dict[str, str] = _SET["fields"]
INPUTS: dict[str, str] = _SET["inputs"]
RUNS = tuple(Other(title, **run) for title, run in _SET["run"].items())


def jars(work: Path, coordinates: Sequence[str]) -> str:
    """A class path of artifacts of Maven with all that they need."""
    if not coordinates:
        return ""
    folder = work / "jars" / coordinates[0].replace(":", "-")
    if not folder.exists():
        wanted = "".join(
            "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
            "</dependency>".format(*each.split(":"))
            for each in coordinates
        )
        pom = work / "pom.xml"
        pom.write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>set</groupId>"
            "<artifactId>set</artifactId><version>1</version>"
            f"<dependencies>{wanted}</dependencies></project>"
        )
        copy = ("dependency:copy-dependencies", f"-DoutputDirectory={folder}")
        subprocess.run(["mvn", "-B", "-q", "-f", str(pom), *copy], check=True)
    return f"{folder}/*"


def fields(work: Path, other: Other) -> dict[str, Any]:
    """What the names in braces of a command stand for: {jars}, a class path of the artifacts of
    Maven; {folder}, where these are; {local}, an empty folder; {made}, that of inputs; {run};
    {root} of the checkout.
    """
    path = jars(work, other.jars)
    local = work / "local" / other.title
    shutil.rmtree(local, ignore_errors=True)
    local.mkdir(parents=True)
    given = {"jars": path, "folder": path.rpartition("/")[0], "run": other.title}
    return given | {"local": local, "made": work / "made", "root": ROOT}


def filled(text: str, given: dict[str, Any]) -> str:
    """A text with what stands for the names in braces, which may have names themselves."""
    for _ in range(DEEP):
        for name, value in (FIELDS | given).items():
            text = text.replace(f"{{{name}}}", str(value))
    return text


class Alone:
    """Programs that need no cluster."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def record(self, other: Other) -> None:
        given = fields(self.work, other)
        if other.prepare:
            prepare = filled(other.prepare, given)
            subprocess.run(["bash", "-ec", prepare], check=True, capture_output=True)
        command = ("sh", "-c", f"exec {filled(other.command, given)}")
        iostrata(self.work / "store", "record", "--quiet", "--run", other.title, "--", *command)


class OnLab(Bench):
    """Programs on a cluster of causes.py; inputs are made once."""

    def __enter__(self) -> Self:
        (self.work / "made").mkdir(exist_ok=True)
        return super().__enter__()

    def record(self, other: Other) -> None:
        given = fields(self.work, other) | {"examples": self.lab.examples_jar}
        made = {name: INPUTS[name] for name in other.inputs if name not in self.made}
        for name, text in [*made.items(), ("", other.prepare)]:
            self.lab.run(["bash", "-ec", filled(text, given)], check=True, capture_output=True)
            self.made.add(name)
        command = ("sh", "-c", f"exec {filled(other.command, given)}")
        record = ("record", "--quiet", "--lab", self.name, "--run", other.title, "--")
        with self.braked(other):
            self._iostrata(*record, *command)


def row_of(other: Other, store: Path) -> Row:
    """What is kept of a run; places of this machine stay names in braces."""
    return {
        "run": other.title,
        "program": other.program,
        "planted": other.planted,
        "causes": list(other.causes),
        **found(store, other.title),
        "command": filled(other.command, {"run": other.title}),
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


def page(rows: list[Row]) -> str:
    """Markdown: how often the cause is among the first two, a line a rule, and a line a run."""
    planted = [row for row in rows if row["causes"]]
    healthy = [row for row in rows if not row["causes"]]
    right = [row for row in planted if set(first_two(row)) & set(row["causes"])]
    lines = [
        f"{len(rows)} runs of {len({row['program'] for row in rows})} programs: the cause is among "
        f"the first two findings in {part(len(right), len(planted))}, and a run without a cause "
        f"has a severe finding in {part(sum(map(bool, map(severe, healthy))), len(healthy))}.",
        "",
        "| rule | planted and among the first two | severe, of those where it was planted |",
        "|---|---:|---:|",
    ]
    for rule in sorted({rule for row in rows for rule in [*row["causes"], *severe(row)]}):
        of = [row for row in planted if rule in row["causes"]]
        hits = sum(rule in first_two(row) for row in of)
        alarms = [row for row in rows if rule in severe(row)]
        true = sum(rule in row["causes"] for row in alarms)
        lines.append(f"| {rule} | {part(hits, len(of))} | {part(true, len(alarms))} |")
    lines += ["", "| program | what is wrong | wall | findings |", "|---|---|---:|---|"]
    for row in rows:
        seen = ", ".join(
            f"{each['rule']} ({each['severity']} {each['share']:.0%})" for each in row["findings"]
        )
        what = f"{row['planted']}: {' or '.join(row['causes'])}" if row["causes"] else "nothing"
        wall = f"{row['wall'] / 1e9:.0f} s"
        lines.append(f"| {row['program']} | {what} | {wall} | {seen or '-'} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, help="folder for recordings and what programs need")
    parser.add_argument("--only", nargs="*", default=[], help="titles of runs")
    parser.add_argument("--judge", action="store_true", help="ask anew what is in --work")
    parser.add_argument("--page", action="store_true", help="print the tables of what is there")
    chosen = parser.parse_args()
    path = chosen.folder / "runs.json"
    rows: dict[str, Row] = {}
    if path.exists():
        rows = {row["run"]: row for row in json.loads(path.read_text())}
    if chosen.page:
        print(page([rows[other.title] for other in RUNS if other.title in rows]))
        return
    if not chosen.work:
        parser.error("--work is missing: where recordings stay")
    store = chosen.work.resolve() / "store"
    store.mkdir(parents=True, exist_ok=True)

    def keep(row: Row) -> None:
        rows[row["run"]] = row
        chosen.folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([*rows.values()], indent=1) + "\n")
        seen = row["findings"][:FIRST]
        said = ", ".join(f"{each['rule']} {each['severity']} {each['share']:.0%}" for each in seen)
        say(f"{row['run']} ({row['wall'] / 1e9:.0f} s; {row['causes']}): {said or '-'}")

    if chosen.judge:
        for other in RUNS:
            if other.title in rows and (store / other.title).exists():
                keep(row_of(other, store))
        return
    wanted = [run for run in RUNS if run.title in chosen.only or not chosen.only]
    wanted = [run for run in wanted if run.title not in rows or chosen.only]
    for lab in dict.fromkeys(run.lab for run in wanted):
        with OnLab(lab, store.parent, 1, "small") if lab else Alone(store.parent) as place:
            for other in (run for run in wanted if run.lab == lab):
                shutil.rmtree(store / other.title, ignore_errors=True)
                place.record(other)
                keep(row_of(other, store))


if __name__ == "__main__":
    main()
