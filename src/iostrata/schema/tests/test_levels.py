"""What each level records individually."""

from __future__ import annotations

from itertools import pairwise

import pytest

from iostrata.errors import UserError
from iostrata.schema.detail import check_level, check_sampling, sampling_text
from iostrata.schema.events import ALL_REQUESTS, CATEGORY, KEPT, LEVEL
from iostrata.schema.names import keeps, left_out

# Table I of the IOSIG+ paper, its rows and marks verbatim; its column Logical is our level record.
PUBLISHED = """
Trace       Logical Thread Phase Task Job
record      x
properties  x       x
xml         x       x
classes     x       x
jars        x       x
thread      x       x      x
Hadoop log  x       x      x     x    x
pipe        x       x      x     x    x
blk         x       x      x     x    x
blk.meta    x       x      x     x    x
"""
OURS = {"Hadoop log": "log", "blk.meta": "blk_meta"}
ROWS = PUBLISHED.strip().splitlines()[1:]


@pytest.mark.parametrize("row", ROWS)
def test_as_published(row: str) -> None:
    name, marks = row[:12].strip(), row[12:].count("x")
    category = OURS.get(name, name)
    assert [keeps(level, category) for level in LEVEL] == [n < marks for n in range(len(LEVEL))]


def test_the_published_rows_come_first() -> None:
    assert [OURS.get(row[:12].strip(), row[:12].strip()) for row in ROWS] == list(KEPT)[:10]


def test_every_category_of_targets_has_a_level() -> None:
    targets = {name for name, code in CATEGORY.items() if code < 64}
    assert set(KEPT) == targets


def test_each_level_keeps_what_the_next_keeps() -> None:
    levels = list(LEVEL)
    for finer, coarser in pairwise(levels):
        assert all(keeps(finer, of) for of in KEPT if keeps(coarser, of))


def test_task_and_job_keep_the_same() -> None:
    assert left_out("task") == left_out("job") != ""
    assert left_out("record") == ""


def test_another_name_is_refused() -> None:
    with pytest.raises(UserError, match="no level is called 'fine'"):
        check_level("fine")


@pytest.mark.parametrize(
    ("text", "requests", "shown"),
    [
        ("1/100", 10_000_000, "1/100"),
        ("1%", 10_000_000, "1/100"),
        ("0.01", 10_000_000, "1/100"),
        ("1/3", 333_333_333, "1/3"),
        ("3%", 30_000_000, "3%"),
        ("0.5%", 5_000_000, "1/200"),
        ("2/3", 666_666_667, "66.6666667%"),
        ("1/1", ALL_REQUESTS, "1/1"),
        ("1", ALL_REQUESTS, "1/1"),
        ("1/1000000000", 1, "1/1000000000"),
    ],
)
def test_a_share_of_the_requests(text: str, requests: int, shown: str) -> None:
    assert check_sampling(text) == requests
    assert sampling_text(requests) == shown
    assert check_sampling(shown) == requests


@pytest.mark.parametrize(
    "text",
    ["0", "0/5", "0%", "1.01", "101%", "5/4", "-1/2", "1/0", "1/2000000000", "half", "", "%", "1/",
     "1e-2", "nan", "1/2/3", "1 / 2", "9" * 25],
)  # fmt: skip
def test_what_is_no_share_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError) as refused:
        check_sampling(text)
    assert text in refused.value.message
    assert "1/100" in str(refused.value.remedy)
