"""Zones of a disk: stretches of addresses that are as fast as each other (S3.3).

A disk turns as fast everywhere, and has more sectors in an outer track: sequential reads are up to
twice as fast there. Zones are the piecewise constant function that explains the rates best, where
each further zone has to explain more than noise between passes does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, variance

from iostrata.records import Bytes, Count, Rate, Record

# Of the noise: what no disk is better than, since clocks and caches are not.
_LEAST_NOISE = 0.003
_LEAST_STEP = 0.03  # between neighbours; less is nothing to place files by
_PRICE = 3.0  # of a zone, in logarithms of the number of places (BIC: a mean, and where it begins)


def megabytes(rate: Rate) -> str:
    """`150`, `12,400`: MB/s in three digits."""
    amount = rate / 1e6
    return f"{amount:.3g}" if amount < 1000 else f"{amount:,.0f}"


class ReadPlace(Record, frozen=True):
    """A place, in bytes from the begin, and the rate of each pass, in bytes/s."""

    place: Bytes
    rates: list[Rate]

    @property
    def log(self) -> float:
        """The mean of the logarithms."""
        return fmean(map(math.log, self.rates))


class DiskZone(Record, frozen=True):
    """Addresses from `begin` until `end`, in bytes; the geometric mean of the rates of its places,
    and the least and the most of them.
    """

    begin: Bytes
    end: Bytes
    places: Count
    rate: Rate
    least: Rate
    most: Rate


class ZoneMap(Record, frozen=True):
    """A disk of `size` bytes, read at places by `each` bytes; one zone: it has none to speak of.

    `noise`: half of the 95 % interval of the rate of a place, as a share of it. `direct`: it was
    read past the page cache.
    """

    disk: str
    size: Bytes
    each: Bytes
    direct: bool
    noise: float
    places: list[ReadPlace]
    zones: list[DiskZone]

    @property
    def ratio(self) -> float:
        """How many times as fast as the slowest zone the fastest one is."""
        rates = [zone.rate for zone in self.zones]
        return max(rates) / min(rates)


def zone_map(
    disk: str, size: int, each: int, direct: bool, places: Sequence[int],
    rates: Sequence[Sequence[float]],
) -> ZoneMap:  # fmt: skip
    """`rates`: of each place, in each pass."""
    read = [ReadPlace(place, [*some]) for place, some in zip(places, rates, strict=True)]
    noise = _noise(read)
    begins = _merged(read, _segments([one.log for one in read], noise))
    zones = [
        _zone(
            read[begin:end], places[begin] if begin else 0, places[end] if end < len(read) else size
        )
        for begin, end in pairwise([*begins, len(read)])
    ]
    return ZoneMap(disk, size, each, direct, 1.96 * noise, read, zones)


def _zone(read: Sequence[ReadPlace], begin: int, end: int) -> DiskZone:
    rates = [math.exp(one.log) for one in read]
    rate = math.exp(fmean(one.log for one in read))
    return DiskZone(begin, end, len(read), rate, min(rates), max(rates))


def _noise(read: Sequence[ReadPlace]) -> float:
    """The standard error of the logarithm of a place: from passes, or where there is a single one
    from neighbours.
    """
    logs = [[math.log(rate) for rate in one.rates] for one in read]
    passes = len(logs[0])
    if passes > 1:
        found = math.sqrt(fmean(map(variance, logs)) / passes)
    else:
        found = math.sqrt(fmean((a[0] - b[0]) ** 2 for a, b in pairwise(logs)) / 2)
    return max(found, _LEAST_NOISE)


def _segments(values: Sequence[float], noise: float) -> list[int]:
    """Where segments begin that are dearest to leave out: the least of squares over noise and a
    price of each segment, by dynamic programming over their ends.
    """
    sums, squares = [0.0], [0.0]
    for value in values:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)
    price = _PRICE * math.log(len(values))

    def cost(begin: int, end: int) -> float:
        total = sums[end] - sums[begin]
        return (squares[end] - squares[begin] - total * total / (end - begin)) / noise**2

    best, previous = [0.0], [0]
    for end in range(1, len(values) + 1):
        options = [(best[begin] + cost(begin, end) + price, begin) for begin in range(end)]
        least, begin = min(options)
        best.append(least)
        previous.append(begin)
    begins, end = [], len(values)
    while end:
        end = previous[end]
        begins.append(end)
    return begins[::-1]


def _merged(read: Sequence[ReadPlace], begins: list[int]) -> list[int]:
    """Without those that differ from their neighbour by next to nothing, the least first."""
    while len(begins) > 1:
        means = [
            fmean(one.log for one in read[begin:end])
            for begin, end in pairwise([*begins, len(read)])
        ]
        steps = [abs(a - b) for a, b in pairwise(means)]
        least = min(steps)
        if least >= math.log1p(_LEAST_STEP):
            break
        del begins[steps.index(least) + 1]
    return begins
