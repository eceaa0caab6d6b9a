"""Tags of runs: what is one, and which runs have those that are wanted."""

from __future__ import annotations

import pytest

from iostrata.errors import UserError
from iostrata.store.tags import has_tags, tags_of, tags_text


def test_tags_are_keys_with_values() -> None:
    tags = tags_of(["cluster=test", "note=a = b", "empty=", "cluster=prod"])
    assert tags == {"cluster": "prod", "note": "a = b", "empty": ""}
    assert tags_text(tags) == "cluster=prod note=a = b empty="


@pytest.mark.parametrize("text", ["", "key", "=value", "-key=value", "a b=c", f"{'k' * 33}=v"])
def test_no_tag(text: str) -> None:
    with pytest.raises(UserError) as raised:
        tags_of([text])
    assert raised.value.message == f"--tag {text!r} is no tag"


@pytest.mark.parametrize("value", ["a\nb", "\x1b[2J", "x" * 201])
def test_values_are_printed_as_they_are(value: str) -> None:
    with pytest.raises(UserError, match="--tag key: the value is not allowed"):
        tags_of([f"key={value}"])


def test_so_many_and_no_more() -> None:
    assert len(tags_of(f"k{n}=v" for n in range(32))) == 32
    with pytest.raises(UserError, match="33 tags are too many"):
        tags_of(f"k{n}=v" for n in range(33))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([], True),
        (["cluster"], True),
        (["cluster=test"], True),
        (["cluster=t*", "try=2"], True),
        (["cluster=test", "try=3"], False),
        (["cluster="], False),
        (["clus*"], False),
        (["owner"], False),
    ],
)
def test_a_run_has_all_that_are_wanted(wanted: list[str], found: bool) -> None:
    assert has_tags({"cluster": "test", "try": "2"}, wanted) is found
