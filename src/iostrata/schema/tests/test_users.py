"""Files of points of users: every line of complaint, and what a good one becomes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.schema.events import EXTRACTOR
from iostrata.schema.pointfile import POINT_FIELDS, points_table
from iostrata.schema.users import MOST, full_name, read_user_points

ROOT = Path(__file__).resolve().parents[4]
POINT = """# mine
[[point]]
layer = "fs"
op = "flush"
class = "com.example.Log$Writer"
method = "flush"
desc = "(Ljava/lang/String;[BIJD)I"
mode = "counted"
begin = false
bytes = "arg2"
asked = "arg3"
offset = "arg4"
target = "file(arg1)"
"""


def read(folder: Path, text: str, *more: str) -> list[dict[str, str]]:
    files = []
    for index, each in enumerate((text, *more)):
        files.append(folder / f"{index}.toml")
        files[-1].write_text(each)
    return read_user_points(files)


def test_a_point_becomes_a_row(tmp_path: Path) -> None:
    (row,) = read(tmp_path, POINT)
    assert full_name(row) == "com.example.Log$Writer#flush(Ljava/lang/String;[BIJD)I"
    assert (row["mode"], row["begin"], row["context"]) == ("counted", "0", "")
    header, line = points_table([row]).splitlines()
    assert header.split("\t") == list(POINT_FIELDS)
    assert len(line.split("\t")) == len(POINT_FIELDS)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ('layer = "fs"', 'layer = "disk"', 3, "layer 'disk' is none of record, task"),
        ('layer = "fs"', "layer = 3", 3, "layer = 3 is no str"),
        ('op = "flush"\n', "", 2, "op is missing"),
        ('op = "flush"', 'op = "To flush"', 4, "op = 'To flush' is not a word in small letters"),
        ("com.example.Log$Writer", "com/example/Log", 5, "class = 'com/example/Log' is not a"),
        ("com.example.Log$Writer", "java.util.HashMap", 5, "java.util.HashMap is used by the"),
        ('method = "flush"', 'method = "<init>"', 6, "a constructor cannot be timed"),
        ('method = "flush"', 'method = "a b"', 6, "method = 'a b' is not the name of a method"),
        ("[BIJD)I", "[BIJD", 7, "is no descriptor of the JVM"),
        ("[BIJD)I", "[BIJQ)I", 7, "is no descriptor of the JVM"),
        (
            'mode = "counted"',
            'mode = "effect"',
            8,
            "mode 'effect' is none of call, counted, record",
        ),
        ("begin = false", 'begin = "yes"', 9, "begin = 'yes' is no bool"),
        ("begin = false", "scope = true", 9, "scope cannot be said here: it is for our own"),
        ("begin = false", "id = 7", 9, "id cannot be said here: each process gives it"),
        ("begin = false", 'context = "handed(arg1)"', 9, "context cannot be said here"),
        ("begin = false", "start = 1", 9, "unknown field start"),
        ('bytes = "arg2"', 'bytes = "arg6"', 10, "bytes names arg6, and the method has 5"),
        ('bytes = "arg2"', 'bytes = "arg5"', 10, "bytes = 'arg5' is of type D, not a number"),
        ('bytes = "arg2"', 'bytes = "arg"', 10, "bytes = 'arg' is not ret, byte, "),
        ('bytes = "arg2"', 'bytes = "of(read)"', 10, "bytes = 'of(read)' is for our own points"),
        ('bytes = "arg2"', 'bytes = "sizes(arg2)"', 10, "no such extractor, there are ranges, "),
        ('asked = "arg3"', 'asked = "ret"', 11, "asked = 'ret' is known only when the method has"),
        ('offset = "arg4"', 'offset = "4.5"', 12, "offset = '4.5' is not ret, byte, "),
        ("file(arg1)", "file(arg3)", 13, "target = 'file(arg3)': arg3 is of type I, not an object"),
        ("file(arg1)", "file(ret)", 13, "ret is known only when the method has returned"),
        ("file(arg1)", "path(arg1)", 13, "no such extractor, there are file, asynchronous"),
        ("file(arg1)", "packet(arg1)", 13, "no such extractor, there are file, asynchronous"),
        ("file(arg1)", "file(arg1", 13, "target = 'file(arg1' is not NAME(argN, this.FIELD)"),
        ("# mine", "mine = ", 1, "Invalid value"),
        ("# mine", "mine = 1", 1, "mine is not [[point]]"),
    ],
)
def test_each_fault_has_its_line(
    tmp_path: Path, old: str, new: str, line: int, reason: str
) -> None:
    assert old in POINT
    with pytest.raises(UserError) as caught:
        read(tmp_path, POINT.replace(old, new))
    assert caught.value.message.startswith(f"{tmp_path}/0.toml:{line}: ")
    assert reason in caught.value.message
    assert "\n" not in caught.value.message


def test_the_second_point_has_lines_of_its_own(tmp_path: Path) -> None:
    other = POINT.replace('"flush"\ndesc', '"close"\ndesc').replace('op = "flush"', "op = 1")
    with pytest.raises(UserError, match=r"0\.toml:17: op = 1 is no str"):
        read(tmp_path, POINT + other)


def test_the_same_method_twice(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"0\.toml:18: com\.example.* stands in line 2 already"):
        read(tmp_path, POINT + POINT)
    with pytest.raises(UserError, match=r"1\.toml:5: com\.example.* is traced anyway"):
        read(tmp_path, POINT, POINT)
    ours = POINT.replace("com.example.Log$Writer", "java.io.FileInputStream")
    ours = ours.replace('"flush"\ndesc = "(Ljava/lang/String;[BIJD)I"', '"read"\ndesc = "()I"')
    ours = ours.partition("mode")[0]
    with pytest.raises(UserError, match=r"0\.toml:5: java\.io.*read\(\)I is traced anyway"):
        read(tmp_path, ours)


def test_too_many(tmp_path: Path) -> None:
    many = [POINT.replace('"flush"\ndesc', f'"flush{i}"\ndesc') for i in range(MOST + 1)]
    assert len(read(tmp_path, "".join(many[:MOST]))) == MOST
    with pytest.raises(UserError, match=f"there are {MOST + 1} points, at most {MOST}"):
        read(tmp_path, "".join(many))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read_user_points([tmp_path / "absent.toml"])
    with pytest.raises(UserError, match=r"0\.toml:1: it has no \[\[point\]\]"):
        read(tmp_path, "")
    (tmp_path / "latin.toml").write_bytes(b"# \xe4\n")
    with pytest.raises(UserError, match=r"latin\.toml:1: it is not UTF-8"):
        read_user_points([tmp_path / "latin.toml"])


def test_the_extractors_are_those_of_the_agent() -> None:
    source = ROOT / "java/agent/src/main/java/io/iostrata/agent/Extractors.java"
    assert set(re.findall(r'case "(\w+)"', source.read_text())) == set(EXTRACTOR)


def test_the_example_of_the_guide(tmp_path: Path) -> None:
    guide = (ROOT / "docs/add-a-point.md").read_text()
    (example,) = re.findall(r"```toml\n(# mine\.toml.*?)```", guide, re.DOTALL)
    assert [row["op"] for row in read(tmp_path, example)] == ["pack", "ship"]


def test_a_target_is_looked_through_once(tmp_path: Path) -> None:
    """Each `ret` could be part of a name or a value of its own: 2^40 ways."""
    text = POINT.replace("file(arg1)", f"file(this.x{'ret' * 40}!")
    with pytest.raises(UserError, match=r"0\.toml:13: target = "):
        read(tmp_path, text)


def test_a_number_of_too_many_digits_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"0\.toml:1: it has a number with too many digits"):
        read(tmp_path, POINT.replace("begin = false", f"begin = {'9' * 5000}"))


def test_a_number_that_python_does_not_write_is_one_line(tmp_path: Path) -> None:
    said = r"0\.toml:8: mode a value too large to show is none of call, counted, record"
    with pytest.raises(UserError, match=said):
        read(tmp_path, POINT.replace('"counted"', f"0x{'f' * 5000}"))
