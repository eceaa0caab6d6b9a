"""Findings as lines of text."""

from __future__ import annotations

import re
import textwrap

from iostrata.explain.finding import Change, Evidence, Finding, Gain
from iostrata.explain.verdict import Explanation
from iostrata.text import count, percent, printable, seconds, size

_WIDTH = 80
# The space within `5 000`, `15.00 s` or `61 %`.
_INSIDE = re.compile(r"(?<=\d) (?=\d|%|(?:µs|ms|s|min|[KMGTP]iB|B)\b)")
_UNITS = {"ns": seconds, "bytes": size, "count": count}


def findings_lines(explanation: Explanation, details: bool = False, sql: bool = False) -> list[str]:
    """The verdict, then each finding with its change and gain; with `details` also its evidence,
    reason and exceptions, with `sql` the query of that evidence.
    """
    verdict = explanation.verdict
    lines = [*wrapped(verdict.text), *wrapped(verdict.detail), ""]
    for number, finding in enumerate(explanation.findings, 1):
        lines += _finding(number, finding, details, sql)
    return [printable(line) for line in lines]


def short_lines(explanation: Explanation) -> list[str]:
    """The verdict, and a line for each finding that is more than a note."""
    lines = wrapped(f"verdict: {explanation.verdict.text}")
    numbered = enumerate(explanation.findings, 1)
    for number, each in numbered:
        lines += _head(number, each) if each.severity != "note" else []
    return [printable(line) for line in lines]


def _finding(number: int, finding: Finding, details: bool, sql: bool) -> list[str]:
    lines = [*_head(number, finding), *wrapped(f"{finding.seen}.", "   ")]
    for change in finding.change:
        lines += wrapped(f"-> {change_text(change)}", "   ")
    if finding.gain:
        with_ = finding.gain.replayed
        how = f", by a replay of this run with {with_}" if with_ else ""
        lines += wrapped(f"expected gain: {gain_text(finding.gain)}{how}", "   ")
    if details:
        lines += wrapped(f"why: {finding.why}", "   ")
        lines += wrapped(f"does not apply if {finding.unless}", "   ")
        for each in finding.evidence:
            lines += wrapped(f"{each.what}: {_value(each)}", "   ")
    if sql:
        lines += ["   query:", *textwrap.indent(finding.query, "     ").splitlines()]
    return [*lines, ""]


def _head(number: int, finding: Finding) -> list[str]:
    after = f" (follows from {', '.join(finding.because)})" if finding.because else ""
    severity, share = finding.severity.upper(), percent(finding.share)
    head = f"{number}. {severity} {share} of the run: {finding.title}"
    return wrapped(f"{head} [{finding.rule}]{after}")


def gain_text(gain: Gain) -> str:
    """`12 % to 25 % of the run's time`, or that there is none."""
    low, high = percent(gain.low), percent(gain.high)
    return "none" if high == percent(0) else f"{low} to {high} of the run's time"


def change_text(change: Change) -> str:
    """What to do: `merge less: io.sort.mb = 200 (was 100)`."""
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


def wrapped(text: str, indent: str = "", width: int = _WIDTH) -> list[str]:
    """Lines of the text; a number stays with its unit."""
    whole = _INSIDE.sub("\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(whole, width, initial_indent=indent, subsequent_indent=indent)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
