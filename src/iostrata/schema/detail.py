"""How much of a run is recorded individually: as users and the order of a run say it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iostrata.errors import UserError
from iostrata.schema.events import ALL_REQUESTS, LEVEL

MILLION = 1_000_000
_SHARE = re.compile(r"[0-9./]{1,24}%?")


@dataclass(frozen=True)
class Detail:
    """What a run asks for.

    Records are counted at the level `record` only. `sampling` is of ALL_REQUESTS, `budget` in
    millionths of the CPU time of each process that tracing may cost it; 0: as much as it takes.
    """

    level: str = "thread"
    sampling: int = ALL_REQUESTS
    budget: int = MILLION // 100

    def lines(self) -> list[str]:
        """Lines of the order of a run."""
        return [f"level={self.level}", f"sampling={self.sampling}", f"budget={self.budget}"]


def asked_for(level: str, sampling: str, budget: str) -> Detail:
    """What the options of a command say; raises UserError."""
    return Detail(check_level(level), check_sampling(sampling), parse_budget(budget))


def check_level(name: str) -> str:
    """The name of a level; raises UserError for another."""
    if name not in LEVEL:
        raise UserError(f"no level is called {name!r}", f"one of {', '.join(LEVEL)}")
    return name


def check_sampling(text: str) -> int:
    """`1/100`, `1%` or `0.01` as requests of ALL_REQUESTS, above 0; raises UserError."""
    from fractions import Fraction

    remedy = "say 1/100, 1% or 0.01; 1/1 keeps all"
    try:
        if not _SHARE.fullmatch(text):
            raise ValueError
        share = Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise UserError(f"{text!r} is no share of the requests", remedy) from error
    if not 0 < share <= 1:
        raise UserError(f"--sampling {text} is not above 0 and at most 1", remedy)
    if share * ALL_REQUESTS < 1:
        raise UserError(f"--sampling {text} is less than one of {ALL_REQUESTS:,}", remedy)
    return round(share * ALL_REQUESTS)


def sampling_text(requests: int) -> str:
    """`1/100`, or a percentage where it is no such fraction; of ALL_REQUESTS, 0: all."""
    if requests in (0, ALL_REQUESTS):
        return "1/1"
    one_of = round(ALL_REQUESTS / requests)
    if round(ALL_REQUESTS / one_of) == requests:
        return f"1/{one_of}"
    return f"{100 * requests / ALL_REQUESTS:.9g}%"


def parse_budget(text: str) -> int:
    """Millionths of `1%`, `0.5%`, or `off`; raises UserError for anything else."""
    if text == "off":
        return 0
    try:
        if not text.endswith("%"):
            raise ValueError
        millionths = round(float(text[:-1]) * MILLION / 100)
    except (ValueError, OverflowError):
        millionths = 0
    if not 0 < millionths <= MILLION:
        raise UserError(f"no budget: {text!r}", "a share of CPU time like 1% or 0.5%, or off")
    return millionths


def budget_text(millionths: int) -> str:
    """`1 %`, `0.5 %`, `off`."""
    return f"{millionths * 100 / MILLION:g} %" if millionths else "off"
