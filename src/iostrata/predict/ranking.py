"""Which of several storages is fastest, or cheapest, at the same load (S5.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from iostrata.errors import UserError
from iostrata.predict.model import Prediction, StorageModel, given, predict
from iostrata.predict.program import Program, times
from iostrata.records import Ns

_HOUR = 3600e9  # ns
_GB = 1e9


class Forecast(Prediction, frozen=True, kw_only=True):
    """What the storage `name` does at a load.

    Where asked for: `time`, which a number of bytes or a program takes, from `least` to `most`, and
    `price` of keeping the bytes there for so long, in the user's currency. Of a program, `moving`
    is how long what it moves takes alone; `throughput` is the mean of that.

    `overlaps`: the interval of what the ranking is by has a part in common with the first one's.
    """

    name: str
    overlaps: bool = False
    time: Ns | None = None
    least: Ns | None = None
    most: Ns | None = None
    moving: Ns | None = None
    price: float | None = None


def rank(
    models: Sequence[StorageModel],
    words: Sequence[str],
    size: int | None = None,
    prices: Mapping[str, float] | None = None,
) -> list[Forecast]:
    """The fastest first, or with prices the cheapest.

    `words`: `NAME=VALUE` of a point, `size`: bytes, `prices`: of 1e9 bytes and an hour, by name of
    a model. Raises UserError where a word is wrong, or prices are not those of these models.
    """
    prices = prices or {}
    _check([model.name for model in models], prices, size)
    found = []
    for model in models:
        said = predict(model, given(model, words))
        time, least, most = (
            round(1e9 * size / rate) if size else None
            for rate in (said.throughput, said.high, said.low)
        )
        found.append(_forecast(model.name, said, time, least, most))
    return _ordered(found, prices, size or 0)


def rank_program(
    models: Sequence[StorageModel],
    program: Program,
    words: Sequence[str] = (),
    prices: Mapping[str, float] | None = None,
) -> list[Forecast]:
    """Likewise by how long a recorded program takes; `words`: in place of what its run says."""
    prices, size = prices or {}, round(program.bytes)
    _check([model.name for model in models], prices, size)
    found = []
    for model in models:
        said = times(program, model, words)
        time, least, most = (round(one) for one in (said.time, said.least, said.most))
        one = _forecast(model.name, said.moving, time, least, most)
        found.append(structs.replace(one, moving=round(1e9 * said.bytes / one.throughput)))
    return _ordered(found, prices, size)


def _forecast(
    name: str, said: Prediction, time: Ns | None, least: Ns | None, most: Ns | None
) -> Forecast:
    rates = (said.throughput, said.low, said.high)
    return Forecast(*rates, said.outside, name=name, time=time, least=least, most=most)


def _ordered(found: Sequence[Forecast], prices: Mapping[str, float], size: int) -> list[Forecast]:
    def cost(one: Forecast, time: Ns | None, rate: float) -> float:
        """What the ranking is by: a price, or the time of a byte."""
        took = 1e9 / rate if time is None else time
        return prices[one.name] * size / _GB * took / _HOUR if prices else took

    def usual(one: Forecast) -> float:
        return cost(one, one.time, one.throughput)

    ranked = sorted(found, key=usual)
    first = ranked[0]
    most = cost(first, first.most, first.low)
    return [
        structs.replace(
            one,
            overlaps=one is not first and cost(one, one.least, one.high) <= most,
            price=usual(one) if prices else None,
        )
        for one in ranked
    ]


def _check(names: Sequence[str], prices: Mapping[str, float], size: int | None) -> None:
    if again := [name for name in names if names.count(name) > 1]:
        raise UserError(
            f"{names.count(again[0])} models are called {again[0]}", "give profiles other names"
        )
    if not prices:
        return
    if size is None:
        raise UserError("prices need a number of bytes", "add --bytes 5GiB")
    for name in (*names, *prices):
        if name not in prices:
            raise UserError(f"no price of {name}", f"add --price {name}=0.10")
        if name not in names:
            raise UserError(f"no model is called {name}", f"say {', '.join(names)}")
