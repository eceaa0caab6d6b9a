"""How much of a run is recorded individually: as users and the order of a run say it."""

from __future__ import annotations

from dataclasses import dataclass

from iostrata.errors import UserError
from iostrata.schema.events import ALL_REQUESTS
from iostrata.schema.names import check_level, check_sampling

MILLION = 1_000_000


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
