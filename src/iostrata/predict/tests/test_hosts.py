"""Loads on several hosts at once, which stand here for processes with another environment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.predict import measuring
from iostrata.predict.dimensions import Point
from iostrata.predict.fio import MARK
from iostrata.predict.hosts import SSH, LoadHost, LoadHosts
from iostrata.predict.plan import plan
from iostrata.predict.samples import SampleFile
from iostrata.predict.spec import MeasureRules, ProfileSpec

MIB = 1 << 20
VALUES: dict[str, tuple[str | int, ...]] = {
    "operation": ("read", "write"),
    "access": ("sequential",),
    "size": (32 * MIB,),
    "request": (128 << 10,),
    "clients": (1,),
    "cache": ("dropped", "warm"),
    "nodes": (1, 2),
}
ENV = "env HOST={host}"
needs_fio = pytest.mark.skipif(
    shutil.which("fio") is None, reason="fio is not installed: scripts/setup"
)


def spec(folder: Path, run: str = ENV) -> ProfileSpec:
    rules = MeasureRules(least=1, most=1, sample=30, others=1)
    return ProfileSpec("p", folder, None, VALUES, rules, hosts=LoadHosts(("a", "b"), run))


def silent(text: str, done: int, most: int) -> None: ...


@pytest.mark.parametrize(
    ("run", "words", "whole"),
    [
        (SSH, ("echo", "$a b"), ["ssh", "-o", "BatchMode=yes", "n1", "echo '$a b'"]),
        ("on {host} --", ("echo", "$a b"), ["on", "n1", "--", "echo", "$a b"]),
        # what stands in a command is no place for a name
        ("on {host} -c {command}", ("a", "{host}"), ["on", "n1", "-c", "a '{host}'"]),
    ],
)
def test_a_command_on_a_host(run: str, words: tuple[str, ...], whole: list[str]) -> None:
    assert LoadHost("n1", run).command(*words) == whole


@needs_fio
@pytest.mark.parametrize("run", [ENV, "sh -c 'HOST={host}; exec env sh -c \"$1\"' - {command}"])
def test_hosts_move_their_bytes_at_the_same_time(run: str, tmp_path: Path) -> None:
    of = spec(tmp_path, run)
    file = SampleFile(tmp_path / "out" / of.name, measuring.facts_of(of))
    file.open()
    with measuring.load_for(of) as load:
        done = measuring.measure(of, file, load, silent)
        assert sorted(path.name for path in Path(of.data).iterdir()) == ["a", "b"]
    assert done.points == done.samples == 8
    for sample in file.samples:
        assert sample.bytes == int(sample.point["nodes"]) * 32 * MIB
    assert not Path(of.data).exists()
    assert measuring.facts_of(of).hosts == ["a", "b"]


@needs_fio
def test_the_folder_of_a_host_is_never_somebody_else_s(tmp_path: Path) -> None:
    of = spec(tmp_path)
    theirs = Path(of.data) / "b"
    theirs.mkdir(parents=True)
    (theirs / "theirs").touch()
    wrong = pytest.raises(UserError, match="is on host b already, and is not ours")
    with wrong, measuring.load_for(of):
        pass
    # what was made on the first host is gone
    assert [str(path.relative_to(of.data)) for path in Path(of.data).rglob("*")] == [
        "b", "b/theirs",
    ]  # fmt: skip
    # one that a killed session has left is ours
    (theirs / MARK).touch()
    with measuring.load_for(of):
        assert not (theirs / "theirs").exists()
    assert not Path(of.data).exists()


def test_a_plan_asks_the_hosts(tmp_path: Path) -> None:
    said = plan(spec(tmp_path)).lines()
    assert "on a, b" in said
    assert said[-1].startswith(f"writes 128.0 MiB into {tmp_path}, which has ")
    with pytest.raises(UserError, match=r"host a cannot run df: .*gone"):
        plan(spec(tmp_path / "gone"))


def test_a_host_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    refuses = spec(tmp_path, "sh -c 'echo no route to {host} >&2; exit 255' -")
    with pytest.raises(UserError, match="host a cannot run df: no route to a") as wrong:
        plan(refuses)
    assert wrong.value.remedy.startswith("try: sh -c ")
    with pytest.raises(UserError, match="host a cannot run fio"), measuring.load_for(refuses):
        pass


@needs_fio
def test_a_load_that_fails_on_one_host_ends_the_others(tmp_path: Path) -> None:
    script = tmp_path / "on.sh"
    script.write_text('host=$1; shift\n[ $host$1 = bfio ] && [ $2 != --version ] && exit 7\n"$@"\n')
    of = spec(tmp_path, f"sh {script} {{host}}")
    point: Point = {name: values[-1] for name, values in VALUES.items()}
    with measuring.load_for(of) as load:
        load.prepare(point)
        with pytest.raises(UserError, match="fio failed with 7"):
            load.measure(point)
    assert not Path(of.data).exists()
