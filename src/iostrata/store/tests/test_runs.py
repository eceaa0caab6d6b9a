from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.processes import alive, start_ticks
from iostrata.store.location import check_run_name, default_store
from iostrata.store.runs import find_run, list_runs
from iostrata.store.tests.made import SECOND, START, make_run
from iostrata.store.tests.others import let_in, nobody


def line(error: UserError) -> str:
    return f"{error.message} · {error.remedy}"


def test_latest_run_is_the_default(tmp_path: Path) -> None:
    # GIVEN
    make_run(tmp_path, "first", start=START)
    make_run(tmp_path, "third", start=START + 9 * SECOND)
    make_run(tmp_path, "second", start=START + 5 * SECOND)
    # THEN
    assert find_run(tmp_path, None).name == "third"
    assert [run.name for run in list_runs(tmp_path)] == ["third", "second", "first"]


def test_what_is_no_run_is_not_listed(tmp_path: Path) -> None:
    # GIVEN
    make_run(tmp_path, "mine")
    (tmp_path / ".spool").mkdir()
    make_run(tmp_path, "_background")
    (tmp_path / "notes").mkdir()
    # THEN
    assert [run.name for run in list_runs(tmp_path)] == ["mine"]


def test_wrong_run_names_near_ones(tmp_path: Path) -> None:
    make_run(tmp_path, "terasort-1")
    make_run(tmp_path, "wordcount")
    with pytest.raises(UserError) as caught:
        find_run(tmp_path, "terasort-2")
    assert line(caught.value) == f"no run terasort-2 in {tmp_path} · did you mean terasort-1?"


def test_wrong_run_without_near_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        find_run(tmp_path, "nothing-like-it")
    assert line(caught.value) == (
        f"no run nothing-like-it in {tmp_path} · iostrata runs lists them"
    )


def test_no_runs_at_all(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        find_run(tmp_path / "absent", None)
    assert line(caught.value) == (
        f"no runs in {tmp_path}/absent · record one: iostrata record -- COMMAND"
    )


def test_store_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(UserError) as caught:
        list_runs(tmp_path / "store")
    assert (
        line(caught.value) == f"{tmp_path}/store is not a store: it is a file · set IOSTRATA_STORE"
    )


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_store_and_run_of_somebody_else(tmp_path: Path) -> None:
    # GIVEN a store that others may enter with a run they may not, and a closed one
    let_in(tmp_path)
    make_run(tmp_path / "node", "theirs").chmod(0o700)
    make_run(tmp_path / "closed", "theirs")
    (tmp_path / "closed").chmod(0o700)

    # WHEN
    said = []
    for store, name in (("node", "theirs"), ("node", None), ("closed", "theirs"), ("closed", None)):
        with nobody(), pytest.raises(UserError) as caught:
            find_run(tmp_path / store, name)
        said.append(line(caught.value))

    # THEN
    closed = f"the store {tmp_path}/closed cannot be read: it belongs to uid 0, mode 0700"
    assert said == [
        f"run theirs cannot be read: {tmp_path}/node/theirs · it belongs to uid 0, mode 0700",
        f"no runs in {tmp_path}/node · record one: iostrata record -- COMMAND",
        f"{closed} · set IOSTRATA_STORE",
        f"{closed} · set IOSTRATA_STORE",
    ]


def test_a_run_whose_recorder_is_gone_is_incomplete(tmp_path: Path) -> None:
    # GIVEN one recorder that lives and one that has ended
    me = os.getpid()
    make_run(tmp_path, "now", state="recording", recorder_pid=me, recorder_start=start_ticks(me))
    make_run(tmp_path, "gone", state="recording", recorder_pid=me, recorder_start=1)
    # THEN
    assert find_run(tmp_path, "now").state == "recording"
    assert find_run(tmp_path, "gone").state == "incomplete"


def test_damaged_facts_are_no_crash(tmp_path: Path) -> None:
    run_dir = make_run(tmp_path, "odd", start="yesterday", exit=None)
    (run_dir / "progress.json").write_text("[1, 2")
    run = find_run(tmp_path, "odd")
    assert (run.start, run.exit, run.events) == (0, None, 0)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../x", "-x", "_background", "x" * 65, "a b"]
)
def test_names_that_are_no_run_names(name: str) -> None:
    with pytest.raises(UserError, match="is not allowed"):
        check_run_name(name)


def test_store_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOSTRATA_STORE", "/data/runs")
    assert default_store() == Path("/data/runs")
    monkeypatch.delenv("IOSTRATA_STORE")
    assert default_store() == Path.home() / ".local/share/iostrata"


def test_a_process_is_its_id_and_its_start() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        begun = start_ticks(child.pid)
        assert begun is not None
        assert alive(child.pid, begun)
        assert not alive(child.pid, begun + 1)
        child.kill()
    assert not alive(child.pid, begun)
