"""Storages in the order of their speed, or of their price."""

from __future__ import annotations

import math

import pytest

from iostrata.errors import UserError
from iostrata.predict.model import TREE, ModelQuality, StorageModel, Tree
from iostrata.predict.ranking import rank

QUALITY = ModelQuality(8, 8, 2, 1, 1, 0.0, 0.0, 0.0, 0.9)


def storage(name: str, rate: float, spread: float = 0.1) -> StorageModel:
    """Of the same speed (bytes/s) at each size."""
    leaf = Tree([0], [0.0], [-1], [-1], [math.log(rate)], [8])
    values: dict[str, list[str | int]] = {"size": [1 << 20, 1 << 30], "operation": ["read"]}
    return StorageModel(name, values, ["size"], leaf, None, TREE, spread, {TREE: QUALITY})


TAPE, DISK, SSD = storage("tape", 50e6), storage("disk", 100e6), storage("ssd", 400e6)


def test_the_fastest_is_first() -> None:
    found = rank([DISK, SSD, TAPE], ["size=64MiB"], 100_000_000_000)
    assert [(one.name, one.time) for one in found] == [
        ("ssd", 250_000_000_000),
        ("disk", 1_000_000_000_000),
        ("tape", 2_000_000_000_000),
    ]
    assert [one.overlaps for one in found] == [False, False, False]
    assert all(one.least < one.time < one.most for one in found)  # type: ignore[operator]
    assert [one.price for one in found] == [None, None, None]


def test_who_is_not_surely_slower_is_named() -> None:
    like_it = storage("like it", 330e6)
    found = rank([like_it, DISK, SSD], ["size=64MiB"])
    assert [(one.name, one.overlaps) for one in found] == [
        ("ssd", False),
        ("like it", True),
        ("disk", False),
    ]
    assert found[0].time is None


def test_the_cheapest_is_first() -> None:
    """GIVEN 3,600 GB, which take 10 h, 20 h and 2.5 h, at a price of each GB and hour
    THEN what is paid is price, GB and hours."""
    prices = {"disk": 0.001, "tape": 0.0001, "ssd": 0.005}
    found = rank([DISK, SSD, TAPE], ["size=64MiB"], 3_600_000_000_000, prices)
    assert [one.name for one in found] == ["tape", "disk", "ssd"]
    paid = [3600 * 20 * 0.0001, 3600 * 10 * 0.001, 3600 * 2.5 * 0.005]
    assert [one.price for one in found] == pytest.approx(paid)


@pytest.mark.parametrize(
    ("models", "size", "prices", "message"),
    [
        ([DISK, DISK], None, {}, "2 models are called disk"),
        ([DISK], None, {"disk": 1.0}, "prices need a number of bytes"),
        ([DISK, SSD], 1, {"disk": 1.0}, "no price of ssd"),
        ([DISK], 1, {"disk": 1.0, "dsk": 2.0}, "no model is called dsk"),
    ],
)
def test_what_is_asked_wrongly(
    models: list[StorageModel], size: int | None, prices: dict[str, float], message: str
) -> None:
    with pytest.raises(UserError) as wrong:
        rank(models, ["size=64MiB"], size, prices)
    assert wrong.value.message == message
