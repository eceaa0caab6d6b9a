from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.processes import start_ticks
from iostrata.record.collector import (
    Collector,
    collector_of,
    distrust,
    key_values,
    last_line,
    run_key,
)


def describe(directory: Path, **facts: object) -> None:
    me = os.getpid()
    given = {"pid": me, "pid_start": start_ticks(me), "uid": 0, "host": "h", "store": "/s"}
    text = "".join(f"{key}={value}\n" for key, value in {**given, "version": "1", **facts}.items())
    (directory / "collector").write_text(text)


def test_a_live_collector(tmp_path: Path) -> None:
    describe(tmp_path)
    found = collector_of(tmp_path)
    assert found is not None
    assert (found.dir, found.store, found.host, found.version) == (tmp_path, Path("/s"), "h", "1")
    assert found.alive


def test_a_dead_one_is_none(tmp_path: Path) -> None:
    # GIVEN a process id that is used again: the same number, another start
    describe(tmp_path, pid_start=1)
    assert collector_of(tmp_path) is None
    # AND one of no process
    with subprocess.Popen(["true"]) as ended:
        pass
    describe(tmp_path, pid=ended.pid)
    assert collector_of(tmp_path) is None


@pytest.mark.parametrize("facts", [{"pid": "x"}, {"pid_start": ""}, {"uid": "me"}])
def test_nonsense_is_none(tmp_path: Path, facts: dict[str, str]) -> None:
    describe(tmp_path, **facts)
    assert collector_of(tmp_path) is None


def test_one_that_is_being_written_is_none(tmp_path: Path) -> None:
    # GIVEN a collector that has said the begin of what it says of itself
    describe(tmp_path)
    place = tmp_path / "collector"
    text = place.read_text()
    for end in range(len(text) - len("1\n")):
        # THEN there is none yet: a store of "" would be the current directory
        place.write_text(text[:end])
        assert collector_of(tmp_path) is None, text[:end]


def test_absent_is_none(tmp_path: Path) -> None:
    assert collector_of(tmp_path / "no") is None
    assert collector_of(tmp_path) is None


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to give a directory away")
def test_a_directory_of_a_third_user_is_not_believed(tmp_path: Path) -> None:
    describe(tmp_path)
    os.chown(tmp_path, 65534, 65534)
    os.seteuid(0)
    assert collector_of(tmp_path) is None


def test_files_of_key_values(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a=1\n# note\nb=x=y\n\xff=2\n")
    assert key_values(tmp_path / "f") == {"a": "1", "b": "x=y", "�": "2"}
    assert key_values(tmp_path / "absent") == {}


def test_last_lines(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("first\nlast\n\n")
    (tmp_path / "empty").write_text("")
    assert [last_line(tmp_path / name) for name in ("log", "empty", "absent")] == [
        "last",
        "it said nothing",
        "No such file or directory",
    ]


@pytest.mark.parametrize("mode", [0o1777, 0o775, 0o757])
def test_a_directory_that_others_may_write_to_is_not_believed(tmp_path: Path, mode: int) -> None:
    place = tmp_path / "d"
    place.mkdir(mode=0o755)
    describe(place)
    assert (collector_of(place) is not None, distrust(place)) == (True, None)
    place.chmod(mode)
    assert collector_of(place) is None
    doubt = distrust(place)
    assert doubt is not None
    assert doubt.message == f"others may write to {place}"


def test_nor_is_one_that_others_may_put_another_in_the_place_of(tmp_path: Path) -> None:
    above = tmp_path / "above"
    place = above / "d"
    place.mkdir(parents=True)
    describe(place)
    above.chmod(0o777)
    assert collector_of(place) is None
    above.chmod(0o1777)  # as /dev/shm is: there nobody renames what is another's
    assert collector_of(place) is not None


def test_a_link_is_the_directory_that_it_names(tmp_path: Path) -> None:
    """What is judged is what is used: a link may name another place a moment later."""
    place = tmp_path / "d"
    place.mkdir()
    describe(place)
    (tmp_path / "link").symlink_to(place)
    found = collector_of(tmp_path / "link")
    assert found is not None
    assert found.dir == place


def test_each_user_of_a_collector_has_names_of_their_own() -> None:
    me = os.geteuid()

    def key(uid: int, run: str) -> str:
        return run_key(Collector(Path("/d"), Path("/s"), 1, 1, uid, "h", "1"), run)

    assert (key(me, "nightly"), key(me + 1, "nightly")) == ("nightly", f"nightly.{me}")
    assert key(me, "x" * 64) == "x" * 64
    with pytest.raises(UserError, match="is too long"):
        key(me + 1, "x" * 64)
