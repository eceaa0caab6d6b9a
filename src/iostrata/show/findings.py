"""Findings as lines of text, and as values for programs and the report."""

from __future__ import annotations

import textwrap
from dataclasses import asdict

from iostrata.analyse.engine import Engine
from iostrata.analyse.tables import Row
from iostrata.explain.facts import Facts
from iostrata.explain.finding import Change, Evidence, Finding
from iostrata.explain.rank import explain
from iostrata.explain.verdict import Verdict, verdict
from iostrata.progress import Progress, silent
from iostrata.store.runs import Run
from iostrata.text import count, printable, seconds, size

_WIDTH = 100
_UNITS = {"ns": seconds, "bytes": size, "count": count}


def explained(engine: Engine, run: Run, step: Progress = silent) -> Row:
    """What `iostrata findings --json` prints: wall (ns), verdict, findings in their order."""
    facts = Facts(engine, run)
    found = explain(facts, step)
    return {
        "run": run.name,
        "wall": facts.wall,
        "verdict": asdict(verdict(facts, found)),
        "findings": [finding.as_dict() for finding in found],
    }


def findings_lines(
    engine: Engine, run: Run, details: bool = False, step: Progress = silent
) -> list[str]:
    """The verdict, then each finding with its change and gain; with `details` all that is known."""
    facts = Facts(engine, run)
    found = explain(facts, step)
    lines = [*_verdict(verdict(facts, found)), ""]
    for number, finding in enumerate(found, 1):
        lines += _finding(number, finding, details)
    return [printable(line) for line in lines]


def short_lines(engine: Engine, run: Run, step: Progress = silent) -> list[str]:
    """The verdict, and a line for each finding that is more than a note."""
    facts = Facts(engine, run)
    found = explain(facts, step)
    said = verdict(facts, found)
    lines = [*_wrapped(f"verdict: {said.text}")]
    lines += [_head(n, each) for n, each in enumerate(found, 1) if each.severity != "note"]
    return [printable(line) for line in lines]


def _verdict(said: Verdict) -> list[str]:
    return [*_wrapped(said.text), *_wrapped(said.detail)]


def _finding(number: int, finding: Finding, details: bool) -> list[str]:
    lines = [_head(number, finding), *_wrapped(f"{finding.seen}.", "   ")]
    for change in finding.change:
        lines += _wrapped(f"-> {_change(change)}", "   ")
    if finding.gain and finding.gain[1] > 0:
        low, high = finding.gain
        lines.append(f"   expected gain: {low:.0%} to {high:.0%} of the run's time")
    if details:
        lines += _wrapped(f"why: {finding.why}", "   ")
        lines += _wrapped(f"not if {finding.unless}", "   ")
        lines += [f"   {each.what}: {_value(each)}" for each in finding.evidence]
        lines += ["   query:", *textwrap.indent(finding.query, "     ").splitlines()]
    return [*lines, ""]


def _head(number: int, finding: Finding) -> str:
    after = f" (follows from {', '.join(finding.because)})" if finding.because else ""
    head = f"{number}. {finding.severity.upper()} {finding.share:.0%} of the run: {finding.title}"
    return f"{head} [{finding.rule}]{after}"


def _change(change: Change) -> str:
    if not change.setting:
        return change.what
    after = f" = {change.after}" if change.after else ""
    before = f" (was {change.before})" if change.before else ""
    return f"{change.what}: {change.setting}{after}{before}"


def _value(evidence: Evidence) -> str:
    if isinstance(evidence.value, str):
        return evidence.value
    if evidence.unit == "share":
        return f"{evidence.value:.0%}"
    return _UNITS[evidence.unit](int(evidence.value))


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
