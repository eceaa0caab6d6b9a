"""What a study came to, as Markdown, as lines of text, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iostrata.text import columns, count, plural
from iostrata_lab.studies.interface import Described, Outcome, StudyDocument, StudyRun, Table

_PID = re.compile(r"\bpid \d+")


def text(study: Described, outcome: Outcome, samples: Sequence[StudyRun]) -> list[str]:
    """For a terminal: tables, then a line for each claim and its reason."""
    lines = [f"{study.name}: {study.about} ({study.source})"]
    lines += ["", *_traced(samples)]
    for table in outcome.tables:
        numbers = range(table.names, len(table.columns))
        lines += ["", table.title, "", *columns(table.columns, table.rows, numbers)]
    lines.append("")
    for claim in outcome.claims:
        lines += [f"{claim.verdict}: {claim.says}", f"    {claim.because}"]
    lines += ["", "Differences from the paper:", *(f"- {one}" for one in study.differences)]
    return lines


def markdown(study: Described, outcome: Outcome, samples: Sequence[StudyRun], command: str) -> str:
    """A page of its own, with the figure `NAME.svg` beside it."""
    lines = [f"# {study.about[:1].upper()}{study.about[1:]}", "", f"After {study.source}."]
    lines += ["", f"    {command}", "", *_traced(samples)]
    for table in outcome.tables:
        lines += ["", f"{table.title}", "", *grid(table)]
    lines += ["", f"![{study.about}]({study.name}.svg)", ""]
    lines += ["| the paper says | here | why |", "|---|---|---|"]
    lines += [
        f"| {_cell(claim.says)} | {claim.verdict} | {_cell(claim.because)} |"
        for claim in outcome.claims
    ]
    lines += ["", "Differences from the paper:", "", *(f"- {one}" for one in study.differences)]
    return "\n".join(lines) + "\n"


def document(study: Described, outcome: Outcome, samples: Sequence[StudyRun]) -> StudyDocument:
    """What was measured in each run, and what it comes to."""
    return StudyDocument(
        study=study.name,
        source=study.source,
        differences=study.differences,
        tables=outcome.tables,
        claims=outcome.claims,
        samples=samples,
    )


def _traced(samples: Sequence[StudyRun]) -> list[str]:
    """How complete the runs are, and what is missing of which."""

    def of(name: str) -> str:
        return count(sum(sample.traced[name] for sample in samples))

    lines = [
        f"From {plural(len(samples), 'recorded run')}: "
        f"{of('traced')} of {of('processes')} processes traced, "
        f"{of('dropped')} calls dropped, {of('collapsed')} collapsed, {of('lost')} lost."
    ]
    missing = alike([(one.run, line) for one in samples for line in one.traced["missing"]])
    return lines + [""] * bool(missing) + [f"- {line}" for line in missing]


def alike(lines: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of runs; those that differ in pids only, as those of a daemon in each run, are one."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for run, line in lines:
        groups.setdefault(_PID.sub("pid …", line), []).append((run, line))
    return [
        f"{found[0][0]}: {found[0][1]}"
        if len(found) == 1
        else f"{plural(len({run for run, _ in found}), 'run')}, {len(found)} times: {line}"
        for line, found in groups.items()
    ]


def grid(table: Table) -> list[str]:
    """Its lines in Markdown."""
    marks = ["---" if at < table.names else "---:" for at in range(len(table.columns))]
    rows = [table.columns, marks, *table.rows]
    return [f"| {' | '.join(map(_cell, row))} |" for row in rows]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
