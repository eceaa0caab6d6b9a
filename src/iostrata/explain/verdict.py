"""The one sentence that a report begins with."""

from __future__ import annotations

from dataclasses import dataclass

from iostrata.explain.facts import Facts
from iostrata.explain.finding import Finding
from iostrata.text import plural, seconds


@dataclass(frozen=True)
class Verdict:
    """`text`: what holds the run back; `detail`: where its time went."""

    text: str
    detail: str


def verdict(facts: Facts, findings: list[Finding]) -> Verdict:
    """Of a run with the findings given, in their order."""
    return Verdict(_text(facts, findings), _detail(facts))


def _text(facts: Facts, findings: list[Finding]) -> str:
    if not facts.workers:
        return "Nothing to judge: no traced process did work of this run."
    if not findings:
        return "Nothing holds this run back that a rule knows."
    first = findings[0]
    if first.severity == "note":
        return f"Nothing severe. {first.title}: {first.seen}."
    gain = f" Up to {first.gain[1]:.0%} of the run's time could be saved." if first.gain else ""
    return f"{first.title}: {first.seen}.{gain}"


def _detail(facts: Facts) -> str:
    whom = "task attempts" if any(worker.task for worker in facts.workers) else "programs"
    number = plural(len(facts.workers), whom.removesuffix("s"))
    return (
        f"The run took {seconds(facts.wall)}; {number}, at most {facts.at_once} at once, ran "
        f"in {facts.coverage:.0%} of it, {seconds(facts.worked)} together."
    )
