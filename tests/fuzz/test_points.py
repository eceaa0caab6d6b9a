"""A file of points of a user is compiled, or one line says where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tests.fuzz.cases import EDGES, damaged, fuzz, refusal

from iostrata.schema.pointfile import POINT_FIELDS, points_table
from iostrata.schema.users import MOST, read_user_points

_RIGHT = {
    "layer": ("java", "hdfs", "fs"),
    "op": ("delete", "read"),
    "class": ("a.B", "a.B$C", "java.io.File"),
    "method": ("close", "read"),
    "desc": ("()Z", "([BII)V", "(Ljava/lang/String;)I"),
    "mode": ("call", "counted", "record"),
    "bytes": ("ret", "arg1", "size(ret)", "delta(this.x)"),
    "asked": ("arg3",),
    "target": ("file(this.path)", "file(arg1)"),
}
# Pieces of values, many times one after the other: for patterns that go back again and again.
_PIECES = st.sampled_from(
    ["ret", "this.", "a", "(", "[", "L", "a/", "$", ".", ", ", "arg1", "delta(this.", "_", "\\t"]
)
_REPEATED = st.lists(st.tuples(_PIECES, st.integers(1, 5000)), max_size=4).map(
    lambda parts: "".join(piece * times for piece, times in parts)
)
_TEXT = st.one_of(st.text(max_size=30), _REPEATED).map(
    lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
)
_VALUE = st.one_of(
    _TEXT,
    EDGES.map(str),
    st.sampled_from(["true", "[]", "{}", "1979-05-27", "nan", "0x" + "f" * 5000, "9" * 5000]),
    st.integers(1, 2000).map(lambda depth: "[" * depth + "]" * depth),
    st.integers(1, 2000).map(lambda depth: "{a=" * depth + "1" + "}" * depth),
)


@st.composite
def _point(draw: Any) -> str:
    lines = []
    for field, values in _RIGHT.items():
        right = st.sampled_from(values).map(lambda value: f'"{value}"')
        if draw(st.integers(0, 9)) or field in ("class", "desc"):
            lines.append(f"{field} = {draw(st.one_of(right, right, right, right, _VALUE))}")
    fields = st.sampled_from([*POINT_FIELDS, "unverified", "x", "a.b.c", "a." * 500 + "a"])
    more = draw(st.lists(st.tuples(fields, _VALUE), max_size=2))
    return "\n".join(["[[point]]", *lines, *(f"{field} = {value}" for field, value in more), ""])


def test_points(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"

    def check(content: bytes) -> None:
        file.write_bytes(content)
        rows: list[dict[str, str]] = []
        wrong = refusal(lambda: rows.extend(read_user_points([file])))
        if wrong is not None:
            assert wrong.startswith(str(file))
            return
        assert 0 < len(rows) <= MOST
        lines = points_table(rows).splitlines()
        assert [line.count("\t") for line in lines] == [len(POINT_FIELDS) - 1] * (len(rows) + 1)

    document = st.lists(_point(), max_size=4).map("\n".join)
    text = document.map(lambda text: text.encode("utf-8", "surrogatepass"))
    fuzz(st.one_of(text, text, text.flatmap(damaged)), check)
