"""iostrata export, as a user types it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench.peers.otlp import Receiver

from iostrata.cli.commands import export as command
from iostrata.cli.tests.test_commands import iostrata
from iostrata.show.export import csv
from iostrata.show.export.formats import FORMATS
from iostrata.show.export.tests.runs import CALLS, TASK, make
from iostrata.store.tests.made import START, make_run, row_of_call, row_of_sum, sample

MISSING = "iostrata: not in it, as they were only summed: java 9 calls (990 B)\n"


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_per_format_and_what_is_not_in_it(tmp_path: Path, name: str) -> None:
    make(tmp_path / "store")
    file = tmp_path / "made"
    said = iostrata(tmp_path / "store", "export", name, "-o", str(file))
    assert (said.returncode, said.stdout) == (0, f"{file}\n")
    calls = CALLS + (name == "perfetto")  # which shows a pause, too
    first, rest = said.stderr.split("\n", 1)
    assert first.startswith(f"iostrata: {calls} {FORMATS[name].unit}s of run r, ")
    assert rest == MISSING
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["made"]


def test_standard_output_has_nothing_but_the_export(tmp_path: Path) -> None:
    make(tmp_path)
    said = iostrata(tmp_path, "export", "strace", "-o", "-", "--layer", "java", "--task", TASK)
    assert len(said.stdout.splitlines()) == 4
    assert said.stderr == f"iostrata: 4 lines of run r, standard output\n{MISSING}"


def test_what_was_only_summed_was_so_at_any_time(tmp_path: Path) -> None:
    make(tmp_path)
    said = iostrata(tmp_path, "export", "csv", "-o", "-", "--from", "0.1")
    assert said.stderr.endswith("only summed at any time: java 9 calls (990 B)\n")
    said = iostrata(tmp_path, "export", "csv", "-o", "-", "--table", "sums")
    assert said.stderr == "iostrata: 7 rows of run r, standard output\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["xml"],
            "no format is called 'xml' · one of perfetto, speedscope, otlp, strace, csv",
        ),
        (["strace", "--table", "sums"], "strace has no tables · --table is for csv"),
        (["csv", "--endpoint", "http://x"], "csv is sent nowhere · --endpoint is for otlp"),
        (
            ["csv", "--job", "j", "--layer", "fs", "--layer", "rpc"],
            "no call of run r was recorded individually for --job j --layer fs, rpc"
            " · iostrata summary says what is in the run",
        ),
        (
            ["csv", "-o", "/proc/made"],
            "/proc/made cannot be written: No such file or directory · name another file with -o",
        ),
    ],
)
def test_errors_are_one_line(tmp_path: Path, options: list[str], line: str) -> None:
    make(tmp_path)
    said = iostrata(tmp_path, "export", *options)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == f"iostrata: {line}\n"


def test_a_run_of_sums_has_no_calls(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [row_of_sum("java", "read", start=1, dur=1)], [], [])
    said = iostrata(tmp_path, "export", "perfetto", "-o", str(tmp_path / "made"))
    assert said.returncode == 2
    assert said.stderr.startswith("iostrata: no call of run r was recorded individually · ")
    assert not (tmp_path / "made").exists()


def test_nothing_is_left_of_what_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "store")
    out = tmp_path / "out"
    out.mkdir()
    (out / "made").write_text("older")

    def interrupted(_: Any, file: Any) -> int:
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(csv, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        command.export("csv", output=out / "made", store=tmp_path / "store")
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [("made", "older")]


def test_spans_are_sent_to_the_receiver_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    with Receiver() as receiver:
        said = iostrata(tmp_path, "export", "otlp", "--endpoint", receiver.endpoint)
        assert (said.returncode, said.stdout) == (0, "")
        assert said.stderr == f"iostrata: {CALLS} spans of run r, {receiver.endpoint}\n{MISSING}"
        assert receiver.take()[1]["datanode.receive_block"] == 1
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint)
        assert iostrata(tmp_path, "export", "otlp").returncode == 0
        assert sum(receiver.take()[1].values()) == CALLS


def test_headers_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a=b, x = 1,,")
    assert command._headers() == {"api-key": "a=b", "x": "1"}
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_HEADERS")
    assert command._headers() == {}


def test_a_value_that_all_traces_have_is_missing(tmp_path: Path) -> None:
    """Found by fuzzing: it was a fault of iostrata, exit code 3."""
    samples = [sample(0), sample(1, disk_read=None)]
    call = row_of_call("java", "read", "/a", start=START)
    make_run(tmp_path, "r", [call], system=samples)
    said = iostrata(tmp_path, "export", "perfetto", "-o", str(tmp_path / "made"))
    assert (said.returncode, said.stderr) == (
        2,
        "iostrata: run r has values that no trace has: system.disk_read is missing in 1 row "
        "· it is damaged, or made to do harm\n",
    )
