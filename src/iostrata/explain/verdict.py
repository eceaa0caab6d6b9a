"""What holds a run back: the sentence that a report begins with, and the findings behind it."""

from __future__ import annotations

from iostrata.analyse.engine import DuckDb
from iostrata.explain.facts import RunFacts
from iostrata.explain.finding import Finding
from iostrata.explain.rank import explain, not_asked
from iostrata.progress import Progress, silent
from iostrata.records import Ns, Record
from iostrata.replay.fitted import Replays, replays_of
from iostrata.store.opened import OpenedRun
from iostrata.text import percent, plural, seconds


class Verdict(Record, frozen=True):
    """`text`: what holds the run back; `detail`: where its time went."""

    text: str
    detail: str


class Explanation(Record, frozen=True):
    """What holds a run back: a verdict, and the findings in their order. `wall`: how long the run
    took; `incomplete`: what of it is missing.
    """

    run: str
    wall: Ns
    verdict: Verdict
    findings: list[Finding]
    incomplete: list[str]


def explanation(
    opened: OpenedRun, step: Progress = silent, replays: Replays | None = None
) -> Explanation:
    """Asks all rules; says each of RULE_STEPS. `replays`: of the run, if others ask them, too."""
    facts = RunFacts(DuckDb(opened), opened.run, replays or replays_of(opened))
    findings = explain(facts, step)
    said = verdict(facts, findings)
    return Explanation(opened.run.name, facts.wall, said, findings, list(opened.incomplete))


def verdict(facts: RunFacts, findings: list[Finding]) -> Verdict:
    """Of a run with the findings given, in their order."""
    return Verdict(_text(facts, findings), _detail(facts))


def _text(facts: RunFacts, findings: list[Finding]) -> str:
    if not facts.workers:
        return "There is nothing to judge, because no traced process worked for this run."
    if not findings:
        return "No rule found anything that holds this run back."
    first = findings[0]
    if first.severity == "note":
        return f"No finding is severe. {first.title}: {first.seen}."
    text = f"{first.title}: {first.seen}."
    if first.gain and percent(first.gain.high) != percent(0):
        text += f" A change could save up to {percent(first.gain.high)} of the run's time."
    return text


def _detail(facts: RunFacts) -> str:
    whom = "task attempts" if any(worker.task for worker in facts.workers) else "programs"
    number = plural(len(facts.workers), whom.removesuffix("s"))
    text = (
        f"The run took {seconds(facts.wall)}. {number} ran during {percent(facts.coverage)} of it, "
        f"at most {facts.at_once} at once, and for {seconds(facts.worked)} in total."
    )
    return f"{text} {not_asked(facts.run)}".rstrip()
