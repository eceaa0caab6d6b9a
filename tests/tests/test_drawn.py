"""The same seed draws the same, other seeds draw others, and a soak leaves nothing out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.drawn import choose

TESTS = """
import pytest

@pytest.mark.drawn("numbers", 2)
@pytest.mark.parametrize("n", range(6))
def test_number(n): pass

@pytest.mark.drawn("numbers", 2)
def test_another_number(): pass

@pytest.mark.in_turn("red", "blue")
@pytest.mark.parametrize("part", [1, 2])
@pytest.mark.parametrize("colour", ["red", "blue"])
def test_colour(colour, part): pass

@pytest.mark.in_turn("red", "blue")
@pytest.mark.parametrize("colour", ["red", "blue", "white"])
def test_paint(colour): pass

@pytest.mark.one_of("jdk")
@pytest.mark.parametrize("case", "ab")
@pytest.mark.parametrize("jdk", [17, 25])
def test_jdk(jdk, case): pass

@pytest.mark.one_of("jdk")
def test_without(): pass

@pytest.mark.soak
def test_long(): pass

def test_always(): pass
"""


class Collected:
    """What pytest has found."""

    items: list[pytest.Item]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = list(session.items)


@pytest.fixture
def items(tmp_path: Path) -> list[pytest.Item]:
    (tmp_path / "test_of_it.py").write_text(TESTS)
    found = Collected()
    marks = "".join(f"\n  {mark}" for mark in ("drawn", "in_turn", "one_of", "soak"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nmarkers ={marks}\n")
    words = ["--collect-only", "-qq", "-p", "no:cacheprovider", "--import-mode=importlib"]
    pytest.main([*words, f"--rootdir={tmp_path}", str(tmp_path)], plugins=[found])
    return found.items


def names(items: list[pytest.Item]) -> list[str]:
    return [item.name for item in items]


def test_each_matrix_has_its_share(items: list[pytest.Item]) -> None:
    chosen = choose(items, "20260724", soak=False)
    found = names(chosen.items)
    assert sum("number" in name for name in found) == 2
    assert sorted(name[-2] for name in found if "jdk" in name) == ["a", "b"]
    assert found[-2:] == ["test_without", "test_always"]
    assert len(chosen.items) + len(chosen.left) == len(items) == 21
    assert len(chosen.drawn) == 4 + 3


def test_one_name_has_its_turn_in_all_tests(items: list[pytest.Item]) -> None:
    for day in range(20):
        found = names(choose(items, str(day), soak=False).items)
        cases = [name for name in found if "colour" in name or "paint" in name]
        (today,) = {case for case in ("red", "blue") if any(case in name for name in cases)}
        assert cases == [
            *(f"test_colour[{today}-{part}]" for part in (1, 2)),
            *(
                f"test_paint[{case}]"
                for case in ("red", "blue", "white")
                if case in (today, "white")
            ),
        ]


def test_the_seed_says_which(items: list[pytest.Item]) -> None:
    draws = [names(choose(items, str(day), soak=False).items) for day in range(60)]
    again = [names(choose(items, str(day), soak=False).items) for day in range(60)]
    assert draws == again
    drawn = {name for draw in draws for name in draw}
    assert drawn == {name for name in names(items) if name != "test_long"}


def test_a_soak_runs_all(items: list[pytest.Item]) -> None:
    chosen = choose(items, "1", soak=True)
    assert (chosen.items, chosen.left, chosen.drawn) == (items, [], [])
