"""SQL that was compiled ahead of time is what would be compiled now, or is not used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from ibis.expr import types as ir

from iostrata.analyse import compiled as ahead
from iostrata.analyse.compiled import ROLES, Compiled, compiled, digest, name_of, with_roles
from iostrata.analyse.engine import OfRoles
from iostrata.analyse.tables import PROCESSES
from iostrata.analyse.tests.conftest import Traced
from iostrata.analyse.totals import LayerTotal, by_layer
from iostrata.records import Count, Record
from iostrata.store.tests.made import process, row_of_sum


class Found(Record, frozen=True):
    role: str
    found: Count


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the file is looked for; it is not there yet."""
    path = tmp_path / "compiled.json"
    monkeypatch.setattr(ahead, "FILE", path)
    ahead._known.cache_clear()
    yield path
    ahead._known.cache_clear()


def write(file: Path, of: str, **sql: str) -> None:
    file.write_bytes(msgspec.json.encode(Compiled(of, sql)))


@pytest.mark.parametrize("traced", ["duckdb"], indirect=True)
def test_what_is_compiled_is_asked_in_place_of_the_expression(file: Path, traced: Traced) -> None:
    engine = traced([row_of_sum("fs", "open", count=3)])
    (before,) = engine.records(by_layer, LayerTotal)
    twice = f"SELECT * REPLACE (2 * calls AS calls) FROM ({engine.sql(by_layer)})"
    write(file, digest(), **{name_of(by_layer): twice})
    ahead._known.cache_clear()
    (after,) = engine.records(by_layer, LayerTotal)
    assert (before.calls, after.calls) == (3, 6)


@pytest.mark.parametrize("content", [None, b"", b'{"digest": 1}', b"\xff\x00"])
def test_without_a_file_that_can_be_read_nothing_is_compiled(
    file: Path, content: bytes | None
) -> None:
    if content is not None:
        file.write_bytes(content)
    assert compiled(name_of(by_layer)) is None


def test_sql_of_other_sources_is_not_used(file: Path) -> None:
    write(file, "of yesterday", **{name_of(by_layer): "SELECT 1"})
    assert compiled(name_of(by_layer)) is None


def test_a_change_of_the_sources_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "_PACKAGE", tmp_path)
    source = tmp_path / "explain/rules/small.py"
    source.parent.mkdir(parents=True)
    source.write_text("LEAST = 1")
    before = digest()
    (tmp_path / "explain/tests").mkdir()
    (tmp_path / "explain/tests/test_small.py").write_text("of tests nothing is made")
    assert digest() == before
    source.write_text("LEAST = 2")
    assert digest() != before


def test_roles_stand_in_the_place_of_their_mark(file: Path, traced: Traced) -> None:
    engine = traced([], processes=[process("map", 1), process("it's", 2), process("reduce", 3)])

    def found(roles: tuple[str, ...]) -> list[tuple[str, int]]:
        def counted(of: tuple[str, ...]) -> ir.Table:
            rows = PROCESSES.filter(PROCESSES.role.isin(of))
            return rows.group_by("role").agg(found=rows.count()).order_by("role")

        rows = engine.records(OfRoles("", counted, roles), Found)
        return [(row.role, row.found) for row in rows]

    assert found(("map", "reduce")) == [("map", 1), ("reduce", 1)]
    assert found(("it's",)) == [("it's", 1)]


def test_sql_that_is_shown_names_the_roles() -> None:
    assert with_roles(f"role IN ('{ROLES}')", ("a", "b'c")) == "role IN ('a', 'b''c')"
