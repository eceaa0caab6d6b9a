from __future__ import annotations

from typing import NamedTuple

import pytest

from iostrata.errors import InternalError, UserError
from iostrata.registry import Registry


class Fruit(NamedTuple):
    name: str


def test_things_are_found_by_their_names() -> None:
    fruits = Registry("fruit", (Fruit("pear"), Fruit("apple")))
    assert list(fruits) == ["pear", "apple"]
    assert fruits.named("apple") is fruits["apple"]
    with pytest.raises(UserError, match="no fruit is called 'plum'") as raised:
        fruits.named("plum")
    assert raised.value.remedy == "one of pear, apple"


def test_two_of_one_name_are_a_fault() -> None:
    with pytest.raises(InternalError, match="two of the fruits are called pear"):
        Registry("fruit", (Fruit("pear"), Fruit("pear")))
