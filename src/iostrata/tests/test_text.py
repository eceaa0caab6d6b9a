from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostrata.text import (
    bytes_of,
    columns,
    count,
    margin,
    percent,
    plural,
    printable,
    seconds,
    size,
)


@pytest.mark.parametrize(
    ("count_", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (32 << 20, "32.0 MiB"),
     (5 << 40, "5.0 TiB"), (3 << 60, "3072.0 PiB")],
)  # fmt: skip
def test_sizes(count_: int, text: str) -> None:
    assert size(count_) == text


def test_bytes_of_sizes() -> None:
    sizes = [bytes_of(text) for text in ("1", "1k", "1KiB", "2 mb", "0.5GB", "much", "1XB", "-1")]
    assert sizes == [1, 1024, 1024, 2 << 20, 1 << 29, None, None, None]


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(0, "0 µs"), (12_345, "12 µs"), (3_400_000, "3.4 ms"), (5_210_000_000, "5.21 s"),
     (125_000_000_000, "2 min 5 s")],
)  # fmt: skip
def test_durations(nanoseconds: int, text: str) -> None:
    assert seconds(nanoseconds) == text


@pytest.mark.parametrize(
    ("off", "text"), [(0.11, "±11 %"), (0.01, "±1 %"), (0.009, "±<1 %"), (1e-6, "±<1 %")]
)
def test_margins(off: float, text: str) -> None:
    assert margin(off) == text


def test_percents() -> None:
    assert [percent(0.612), percent(0.0249, places=1), percent(0.12, signed=True)] == [
        "61 %",
        "2.5 %",
        "+12 %",
    ]


def test_counts() -> None:
    assert count(1234567) == "1 234 567"
    assert [plural(1, "process"), plural(2, "process"), plural(0, "event")] == [
        "1 process",
        "2 processes",
        "0 events",
    ]


def test_what_a_hostile_name_shows() -> None:
    assert printable("/a/\x1b]0;title\x07b") == "/a/\\x1b]0;title\\x07b"
    assert printable("/a\nb\u202egpj.exe\u2028") == "/a\\x0ab\\u202egpj.exe\\u2028"
    assert printable("/über/データ") == "/über/データ"


@given(st.text())
def test_nothing_unprintable_remains(text: str) -> None:
    assert printable(text).isprintable()


def test_columns_are_aligned() -> None:
    assert columns(["name", "calls"], [["a", "1"], ["long name", "12 345"]], {1}) == [
        "name        calls",
        "a               1",
        "long name  12 345",
    ]


def test_a_name_without_end_is_cut_in_its_middle() -> None:
    shown = printable("a" * 10_000_000 + "z" * 10_000_000)
    assert shown == "a" * 4096 + " … 19,991,808 characters … " + "z" * 4096
