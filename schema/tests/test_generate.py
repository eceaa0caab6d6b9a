"""The generator: what it refuses, that it repeats itself, that what is committed is current."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from iostrata.schema.events import (
    CATEGORY,
    COLUMNS,
    FLAG,
    KIND,
    LAYER,
    PROCESS_COLUMNS,
    SYSTEM_COLUMNS,
)
from iostrata.schema.points import POINTS, POINTS_HASH

ROOT = Path(__file__).resolve().parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "schema/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = load()
SCHEMA = generate.load_schema()
POINT = """[[point]]
id = 7
layer = "java"
op = "read"
class = "java.io.FileInputStream"
method = "read"
desc = "([BII)I"
bytes = "ret"
asked = "arg3"
target = "file(this.path, this.fd)"
"""


def compiled(tmp_path: Path, text: str) -> Any:
    (tmp_path / "p.toml").write_text(text)
    return generate.load_points([tmp_path / "p.toml"], SCHEMA)


def test_committed_files_are_current() -> None:
    command = [sys.executable, str(ROOT / "schema/generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_same_input_gives_the_same_output() -> None:
    assert generate.outputs() == generate.outputs()


def test_python_has_what_the_contract_says() -> None:
    assert SCHEMA["columns"] == COLUMNS
    assert SCHEMA["process_columns"] == PROCESS_COLUMNS
    assert SCHEMA["system_columns"] == SYSTEM_COLUMNS
    assert [SCHEMA[name] for name in ("kind", "layer", "category")] == [KIND, LAYER, CATEGORY]
    assert list(SCHEMA["flag"].values()) == list(FLAG.values())
    assert set(FLAG) - set(SCHEMA["flag"]) == {"double_counted"}


def test_points_are_what_java_points_says() -> None:
    rows = generate.load_points(sorted((ROOT / "java/points").glob("*.toml")), SCHEMA)
    assert [str(point.id) for point in POINTS] == [row["id"] for row in rows]
    assert generate.points_hash(generate.points_table(rows)) == POINTS_HASH


def test_ids_of_points_are_unique_and_sorted() -> None:
    ids = [point.id for point in POINTS]
    assert ids == sorted(set(ids))
    assert {point.layer for point in POINTS} <= set(LAYER)


def test_layouts_do_not_overlap() -> None:
    """Fields of slots and counter rows end before the next begins; the last has 8 bytes."""
    for layout, last in (("slot", 8), ("row", 8)):
        fields = [value for name, value in SCHEMA[layout].items() if name != "size"]
        assert fields == sorted(set(fields))
        assert fields[-1] + last == SCHEMA[layout]["size"]


def test_a_point_becomes_a_row(tmp_path: Path) -> None:
    (row,) = compiled(tmp_path, POINT)
    assert (row["id"], row["mode"], row["scope"], row["offset"]) == ("7", "call", "0", "")


@pytest.mark.parametrize("value", ["delta(this.written)", "collected(this)", "of(read)", "arg2"])
def test_bytes_may_be_worked_out(tmp_path: Path, value: str) -> None:
    (row,) = compiled(tmp_path, POINT.replace('bytes = "ret"', f'bytes = "{value}"'))
    assert row["bytes"] == value


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("id = 7", "id = 0", "id must lie in 1..895"),
        ("id = 7", "id = 896", "id must lie in 1..895"),
        ('layer = "java"', 'layer = "jav"', "layer 'jav' is none of record, task"),
        ('op = "read"\n', "", "op is missing"),
        ('bytes = "ret"', 'bytes = "arg0"', "bytes = 'arg0' is not ret, "),
        ('bytes = "ret"', 'byte = "ret"', "unknown field byte"),
        ('"file(this.path, this.fd)"', '"file(this.path"', "target = 'file(this.path' is not NAME"),
        ('bytes = "ret"', 'since = "newest"', "since = 'newest' is not a version: 3.4 or jdk 11"),
        ('bytes = "ret"', "until = 3", "until = 3 is not a version"),
        (
            'bytes = "ret"',
            'mode = "cold"',
            "mode 'cold' is none of call, counted, record, effect, ",
        ),
        ('bytes = "ret"', 'bytes = "delta(arg1)"', "bytes = 'delta(arg1)' is not ret, "),
        ('bytes = "ret"', 'offset = "delta(this.pos)"', "offset = 'delta(this.pos)' is not ret, "),
        ('bytes = "ret"', 'through = "ret"', "through = 'ret' is not this.FIELD"),
        ('bytes = "ret"', 'through = "arg1"', "through = 'arg1' is not this.FIELD"),
        ('bytes = "ret"', 'through = "this.out"', "through is for points with mode = 'counted'"),
    ],
)
def test_a_point_that_cannot_be_compiled(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in POINT
    with pytest.raises(generate.PointError) as caught:
        compiled(tmp_path, POINT.replace(old, new))
    assert str(caught.value).startswith("p.toml: point ")
    assert reason in str(caught.value)


def test_an_id_used_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(generate.PointError, match=r"p\.toml: id 7 is used twice"):
        compiled(tmp_path, POINT + POINT)
