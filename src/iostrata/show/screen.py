"""The first screen of a run: what to do, whether that can be trusted, and where the time went.

It fits a terminal of 80 columns and 25 lines, prompt included. What it leaves out is in the full
summary.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from iostrata.analyse.summary import Summary
from iostrata.analyse.totals import LayerTotal
from iostrata.explain.finding import Finding
from iostrata.explain.verdict import Explanation
from iostrata.schema.detail import budget_text
from iostrata.show.completeness import completeness_lines
from iostrata.show.findings import change_text, gain_text, wrapped
from iostrata.show.pipelines import lost_lines
from iostrata.show.summary import (
    headline,
    picture,
    place_lines,
    reason_empty,
    total_time,
    untraced_lines,
)
from iostrata.show.tables import WIDTH, Column, directions, fitting, named, number
from iostrata.store.tags import tags_text
from iostrata.text import count, percent, plural, printable, shortened

HEIGHT = 24  # and the prompt
_MOST_VERDICT = 4  # lines
# Findings, lines about what is missing, and whether it says where the time went: the first that
# leaves some lines to the layers.
_MOST = ((3, 3, True), (2, 2, True), (1, 1, True), (1, 1, False))
_LEAST_LAYERS = 6  # lines
_FULL = "iostrata summary --full"


def screen_lines(summary: Summary, explanation: Explanation | None) -> list[str]:
    """At most HEIGHT lines of WIDTH characters; `explanation`: None of a run without any call."""
    if explanation is None or not summary.layers:
        what = [*_completeness(summary, _MOST[0][1]), *_facts(summary)]
        return [*what, *_paragraph(reason_empty(summary))]
    made = (_above(summary, explanation, *most) for most in _MOST)
    fitting_ones = (lines for lines in made if len(lines) + _LEAST_LAYERS < HEIGHT)
    above = next(fitting_ones, _above(summary, explanation, *_MOST[-1]))
    last = f"{_FULL} has operations, sizes, latencies, targets, tasks"
    return [*above, *_layers(summary, HEIGHT - len(above) - 1), last]


def _above(
    summary: Summary, explanation: Explanation, findings: int, missing: int, has_time: bool
) -> list[str]:
    """What stands above the layers."""
    what = [*_facts(summary), *_completeness(summary, missing)]
    time = [*_time(summary, explanation), *place_lines(summary)] if has_time else []
    return [*_causes(explanation, findings), "", *what, *time, ""]


def _causes(explanation: Explanation, most: int) -> list[str]:
    """The verdict, then what to change, of so many findings."""
    lines = _first(_paragraph(explanation.verdict.text), _MOST_VERDICT)
    found = [each for each in explanation.findings if each.severity != "note"]
    for place, finding in enumerate(found[:most], 1):
        lines += _cause(place, finding)
    shown = min(len(found), most)
    if more := len(explanation.findings) - shown:
        lines.append(f"{plural(more, 'finding')}{' more' * bool(shown)}: iostrata findings")
    return lines


def _cause(place: int, finding: Finding) -> list[str]:
    share = percent(finding.share)
    head = f"{place}. {finding.severity.upper()} {share}: {finding.title} [{finding.rule}]"
    lines = [_cut(head)]
    if finding.change:
        said = finding.gain and gain_text(finding.gain).removesuffix(" of the run's time")
        gain = f" · saves {said}" if said else ""
        change = _cut(f"   -> {change_text(finding.change[0])}", len(gain))
        lines.append(change + gain)
    return lines


def _facts(summary: Summary) -> list[str]:
    """Which run it is, and its command."""
    run = summary.run
    head = headline(run)
    while len(head) > WIDTH and " · " in head:  # who recorded it, where, and when say least
        head = head.rpartition(" · ")[0]
    lines = [_cut(head)]
    if run.title:
        lines.append(_cut(f"workload: {run.title}"))
    elif run.command:
        lines.append(_command(run.command))
    if run.tags:
        lines.append(_cut(f"tags: {tags_text(run.tags)}"))
    if run.message:
        lines.append(_cut(f"note: {run.message}"))
    return lines


def _command(words: Sequence[str]) -> str:
    """In one line: where it is too long, jars have no folders, then settings are left out."""
    named = [_last_part(word) for word in words]
    plain = [word for word in named if not word.startswith("-D")]
    lines = [f"command: {shlex.join(shown)}" for shown in (words, named, plain)]
    return _cut(next((line for line in lines if len(line) <= WIDTH), lines[-1]))


def _last_part(word: str) -> str:
    return word.rsplit("/", 1)[-1] if word.startswith("/") and word.endswith(".jar") else word


def _completeness(summary: Summary, most: int) -> list[str]:
    """One line when all is well, with what tracing took; else also DataNodes that failed, and what
    is missing in `most` lines, the last of which says how much more of that there is.
    """
    whole, *missing = completeness_lines(picture(summary))
    failed = lost_lines(summary.lost_datanodes, summary.run.start)
    cost = summary.cost
    if cost.processes:
        took = f"; tracing took ~{percent(cost.share, 1)} of CPU (budget "
        whole += f"{took}{budget_text(cost.budget)})"
    short = [line for text in untraced_lines(summary) for line in _paragraph(text)]
    failed = _paragraph(failed[0]) if len(failed) == 1 else [_cut(line) for line in failed]
    return [*_paragraph(whole), *failed, *_first([*short, *map(_cut, missing)], most)]


def _time(summary: Summary, explanation: Explanation) -> list[str]:
    """How long anything ran, and how busy the busiest host was meanwhile."""
    text = explanation.verdict.detail
    if summary.hosts:
        host = max(summary.hosts, key=lambda row: row.cpu)
        whose = "The host's CPU" if len(summary.hosts) == 1 else f"The CPU of {host.host}"
        text += f" {whose} was {percent(host.cpu)} busy"
        text += f" and {percent(host.iowait)} waiting for disks."
    return _paragraph(text)


def _layers(summary: Summary, most: int) -> list[str]:
    """Bytes and time by layer in at most so many lines; those with the least time are left out."""
    rows = summary.layers
    left_out = ""
    if len(rows) + 1 > most:
        longest = sorted(rows, key=lambda row: -row.time)[: max(most - 2, 1)]
        rest = [row for row in rows if row not in longest]
        rows = [row for row in rows if row in longest]
        left_out = f"less time: {', '.join(row.layer for row in rest)}"
    lines = _layer_table(rows)
    return [*lines, *([_cut(left_out)] if left_out else [])]


def _layer_table(rows: Sequence[LayerTotal]) -> list[str]:
    """As many columns as the width has room for."""
    first = [named("layer"), number("calls", count)]
    time = Column("thread time", total_time, number=True)
    errors = [number("errors", count)] if any(row.errors for row in rows) else []
    moved = directions(rows)
    choices = ([*moved, time, *errors], [*moved[:2], time, *errors])
    return fitting(rows, [[*first, *shown] for shown in choices])


def _paragraph(text: str) -> list[str]:
    """The text in lines; a path that is longer than one is cut in its middle."""
    words = map(_cut, text.split(" "))
    return wrapped(" ".join(words), width=WIDTH)


def _cut(text: str, less: int = 0) -> str:
    """A line, its middle left out where it is longer than the screen is wide, `less` so much."""
    return shortened(printable(text), WIDTH - less)


def _first(lines: list[str], most: int) -> list[str]:
    """As many lines, the last of which says how many more there are."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"and {len(lines) - most + 1} lines more: {_FULL}"]
