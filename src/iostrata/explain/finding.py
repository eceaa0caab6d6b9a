"""Rules, their judgements, and the findings that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from iostrata.explain.facts import Query, RunFacts
from iostrata.records import Record, Share
from iostrata.replay.alternative import Alternative

Unit = Literal["ns", "bytes", "count", "share", "text"]
Severity = Literal["severe", "warning", "note"]
_R = TypeVar("_R", bound=Record)

_BLINK = 100_000_000  # ns; what takes no longer seems to happen at once
_PAUSE = 1_000_000_000  # ns; nobody who waits no longer turns to something else
# Shares of the run's time from which a finding has that severity, and the time of workers (ns) that
# has to be lost as well; below the last it is none. Shares were fixed before the lab's matrix was
# repeated on other seeds and sizes (bench/rules).
SEVERITIES: tuple[tuple[float, int, Severity], ...] = (
    (0.20, _PAUSE, "severe"),
    (0.08, _BLINK, "warning"),
    (0.03, 0, "note"),
)
ORDER = [name for _, _, name in SEVERITIES]


class Evidence(Record, frozen=True):
    """One number behind a finding: times in ns, sizes in bytes, shares from 0 to 1."""

    what: str
    value: int | float | str
    unit: Unit


class Change(Record, frozen=True):
    """One thing to do: the exact setting, from which value to which; `setting` is empty where the
    program itself has to change. `before` is what the jobs had, and empty where nobody knows.
    """

    what: str
    setting: str = ""
    before: str = ""
    after: str = ""


class Judgement(Record, frozen=True):
    """What a rule saw in a run.

    `share`: of the run's wall time, that would not have been spent without the cause. `gain`: what
    of it the change is expected to bring back, least and most, as parts of `share`; where the run
    can be replayed with the changes `tries`, what that says counts in its place. `jobs`: those that
    it is about; none: all of the run.
    """

    share: Share
    text: str
    evidence: list[Evidence]
    change: list[Change]
    gain: tuple[float, float] = (0.5, 1.0)
    jobs: tuple[str, ...] = ()
    tries: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Rule(Generic[_R]):
    """A cause that can be seen in a trace.

    `evidence` is one query, and its SQL goes with the finding; `judge` reads its rows. `most` is
    the highest severity: a rule that storage cannot mend, or that is only a hint, is no alarm.
    `explains` names rules whose findings follow from this one, and rank behind it. `of_imports`:
    traces of other tools may have what it asks for. The registry gives a rule the `name` of its
    file.
    """

    title: str
    evidence: Query[_R]
    judge: Callable[[list[_R], RunFacts], Judgement | None]
    why: str
    unless: str
    most: Severity = "severe"
    explains: tuple[str, ...] = ()
    of_imports: bool = False
    name: str = ""


def rule(
    title: str,
    evidence: Query[_R],
    why: str,
    unless: str,
    most: Severity = "severe",
    explains: tuple[str, ...] = (),
    of_imports: bool = False,
) -> Callable[[Callable[[list[_R], RunFacts], Judgement | None]], Rule[_R]]:
    """Makes a rule of the function that judges its evidence."""
    return lambda judge: Rule(title, evidence, judge, why, unless, most, explains, of_imports)


class Gain(Record, frozen=True):
    """The least and the most that a change is expected to bring back. `replayed`: the change with
    which the run was replayed; the empty string: it was not, and the rule says what part of the
    finding's share a change brings.
    """

    low: Share
    high: Share
    of: Literal["time of the run"] = "time of the run"
    replayed: str = ""


class Finding(Record, frozen=True):
    """One cause, as it is shown; `gain` is null where nothing is known, `because` names the rules
    whose findings this one follows from.
    """

    rule: str
    severity: Severity
    title: str
    share: Share
    seen: str
    evidence: list[Evidence]
    query: str
    why: str
    change: list[Change]
    gain: Gain | None
    unless: str
    because: list[str]


def severity(share: float, lost: float, most: Severity) -> Severity | None:
    """The severity of a share of the run's time, for which workers lost so many ns; `most` at the
    highest. None: not worth a line.
    """
    reached = (name for least, time, name in SEVERITIES if share >= least and lost >= time)
    named = next(reached, None)
    return named and ORDER[max(ORDER.index(named), ORDER.index(most))]
