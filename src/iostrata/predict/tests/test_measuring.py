"""The rounds of a profile: which points are measured how often, and what stays of a session."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from iostrata.errors import UserError
from iostrata.predict import measuring
from iostrata.predict.dimensions import Point
from iostrata.predict.fio import Fio, FioResult
from iostrata.predict.samples import SampleFile, key, read_samples
from iostrata.predict.spec import MeasureRules, ProfileSpec

RULES = MeasureRules(least=3, most=6, width=0.05, sample=1, others=1)
VALUES: dict[str, tuple[str | int, ...]] = {
    "operation": ("read", "write"),
    "access": ("sequential", "90-10"),
    "size": (16 << 20, 32 << 20),
    "request": (4096,),
    "clients": (1, 2),
    "cache": ("dropped",),
}


class Scripted:
    """A load whose speed each test knows."""

    def __init__(self, *speeds: int, fails_after: int = 1 << 30) -> None:
        self.speeds = speeds
        self.done: list[str] = []
        self.left = fails_after

    def prepare(self, point: Point) -> None: ...

    def measure(self, point: Point) -> FioResult:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        before = self.done.count(key(point))
        self.done.append(key(point))
        return FioResult(self.speeds[before % len(self.speeds)], 10**9)


def spec(folder: Path, rules: MeasureRules = RULES) -> ProfileSpec:
    return ProfileSpec("p", folder, None, VALUES, rules)


def opened(folder: Path, of: ProfileSpec) -> SampleFile:
    file = SampleFile(folder / "out" / of.name, measuring.facts_of(of))
    file.open()
    return file


def silent(text: str, done: int, most: int) -> None: ...


def test_a_point_that_does_not_scatter_has_the_fewest_samples(tmp_path: Path) -> None:
    load, file = Scripted(1000), opened(tmp_path, spec(tmp_path))
    state = measuring.measure(spec(tmp_path), file, load, silent)
    assert set(Counter(load.done).values()) == {3}
    assert (state.points, state.samples, state.known, state.wide) == (16, 48, 16, 0)


def test_reads_that_ended_before_their_files_are_counted(tmp_path: Path) -> None:
    """GIVEN samples of 32 MiB
    THEN sequential reads of a file of 32 MiB are whole, as two of 16 MiB are, and two of 32 are cut
    AND writes and random reads are as they should be."""
    file = opened(tmp_path, spec(tmp_path))
    state = measuring.measure(spec(tmp_path), file, Scripted(32 << 20), silent)
    assert (state.samples, state.cut) == (48, 3)


def test_a_point_that_scatters_has_the_most(tmp_path: Path) -> None:
    load, file = Scripted(1000, 2000), opened(tmp_path, spec(tmp_path))
    state = measuring.measure(spec(tmp_path), file, load, silent)
    assert set(Counter(load.done).values()) == {6}
    assert (state.known, state.wide, state.unmeasured) == (0, 16, 0)


def test_each_round_has_each_point_once_in_another_order(tmp_path: Path) -> None:
    load, file = Scripted(1000), opened(tmp_path, spec(tmp_path))
    measuring.measure(spec(tmp_path), file, load, silent)
    rounds = [load.done[at : at + 16] for at in (0, 16, 32)]
    assert [len(set(one)) for one in rounds] == [16] * 3
    assert len({tuple(one) for one in rounds}) == 3


def test_a_session_that_ends_in_the_middle_goes_on(tmp_path: Path) -> None:
    of = spec(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        measuring.measure(of, opened(tmp_path, of), Scripted(1000, fails_after=20), silent)
    file = tmp_path / "out/p/samples.jsonl"
    file.write_text(file.read_text() + '{"point": {"oper')  # cut off by a crash
    load = Scripted(1000)
    again = opened(tmp_path, of)
    assert len(again.samples) == 20
    measuring.measure(of, again, load, silent)
    assert len(load.done) == 28
    assert len(read_samples(file.parent)) == 48


def test_a_budget_ends_it_and_what_was_measured_stays(tmp_path: Path) -> None:
    of = spec(tmp_path, replace(RULES, budget=5))
    file = opened(tmp_path, of)
    ticks = iter(range(1000))
    state = measuring.measure(of, file, Scripted(1000), silent, clock=lambda: next(ticks))
    assert state.ended_by_budget
    assert (state.samples, state.unmeasured) == (4, 12)


def test_an_adaptive_order_begins_with_some_and_goes_on_until_all_are_measured(
    tmp_path: Path,
) -> None:
    of = spec(tmp_path, replace(RULES, order="adaptive"))
    load, file = Scripted(1000), opened(tmp_path, of)
    state = measuring.measure(of, file, load, silent)
    assert (state.known, state.samples) == (16, 48)
    # eight points, then four at a time, each once; then rounds
    assert [len(set(load.done[:end])) for end in (8, 12, 16)] == [8, 12, 16]
    assert [len(set(load.done[at : at + 16])) for at in (16, 32)] == [16, 16]
    with pytest.raises(KeyboardInterrupt):
        measuring.measure(of, opened(tmp_path / "b", of), Scripted(1000, fails_after=30), silent)
    again = opened(tmp_path / "b", of)
    assert len(again.samples) == 30
    assert measuring.measure(of, again, Scripted(1000), silent).samples == 48


@pytest.mark.parametrize("order", ["rounds", "adaptive"])
def test_disturbed_samples_do_not_count_and_do_not_go_on_for_ever(
    order: str, tmp_path: Path
) -> None:
    of = spec(tmp_path, replace(RULES, others=-1, order=order))
    load = Scripted(1000)
    state = measuring.measure(of, opened(tmp_path, of), load, silent)
    assert set(Counter(load.done).values()) == {12}
    assert (state.disturbed, state.unmeasured) == (16 * 12, 16)


def test_another_profile_of_that_name(tmp_path: Path) -> None:
    opened(tmp_path, spec(tmp_path))
    other = ProfileSpec("p", tmp_path, None, {**VALUES, "clients": (1, 4)}, RULES)
    with pytest.raises(UserError, match=r"dimensions\.clients \[1, 2\], not \[1, 4\]"):
        opened(tmp_path, other)


def test_a_command_runs_before_each_sample(tmp_path: Path) -> None:
    said = tmp_path / "said"
    rules = replace(RULES, before=f"echo cold >> {said}")
    file = opened(tmp_path, spec(tmp_path, rules))
    state = measuring.measure(spec(tmp_path, rules), file, Scripted(1000), silent)
    assert said.read_text() == state.samples * "cold\n"
    # a profile without it would be of something else
    with pytest.raises(UserError, match=r'before "echo cold .*", not ""'):
        opened(tmp_path, spec(tmp_path))


def test_a_command_that_fails_ends_it_before_the_sample(tmp_path: Path) -> None:
    rules = replace(RULES, before="echo 'no such node' >&2; exit 3")
    file = opened(tmp_path, spec(tmp_path, rules))
    with pytest.raises(UserError, match=r"before failed with 3: no such node$"):
        measuring.measure(spec(tmp_path, rules), file, Scripted(1000), silent)
    assert not file.samples


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UserError, match="Not a directory"):
        opened(tmp_path, spec(tmp_path))


def test_a_line_that_is_no_sample(tmp_path: Path) -> None:
    of = spec(tmp_path)
    measuring.measure(of, opened(tmp_path, of), Scripted(1000), silent)
    file = tmp_path / "out/p/samples.jsonl"
    lines = file.read_text().splitlines()
    lines[4] = lines[4].replace('"bytes": 1000', '"bytes": "many"')
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=r"samples\.jsonl:5: Expected `int`"):
        opened(tmp_path, of)


def test_samples_are_a_table_with_a_column_for_each_dimension(tmp_path: Path) -> None:
    of = spec(tmp_path)
    file = opened(tmp_path, of)
    measuring.measure(of, file, Scripted(1000), silent)
    query = f"SELECT clients, count(*), avg(throughput) FROM '{file.table()}' GROUP BY 1 ORDER BY 1"
    with duckdb.connect() as sql:
        rows = sql.execute(query).fetchall()
    assert rows == [(1, 24, 1000.0), (2, 24, 1000.0)]


def test_the_folder_of_data_is_gone_afterwards_and_never_somebody_else_s(tmp_path: Path) -> None:
    of = spec(tmp_path)
    folder = tmp_path / "iostrata-profile-p"

    def interrupted() -> None:
        with measuring.data_folder(of) as made:
            assert made == folder
            (made / "read.0").write_text("data")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not folder.exists()
    folder.mkdir()
    (folder / "theirs").write_text("theirs")
    with pytest.raises(UserError, match="is not ours"), measuring.data_folder(of):
        pass
    assert (folder / "theirs").read_text() == "theirs"
    shutil.rmtree(folder)
    folder.symlink_to(tmp_path / "out")
    with pytest.raises(UserError, match="is not ours"), measuring.data_folder(of):
        pass


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed: scripts/setup")
@pytest.mark.parametrize("operation", VALUES["operation"])
@pytest.mark.parametrize("access", VALUES["access"])
def test_fio_moves_what_a_point_says(operation: str, access: str, tmp_path: Path) -> None:
    load = Fio(Fio.found(), tmp_path, 30)
    point: Point = {
        **{name: values[0] for name, values in VALUES.items()},
        "operation": operation,
        "access": access,
        "clients": 2,
        "fio.ioengine": "psync",
    }
    load.prepare(point)
    assert len(list(tmp_path.glob("read.*"))) == (2 if operation == "read" else 0)
    measured = load.measure(point)
    assert measured.bytes == 32 << 20
    assert measured.nanos > 0
    assert not list(tmp_path.glob("write.*"))


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed: scripts/setup")
def test_fio_that_fails_says_why(tmp_path: Path) -> None:
    load = Fio(Fio.found(), tmp_path, 30)
    point: Point = {**{name: values[0] for name, values in VALUES.items()}, "fio.ioengine": "none"}
    with pytest.raises(UserError, match="fio failed with 1: fio: failed to load engine"):
        load.prepare(point)


def test_a_file_that_is_read_warm_is_in_memory(tmp_path: Path) -> None:
    """By the kernel's own account, where it gives one: of a file that was forgotten, nothing is."""
    if shutil.which("fincore") is None or shutil.which("fio") is None:
        pytest.skip("fincore or fio is not installed: util-linux, scripts/setup")
    load = Fio(Fio.found(), tmp_path, 30)
    point = {name: values[0] for name, values in VALUES.items()}

    def pages(cache: str) -> int:
        load.prepare({**point, "cache": cache})
        words = ("fincore", "--json", "--bytes", str(tmp_path / "read.0"))
        found = subprocess.run(words, capture_output=True, text=True, check=True)
        return int(json.loads(found.stdout)["fincore"][0]["res"])

    load.prepare({**point, "cache": "warm"})
    if pages("dropped"):
        pytest.skip(f"the file system of {tmp_path} keeps its pages")
    assert pages("warm") == 16 << 20
