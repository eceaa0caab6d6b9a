"""Whatever stands in the files of a run, a command shows what it can, or says in a line why not."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from tests.fuzz.cases import ODD_JSON, damaged, fuzz

from iostrata.cli.tests import test_bad_input as bad
from iostrata.store.facts import ProgressFacts, RecordedFacts

_FACTS = {"run.json": RecordedFacts, "progress.json": ProgressFacts}
_LIVE = "live-one.json"
_PARTS = (bad.PART, bad.PROCESSES, bad.SYSTEM)
Change = tuple[str, bytes]


@st.composite
def _facts(draw: Any, made: Path) -> Change:
    """run.json or progress.json with other values, some of them twice, or nothing of the kind."""
    name = draw(st.sampled_from(list(_FACTS)))
    whole = (made / name).read_text().strip()
    if draw(st.integers(0, 5)) == 0:
        return name, draw(ODD_JSON).encode("utf-8", "surrogatepass")
    keys = st.sampled_from([*_FACTS[name].__struct_fields__, "unknown"])
    more = draw(st.lists(st.tuples(keys, ODD_JSON), max_size=4))
    text = "".join(f', "{key}": {value}' for key, value in more)
    content = f"{whole[:-1]}{text}}}".encode("utf-8", "surrogatepass")
    return name, draw(st.one_of(st.just(content), damaged(content)))


@st.composite
def _live(draw: Any) -> Change:
    keys = ("at", "part", "cells", "times", "open", "more_open")
    values = {key: draw(st.one_of(st.just("[]"), st.just("1"), ODD_JSON)) for key in keys}
    text = ", ".join(f'"{key}": {value}' for key, value in values.items())
    return _LIVE, f"{{{text}}}".encode("utf-8", "surrogatepass")


@st.composite
def _part(draw: Any, made: Path) -> Change:
    """A Parquet file; changes aim at its footer, at the heads of its pages, or anywhere."""
    name = draw(st.sampled_from(_PARTS))
    content = (made / name).read_bytes()
    where = draw(st.sampled_from(["footer", "pages", "anywhere"]))
    if where == "anywhere":
        return name, draw(damaged(content))
    size = int.from_bytes(content[-8:-4], "little")
    if where == "footer":
        footer = draw(damaged(content[-8 - size : -8]))
        end = len(footer).to_bytes(4, "little") + b"PAR1"
        return name, content[: -8 - size] + footer + end
    at = draw(st.sampled_from(_pages(made / name)))
    head = draw(damaged(content[at : at + 24]))
    return name, content[:at] + head.ljust(24, b"\0")[:24] + content[at + 24 :]


@st.composite
def _values(draw: Any, made: Path) -> Change:
    """A Parquet file without a flaw, whose numbers and names no trace has."""
    name = draw(st.sampled_from(_PARTS))
    table = pq.read_table(made / name)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, table.num_columns - 1))
        kind = table.schema.field(place)
        odd = _odd(kind.type)
        cells = draw(st.lists(odd, min_size=table.num_rows, max_size=table.num_rows))
        table = table.set_column(place, kind, pa.array(cells, kind.type))
    file = io.BytesIO()
    pq.write_table(table, file)
    return name, file.getvalue()


def _odd(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_integer(kind):
        top = 1 << kind.bit_width - pa.types.is_signed_integer(kind)
        least = -top if pa.types.is_signed_integer(kind) else 0
        some = [0, 1, 2, 1000, top // 2, top - 1, least, None]
        return st.sampled_from([value for value in some if value is None or least <= value < top])
    if pa.types.is_floating(kind):
        return st.sampled_from([0.0, -1.0, 1e308, float("inf"), float("nan"), None])
    if pa.types.is_boolean(kind):
        return st.sampled_from([True, False, None])
    return st.sampled_from(["", "a", "map", "reduce", "DataNode", "\x1b[2J\n", "x" * 5000, None])


def _pages(path: Path) -> list[int]:
    """Where the first pages of each column begin."""
    columns = pq.read_metadata(path).row_group(0)
    found = [columns.column(index) for index in range(columns.num_columns)]
    starts = [(column.dictionary_page_offset, column.data_page_offset) for column in found]
    return sorted({at for both in starts for at in both if at})


def test_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bad.whole(tmp_path / "made", "r")
    for name in ("r", "whole"):
        shutil.copytree(made, tmp_path / "store" / name)
    monkeypatch.setenv("IOSTRATA_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("IOSTRATA_MEMORY", "200MB")

    def check(case: tuple[list[Change], tuple[str, ...]]) -> None:
        changes, command = case
        run = tmp_path / "store" / "r"
        for name, content in changes:
            (run / name).write_bytes(content)
        try:
            code, _, err = bad.iostrata(*command)
        finally:
            (run / _LIVE).unlink(missing_ok=True)
            for name, _ in changes:
                if name != _LIVE:
                    shutil.copy(made / name, run / name)
        assert code in (0, 2), err
        assert code == 0 or len(err) - sum("is incomplete" in line for line in err) == 1, err

    some = (_part(made), _part(made), _values(made), _values(made), _facts(made), _live())
    changes = st.lists(st.one_of(*some), max_size=3)
    fuzz(st.tuples(changes, st.sampled_from(bad.COMMANDS)), check)
