"""`iostrata record` is read without typer as typer reads it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from iostrata.cli.app import whole_command
from iostrata.cli.recordline import BUDGET, FLAGS, VALUES, RecordOptions, record_options

RECORD: Any = whole_command().commands["record"]

LINES = [
    "true",
    "-- true",
    "-- -q true",
    "java -q -- --private",
    "-- -- true",
    "-q --private -- java -jar a.jar --run x",
    "--run baseline --store /a/b --quiet ./job.sh -x",
    "--run=a=b --dir= --lab lab -- job",
    "--level task --sampling 1/100 --budget=off -- job",
    "--tag a=b --tag=c=d=e -- job",
    "--points a.toml --points=b.toml --without-point A#b --without-point C#d -- job",
]
EXPLAINED = [
    "",
    "--",
    "--help",
    "-h -- true",
    "-q",
    "--run",
    "--run x",
    "--unknown -- true",
    "--private=yes -- true",
    "-qx true",
]


LISTS = ("command", "without_point", "points", "tag")


@pytest.mark.parametrize("budget", [None, "2%", ""])
@pytest.mark.parametrize("line", LINES)
def test_options_are_as_typer_reads_them(
    line: str, budget: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(BUDGET, raising=False)
    if budget is not None:
        monkeypatch.setenv(BUDGET, budget)
    read = RECORD.make_context("record", line.split()).params
    read |= {name: list(read[name] or ()) for name in LISTS}
    assert record_options(line.split()) == RecordOptions(**read)


@pytest.mark.parametrize("line", EXPLAINED)
def test_what_has_to_be_explained_is_typers(line: str) -> None:
    assert record_options(line.split()) is None


def test_no_option_is_forgotten() -> None:
    options = {name: p.name for p in RECORD.params if p.name != "command" for name in p.opts}
    assert options == {**FLAGS, **VALUES}
    assert {field.name for field in fields(RecordOptions)} == {*options.values(), "command"}
