"""How popular files are: the Zipf law that uses of files follow, and of how many files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

MOST_FILES = 1_000_000  # that the generator makes
STEPS = 30  # of bisection: files to one in 2^30, the exponent to 1e-8
STEEPEST = 5.0


@dataclass(frozen=True)
class Popular:
    """The n-th of `files` is asked for with weight n^-`zipf`; `seen` of them were."""

    files: int
    zipf: float
    seen: int


def popular(uses: Iterable[int]) -> Popular:
    """Files and exponent with which as many draws are expected to hit as many files, and twice the
    same file as often, as they did.

    A line through counts by rank would be too steep: those drawn often by chance rank first.
    """
    counts = sorted(uses, reverse=True)
    draws, seen = sum(counts), len(counts)
    pairs = draws * (draws - 1)
    again = sum(count * (count - 1) for count in counts) / pairs if pairs else 0.0
    if not again:  # no file twice: as if all were new
        return Popular(max(1, seen), 0.0, seen)
    flat, steep = 0.0, STEEPEST
    for _ in range(STEPS):
        middle = (flat + steep) / 2
        shares = _shares(_files(middle, draws, seen), middle)
        if float((shares**2).sum()) < again:
            flat = middle
        else:
            steep = middle
    exponent = (flat + steep) / 2
    return Popular(_files(exponent, draws, seen), exponent, seen)


def _shares(files: int, exponent: float) -> np.ndarray[Any, Any]:
    import numpy as np

    weights = np.arange(1, files + 1, dtype=float) ** -exponent
    shares: np.ndarray[Any, Any] = weights / weights.sum()
    return shares


def _files(exponent: float, draws: int, seen: int) -> int:
    """As many as have to be there for `draws` to hit `seen` of them."""
    import numpy as np

    few, many = seen, min(MOST_FILES, 200 * seen)
    while few < many:
        middle = (few + many) // 2
        hit = float(-np.expm1(draws * np.log1p(-_shares(middle, exponent) * (1 - 1e-12))).sum())
        if hit < seen - 0.5:  # a whole number that was expected
            few = middle + 1
        else:
            many = middle
    return few
