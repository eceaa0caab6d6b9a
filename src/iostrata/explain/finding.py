"""What rules are, and what they find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ibis.expr import types as ir

from iostrata.analyse.tables import Row
from iostrata.explain.facts import Facts, Scope

Unit = Literal["ns", "bytes", "count", "share", "text"]
Severity = Literal["severe", "warning", "note"]

# Shares of the run's time from which a finding has that severity; below the last it is none. Fixed
# before the lab's matrix was repeated on other seeds and sizes (bench/rules).
SEVERITIES: tuple[tuple[float, Severity], ...] = (
    (0.20, "severe"),
    (0.08, "warning"),
    (0.03, "note"),
)


@dataclass(frozen=True)
class Evidence:
    """One number behind a finding: times in ns, sizes in bytes, shares from 0 to 1."""

    what: str
    value: float | str
    unit: Unit


@dataclass(frozen=True)
class Change:
    """One thing to do: the exact setting, from which value to which; `setting` is empty where the
    program itself has to change.
    """

    what: str
    setting: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Seen:
    """What a rule saw in a run.

    `share`: of the run's wall time, 0 to 1, that would not have been spent without the cause.
    `gain`: what of it the change is expected to bring back, least and most, as parts of `share`.
    """

    share: float
    text: str
    evidence: list[Evidence]
    change: list[Change]
    gain: tuple[float, float] = (0.5, 1.0)


@dataclass(frozen=True)
class Rule:
    """A cause that can be seen in a trace.

    `evidence` is one expression, and its SQL goes with the finding; `judge` reads its rows. `most`
    is the highest severity: a rule that storage cannot mend, or that is only a hint, is no alarm.
    `explains` names rules whose findings follow from this one, and rank behind it.
    """

    name: str
    title: str
    evidence: Callable[[Scope], ir.Table]
    judge: Callable[[list[Row], Facts], Seen | None]
    why: str
    unless: str
    most: Severity = "severe"
    explains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One cause, as it is shown; `gain` is of the run's wall time, None where nothing is known."""

    rule: str
    severity: Severity
    title: str
    share: float
    seen: str
    evidence: list[Evidence]
    query: str
    why: str
    change: list[Change]
    gain: tuple[float, float] | None
    unless: str
    because: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        made = asdict(self)
        if self.gain:
            made["gain"] = {"low": self.gain[0], "high": self.gain[1], "of": "time of the run"}
        return made


def severity(share: float, most: Severity) -> Severity | None:
    """The severity of a share of the run's time, `most` at the highest; None: not worth a line."""
    found = next((name for least, name in SEVERITIES if share >= least), None)
    order = [name for _, name in SEVERITIES]
    return found and order[max(order.index(found), order.index(most))]
