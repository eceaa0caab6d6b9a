"""Cases of a fuzz target: batches of examples of hypothesis, each from the seed and its number."""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

from iostrata.errors import UserError

_EXAMPLES = 5  # of a case
_T = TypeVar("_T")


def fuzz(values: st.SearchStrategy[_T], check: Callable[[_T], None]) -> None:
    """Checks `values` for FUZZ_SECONDS (without it: one case), or the case FUZZ_CASE only.

    Which case it is, and how many examples were checked, goes to the file FUZZ_STATE before it
    begins, so that one which ends the process can be repeated. What fails is made smaller only
    with FUZZ_SHRINK: that takes minutes.
    """
    begun = int(os.environ.get("FUZZ_SEED", "0"))
    checked = 0
    failed: list[int] = []

    def counted(value: _T) -> None:
        nonlocal checked
        checked += 1
        _say(case, checked)
        try:
            check(value)
        except (Exception, pytest.fail.Exception):
            if not failed:  # what comes later is smaller, and may be of megabytes
                failed.append(case)
                traceback.print_exc(limit=-8, file=sys.stdout)
            raise

    for case in _cases():
        _say(case, checked)
        run = given(values)(counted)
        warnings.simplefilter("ignore", HypothesisWarning)  # examples that fail may be of megabytes
        seed(begun * 1_000_003 + case)(
            settings(
                max_examples=_EXAMPLES,
                database=None,
                deadline=None,
                derandomize=False,
                phases=[Phase.generate, *[Phase.shrink] * ("FUZZ_SHRINK" in os.environ)],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            )(run)
        )()


def _cases() -> Iterator[int]:
    only, seconds = os.environ.get("FUZZ_CASE"), os.environ.get("FUZZ_SECONDS")
    if only is not None or seconds is None:
        yield int(only or 0)
        return
    end = time.monotonic() + float(seconds)
    for case in itertools.count():
        yield case
        if time.monotonic() >= end:
            return


def _say(case: int, checked: int) -> None:
    if "FUZZ_STATE" in os.environ:
        Path(os.environ["FUZZ_STATE"]).write_text(f"{case} {checked}\n")


def refusal(read: Callable[[], object]) -> str | None:
    """Why a reader does not take what it reads, in one line; None: it does."""
    try:
        read()
    except UserError as error:
        (line,) = error.message.splitlines()
        return line
    return None


# Numbers where readers go wrong: bounds of types and their neighbours.
EDGES = st.one_of(
    st.integers(0, 70).flatmap(lambda bits: st.sampled_from([2**bits - 1, 2**bits, -(2**bits)])),
    st.sampled_from([10**19, 10**30, -1]),
)
# What a writer of JSON would not put there; huge numbers and deep nesting as text.
ODD_JSON: st.SearchStrategy[str] = st.one_of(
    st.recursive(
        st.one_of(
            st.none(),
            st.booleans(),
            EDGES,
            st.floats(),
            st.text(max_size=20),
            st.just("x" * 10_000),
        ),
        lambda inside: st.one_of(
            st.lists(inside, max_size=4), st.dictionaries(st.text(max_size=8), inside, max_size=4)
        ),
        max_leaves=8,
    ).map(json.dumps),
    st.integers(1, 200_000).map(lambda depth: "[" * depth),
    st.integers(1, 50_000).map(lambda depth: "[" * depth + "]" * depth),
    st.integers(1, 20_000).map(lambda depth: '{"a":' * depth + "1" + "}" * depth),
    st.integers(1, 10_000).map(lambda digits: "9" * digits),
    st.sampled_from(["NaN", "-Infinity", "1e999999", "-0", "01", '"\\ud800"', '"\\u0000"', "'"]),
)


@st.composite
def damaged(draw: Any, content: bytes) -> bytes:
    """Some bytes are other ones, are gone, or come twice; or the end is missing."""
    data = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        size = draw(st.integers(0, 64))
        how = draw(st.sampled_from(["flip", "varint", "cut", "twice", "bytes"]))
        if how == "flip" and data:
            data[at] ^= draw(st.integers(1, 255))
        elif how == "varint":  # a size in Thrift and protobuf
            data[at : at + 1] = b"\xff" * draw(st.integers(1, 5)) + b"\x07"
        elif how == "cut":
            del data[at : at + size]
        elif how == "twice":
            data[at:at] = data[at : at + size]
        else:
            data[at : at + size] = draw(st.binary(max_size=16))
    end = draw(st.one_of(st.just(1.0), st.just(1.0), st.floats(0, 1)))
    return bytes(data[: int(end * len(data))])
