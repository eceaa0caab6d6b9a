"""Every command, as a user types it: in a process of its own."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from iostrata.cli.app import whole_command
from iostrata.cli.commands import COMMANDS
from iostrata.cli.tests.here import here
from iostrata.schema.points import POINTS
from iostrata.store.tests.made import make_run, process, row_of_call, row_of_sum


def started(store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As a process of its own: how it starts and ends."""
    return subprocess.run(
        [sys.executable, "-m", "iostrata", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "IOSTRATA_STORE": str(store), "TERM": "dumb"},
        check=False,
    )


def iostrata(store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IOSTRATA_STORE", str(store))
        patch.setenv("TERM", "dumb")
        return here(*arguments)


def leaves(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something for people, with the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        if not command.hidden:
            yield " ".join(words), command
        return
    for name, found in inner.items():
        yield from leaves(found, (*words, name))


ALL = dict(leaves(whole_command()))


def test_the_registry_is_what_help_lists() -> None:
    assert list(ALL) == [
        "demo",
        "doctor",
        "record",
        "level",
        "top",
        "summary",
        "findings",
        "bottlenecks",
        "patterns",
        "calltree",
        "report",
        "compare",
        "query",
        "runs",
        "export",
        "import",
        "profile",
        "fit",
        "predict",
        "what-if",
        "place classify",
        "place zones",
        "points",
        "attach",
        "detach",
        "weave",
        "lab status",
        "lab brake",
        "lab exec",
        "lab logs",
        "lab down",
        "lab env",
        "lab up hadoop",
        "lab up moosefs",
        "lab up cephfs",
        "workload list",
        "workload describe",
        "workload run",
        "workload fit",
        "workload history",
        "workload model",
        "mix",
        "study list",
        "study describe",
        "study run",
        "prepare hadoop",
    ]
    assert [command.name for command in COMMANDS] == list(
        dict.fromkeys(words.split()[0] for words in ALL)
    )


@pytest.mark.parametrize("words", ALL)
def test_every_help_says_what_it_does_and_has_examples(words: str) -> None:
    command = ALL[words]
    assert command.help
    assert "Examples:" in (command.epilog or "")
    assert f"iostrata {words}" in (command.epilog or "")


def calls_in(example: str) -> Iterator[list[str]]:
    """Words of the calls of iostrata in an example, whose explanation stands behind two spaces."""
    text, *_ = re.split(r" {2,}", example)
    for within in re.findall(r"\$\(([^)]*)\)", text):
        yield from calls_in(within)
    text = re.sub(r"\$\([^)]*\)", "1", text)
    tokens = shlex.shlex(text, posix=True, punctuation_chars=";|>")
    tokens.whitespace_split = True
    tokens.commenters = ""
    for is_end, words in itertools.groupby(tokens, lambda token: token in (";", "|", ">")):
        called = list(words)
        if not is_end and called[0] == "iostrata":
            yield called[1:]


@pytest.mark.parametrize("words", ALL)
def test_examples_are_understood(words: str) -> None:
    """Each is as it was written, and its words are those that its command takes."""
    shown = (ALL[words].epilog or "").split("\n\n")[1:]
    examples = [line.strip().replace("\\*", "*") for line in shown]
    calls = list(itertools.chain.from_iterable(map(calls_in, examples)))
    assert calls
    for call in calls:
        name = next(each for each in ALL if call[: len(each.split())] == each.split())
        with ALL[name].make_context(name, call[len(name.split()) :]):
            pass


def test_help_shows_patterns_as_they_are(tmp_path: Path) -> None:
    assert "iostrata compare 'before-*' 'after-*'" in started(tmp_path, "compare", "--help").stdout


def test_help_documents_exit_codes(tmp_path: Path) -> None:
    said = started(tmp_path, "--help")
    assert said.returncode == 0
    assert "Exit codes: 0 success" in said.stdout


def test_version(tmp_path: Path) -> None:
    said = started(tmp_path, "--version")
    assert (said.returncode, said.stdout) == (0, f"iostrata {version('iostrata')}\n")


def test_errors_are_one_line(tmp_path: Path) -> None:
    said = started(tmp_path, "summary", "absent")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == f"iostrata: no run absent in {tmp_path} · iostrata runs lists them\n"


def test_record_names_what_it_cannot_do(tmp_path: Path) -> None:
    make_run(tmp_path, "there")
    asked = {
        "there": ("--run", "there"),
        "name": ("--run", "a/b"),
        "both": ("--lab", "x", "--dir", "/d"),
        "dir": ("--dir", str(tmp_path)),
    }
    said = {
        name: started(tmp_path, "record", *options, "--", "true") for name, options in asked.items()
    }
    assert {name: done.returncode for name, done in said.items()} == dict.fromkeys(asked, 125)
    assert {name: done.stderr.splitlines()[0].split(" · ")[0] for name, done in said.items()} == {
        "there": f"iostrata: run there exists already in {tmp_path}",
        "name": "iostrata: run name 'a/b' is not allowed",
        "both": "iostrata: --dir names a collector already",
        "dir": f"iostrata: no collector is alive in {tmp_path}",
    }


def test_runs_are_listed(tmp_path: Path) -> None:
    assert iostrata(tmp_path, "runs").stdout.startswith(f"no runs in {tmp_path}: record one")
    make_run(tmp_path, "one", [row_of_sum("fs", "read")], exit=3, state="failed", start=0, end=0)
    listed = iostrata(tmp_path, "runs").stdout.splitlines()
    assert [" ".join(line.split()) for line in listed] == [
        "run start duration state exit events size command",
        "one failed 3 1 2.0 KiB java Job",
    ]
    (run,) = json.loads(iostrata(tmp_path, "runs", "--json").stdout)
    assert (run["name"], run["state"], run["command"]) == ("one", "failed", ["java", "Job"])


def test_runs_are_found_by_name_and_tag(tmp_path: Path) -> None:
    """GIVEN a workload and a command with tags THEN what ran is listed in words, and found by its
    name, by what ran and by its tags.
    """
    call = [row_of_sum("fs", "read")]
    tags = {"cluster": "test", "try": "2"}
    made: dict[str, Any] = {
        "title": "terasort rows=1000 maps=2",
        "tags": tags,
        "start": 1,
        "end": 2,
    }
    make_run(tmp_path, "one", call, **made)
    make_run(tmp_path, "two", call, start=0, end=0, tags={"cluster": "prod"})

    def runs(*words: str) -> str:
        return iostrata(tmp_path, "runs", *words).stdout

    _, one, two = (line.partition("KiB  ")[2] for line in runs().splitlines())
    assert one == "terasort rows=1000 maps=2  [cluster=test try=2]"
    assert two == "java Job  [cluster=prod]"
    for words in (["tera*"], ["o*"], ["--tag", "try"], ["--tag", "cluster=t*", "--tag", "try=2"]):
        (run,) = json.loads(runs(*words, "--json"))
        assert (run["name"], run["tags"]) == ("one", tags), words
    none = f"none of the 2 runs in {tmp_path} is like that\n"
    assert runs("--tag", "cluster=test", "--tag", "try=3") == runs("x*") == none


def test_query_formats(tmp_path: Path) -> None:
    events = [row_of_call("fs", "read", "/a\x1b[2J,b", bytes=5)]
    make_run(tmp_path, "r", events)
    sql = "SELECT op, target, bytes FROM calls"
    table = iostrata(tmp_path, "query", sql).stdout.splitlines()
    assert [line.split() for line in table] == [
        ["op", "target", "bytes"],
        ["read", "/a\\x1b[2J,b", "5"],
    ]
    assert iostrata(tmp_path, "query", sql, "--format", "csv").stdout == (
        'op,target,bytes\nread,"/a\x1b[2J,b",5\n'
    )
    assert json.loads(iostrata(tmp_path, "query", sql, "--format", "json").stdout) == [
        {"op": "read", "target": "/a\x1b[2J,b", "bytes": 5}
    ]


def test_query_into_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [])
    sql = "SELECT * FROM range(1000000)"
    command = f"{sys.executable} -m iostrata query '{sql}' --format csv | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        env={**os.environ, "IOSTRATA_STORE": str(tmp_path)},
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("range\n", "", 1)


def test_points_that_never_fired_are_said_to(tmp_path: Path) -> None:
    # GIVEN a run in which the first point was called 5 times
    first = POINTS[0]
    make_run(tmp_path, "r", [row_of_sum(first.layer, first.op, point=first.id, count=5)])
    # THEN
    listed = json.loads(iostrata(tmp_path, "points", "--fired", "r", "--json").stdout)
    assert len(listed) == len(POINTS)
    assert {point["id"]: point["calls"] for point in listed if point["calls"]} == {first.id: 5}
    table = iostrata(tmp_path, "points", "--fired", "latest").stdout
    rows = [point for point in POINTS if point.makes_rows]
    assert table.count("never fired") == len(rows) - 1


def test_points_that_a_class_path_lacks(tmp_path: Path) -> None:
    # GIVEN a class path that names Hadoop's version and holds none of its classes
    (tmp_path / "common-version-info.properties").write_text("version=3.3.6-distribution-1\n")
    spark = sum(point.cls.startswith("org.apache.spark.") for point in POINTS)
    netty = sum(point.cls.startswith("io.netty.") for point in POINTS)
    of_hbase = ("org.apache.hadoop.hbase.", "org.apache.hbase.")
    hbase = sum(point.cls.startswith(of_hbase) for point in POINTS)
    names = [point for point in POINTS if point.cls.startswith("org.apache.hadoop.")]
    hadoop = [point for point in names if not point.cls.startswith(of_hbase)]
    newer = sum(1 for point in hadoop if point.since.startswith(("3.4", "3.5")))
    woven = [point for point in POINTS if point.mode != "own"]
    of_jdk = len(woven) - len(hadoop) - spark - hbase - netty
    # WHEN it is checked
    said = iostrata(tmp_path, "points", "--check", f"{tmp_path}:/nowhere")
    # THEN each point of 3.3 is listed, counted, and the exit code says that bytes are missed
    assert said.returncode == 1
    assert said.stderr == "iostrata: /nowhere in the class path does not exist\n"
    *rows, last = said.stdout.splitlines()
    assert [row.split()[2:4] for row in rows[1:]] == [["class", "missing"]] * (len(rows) - 1)
    other = "" if not newer else f", {newer} other version"
    missing = len(hadoop) - newer
    rest = f"{of_jdk} of the JDK, {spark} of Spark, {hbase} of HBase, {netty} of Netty"
    assert last == f"Hadoop 3.3.6: {missing} missing{other}, {rest}"
    assert len(rows) - 1 == missing

    shown = json.loads(iostrata(tmp_path, "points", "--check", str(tmp_path), "--json").stdout)
    assert len(shown) == len(woven)
    states = {point["id"]: (point["state"], point.get("source", "")) for point in shown}
    assert states[91] == ("class missing", "")


def test_points_checks_a_class_path_or_a_run(tmp_path: Path) -> None:
    said = iostrata(tmp_path, "points", "--check", "x", "--fired", "latest")
    assert said.returncode == 2
    assert said.stderr == (
        "iostrata: --check looks at a class path, --fired at a run · choose one\n"
    )


def test_summary_for_programs(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [row_of_sum("java", "read", bytes=7)], [process("client", 3)])
    found = json.loads(iostrata(tmp_path, "summary", "--json").stdout)
    assert found["run"]["name"] == "r"
    assert (found["processes"]["traced"], found["processes"]["total"]) == (1, 1)
    assert (found["layers"][0]["bytes_read"], found["dropped"]) == (7, 0)


def test_a_report_is_a_file_named_after_its_run(tmp_path: Path) -> None:
    make_run(tmp_path / "store", "r", [row_of_sum("java", "read", bytes=7)], [process("client", 3)])
    page = tmp_path / "of.html"
    done = iostrata(tmp_path / "store", "report", "r", "-o", str(page))
    assert (done.returncode, done.stdout) == (0, f"{page}\n")
    assert "<title>r · iostrata</title>" in page.read_text("utf-8")
    found = json.loads(iostrata(tmp_path / "store", "report", "--json").stdout)
    assert (found["run"]["name"], found["layers"][0]["bytes_read"]) == ("r", 7)


def test_reports_that_cannot_be_made_say_so_in_a_line(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [], [])
    nowhere = tmp_path / "no/of.html"
    written = iostrata(tmp_path, "report", "-o", str(nowhere))
    mixed = iostrata(tmp_path, "report", "r", "--example")
    assert [(done.returncode, done.stderr) for done in (written, mixed)] == [
        (
            2,
            f"iostrata: {nowhere} cannot be written: No such file or directory"
            " · name another file with -o\n",
        ),
        (2, "iostrata: --example shows its own run, not r · leave one of the two out\n"),
    ]


def test_runs_are_compared_as_text_for_programs_and_as_a_page(tmp_path: Path) -> None:
    store, page = tmp_path / "store", tmp_path / "c.html"
    for name, size in (("a1", 10), ("a2", 10), ("b1", 30)):
        make_run(store, name, [row_of_sum("java", "read", bytes=size)], [process("client", 3)])
    said = iostrata(store, "compare", "a*", "b1")
    assert (said.returncode, said.stderr) == (0, "")
    assert "A: 2 runs: a1, a2\nB: 1 run: b1\n" in said.stdout
    found = json.loads(iostrata(store, "compare", "a*", "b1", "--json").stdout)
    layers = next(table for table in found["tables"] if table["id"] == "layers")
    assert layers["rows"][0]["metrics"]["bytes_read"]["runs"] == [[10.0, 10.0], [30.0]]
    done = iostrata(store, "compare", "a*", "b1", "-o", str(page))
    assert (done.returncode, done.stdout) == (0, f"{page}\n")
    assert "<title>a* and b1 · iostrata</title>" in page.read_text("utf-8")
    twice = iostrata(store, "compare", "a1", "a*")
    assert (twice.returncode, twice.stderr) == (
        2,
        "iostrata: run a1 is on both sides · name it on one of them\n",
    )


def test_top_watches_a_run_that_is_recorded_and_says_when_it_has_ended(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [row_of_sum("java", "read", bytes=7)], [process("client", 3)])
    none = started(tmp_path, "top")
    assert (none.returncode, none.stderr) == (
        2,
        f"iostrata: no run is being recorded in {tmp_path} · iostrata runs lists those that were\n",
    )
    ended = started(tmp_path, "top", "r")
    assert (ended.returncode, ended.stdout.splitlines()[0]) == (0, "run r has ended: ok, exit 0")
