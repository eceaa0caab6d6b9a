"""Findings as lines of text."""

from __future__ import annotations

import re
import textwrap

from iostrata.explain.finding import Change, Evidence, Finding
from iostrata.explain.verdict import Explanation
from iostrata.text import count, percent, printable, seconds, size

_WIDTH = 100
# The space within `5 000`, `15.00 s` or `61 %`.
_INSIDE = re.compile(r"(?<=\d) (?=\d|%|(?:µs|ms|s|min|[KMGTP]iB|B)\b)")
_UNITS = {"ns": seconds, "bytes": size, "count": count}


def findings_lines(explanation: Explanation, details: bool = False) -> list[str]:
    """The verdict, then each finding with its change and gain; with `details` all that is known."""
    verdict = explanation.verdict
    lines = [*_wrapped(verdict.text), *_wrapped(verdict.detail), ""]
    for number, finding in enumerate(explanation.findings, 1):
        lines += _finding(number, finding, details)
    return [printable(line) for line in lines]


def short_lines(explanation: Explanation) -> list[str]:
    """The verdict, and a line for each finding that is more than a note."""
    lines = _wrapped(f"verdict: {explanation.verdict.text}")
    numbered = enumerate(explanation.findings, 1)
    lines += [_head(number, each) for number, each in numbered if each.severity != "note"]
    return [printable(line) for line in lines]


def _finding(number: int, finding: Finding, details: bool) -> list[str]:
    lines = [_head(number, finding), *_wrapped(f"{finding.seen}.", "   ")]
    for change in finding.change:
        lines += _wrapped(f"-> {_change(change)}", "   ")
    if finding.gain:
        low, high = percent(finding.gain.low), percent(finding.gain.high)
        lines.append(f"   expected gain: {low} to {high} of the run's time")
    if details:
        lines += _wrapped(f"why: {finding.why}", "   ")
        lines += _wrapped(f"does not apply if {finding.unless}", "   ")
        lines += [f"   {each.what}: {_value(each)}" for each in finding.evidence]
        lines += ["   query:", *textwrap.indent(finding.query, "     ").splitlines()]
    return [*lines, ""]


def _head(number: int, finding: Finding) -> str:
    after = f" (follows from {', '.join(finding.because)})" if finding.because else ""
    severity, share = finding.severity.upper(), percent(finding.share)
    head = f"{number}. {severity} {share} of the run: {finding.title}"
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
        return percent(float(evidence.value))
    return _UNITS[evidence.unit](int(evidence.value))


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of the text; a number stays with its unit."""
    whole = _INSIDE.sub("\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(whole, _WIDTH, initial_indent=indent, subsequent_indent=indent)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
