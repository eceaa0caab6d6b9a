"""Names of mixes, and weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata_lab.workload.requests.mix import MIXES, OPERATIONS, weights_of

JAVA = Path(__file__).parents[6] / "java/jobs/src/main/java/io/iostrata/jobs/requests"


def test_operations_are_those_of_java_in_its_order() -> None:
    listed = (
        (JAVA / "Operation.java").read_text().partition("enum Operation {")[2].partition(";")[0]
    )
    assert [word.strip().lower() for word in listed.split(",")] == list(OPERATIONS)


def test_a_mix_has_a_weight_for_each_operation() -> None:
    for name in MIXES:
        assert list(weights_of(name)) == list(OPERATIONS)
    # what HopsFS publishes of Spotify: looked up, listed, changed
    spotify = weights_of("spotify")
    assert (spotify["stat"], spotify["list"], spotify["delete"]) == (17, 9, 0.75)
    assert spotify["create"] + spotify["append"] == 1.5


def test_weights_are_read() -> None:
    assert weights_of("read:2,delete:0.5") == {
        "read": 2.0, "stat": 0.0, "list": 0.0, "create": 0.0, "append": 0.0, "rename": 0.0,
        "delete": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("facebook", "mix: facebook is no weight"),
        ("read:2,link:1", "mix: link:1 is no weight"),
        ("read:-1", "mix: read:-1 is no weight"),
        ("read:inf", "mix: read:inf is no weight"),
        ("read", "mix: read is no weight"),
        ("", "mix:  is no weight"),
        ("read:0,stat:0", "mix=read:0,stat:0: nothing is asked for"),
    ],
)
def test_what_is_no_mix_is_named(text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        weights_of(text)
    assert refused.value.message == said
