"""Which of several storages is fastest, or cheapest, at the same load (S5.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iostrata.errors import UserError
from iostrata.predict.model import Prediction, StorageModel, given, predict
from iostrata.records import Ns

_HOUR = 3600
_GB = 1e9


class Forecast(Prediction, frozen=True, kw_only=True):
    """What the storage `name` does at a load.

    Where asked for: `time`, which a number of bytes takes, from `least` to `most`, and `price` of
    keeping them there for so long, in the user's currency.

    `overlaps`: the interval of what the ranking is by has a part in common with the first one's.
    """

    name: str
    overlaps: bool
    time: Ns | None = None
    least: Ns | None = None
    most: Ns | None = None
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
    said = {model.name: predict(model, given(model, words)) for model in models}
    moved = size or 0

    def cost(name: str, rate: float) -> float:
        """What the ranking is by: a price, or the time of a byte."""
        return prices[name] * moved / _GB * moved / rate / _HOUR if prices else 1 / rate

    names = sorted(said, key=lambda name: cost(name, said[name].throughput))
    most_of_first = cost(names[0], said[names[0]].low)

    def forecast(name: str) -> Forecast:
        one = said[name]
        rates = (one.throughput, one.high, one.low)
        time, least, most = (round(1e9 * moved / rate) if moved else None for rate in rates)
        return Forecast(
            one.throughput,
            one.low,
            one.high,
            one.outside,
            name=name,
            overlaps=name != names[0] and cost(name, one.high) <= most_of_first,
            time=time,
            least=least,
            most=most,
            price=cost(name, one.throughput) if prices else None,
        )

    return [forecast(name) for name in names]


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
