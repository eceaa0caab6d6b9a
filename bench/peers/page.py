"""docs/peers.md: its tables are written from a folder of results, between two marks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bench.measure.results import ROOT, read

PAGE = ROOT / "docs/peers.md"
BEGIN, END = "<!-- tables: bench/peers/peers.py FOLDER --page -->", "<!-- end of tables -->"
TITLES = {
    "iostrata": "iostrata",
    "iostrata-all": "iostrata `--budget off`",
    "jfr": "JFR",
    "jfr-stacks": "JFR with stacks",
    "opentelemetry": "OpenTelemetry",
    "htrace": "HTrace",
}
Row = dict[str, Any]


def write(folder: Path) -> None:
    """Replaces the tables of the page."""
    text = PAGE.read_text("utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{PAGE}: the marks {BEGIN} and {END} must be there once each")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(folder)}\n{END}{rest.partition(END)[2]}", "utf-8")


def tables(folder: Path) -> str:
    """Both tables as Markdown; a tool that was not measured has no row."""
    costs = {tool: read(folder / f"peers-{tool}.json") for tool in TITLES}
    known = read(folder / "peers-known.json")
    measured = [value for value in [*costs.values(), known] if value]
    if not measured:
        sys.exit(f"{folder} has no peers-*.json")
    machine = measured[0]["machine"]
    lines = [
        f"Measured {machine['date'][:10]} on {machine['cpus']} cores ({machine['model']}), "
        f"{machine['java']}, commit {machine['commit'][:10]}.",
        "",
    ]
    found = {tool: value["found"] for tool, value in costs.items() if value}
    lines += cost_table(found) if found else ["*CPU added: not measured yet on a quiet machine.*"]
    if known:
        lines += ["", *known_table(known["found"])]
    return "\n".join(lines) + "\n"


def cost_table(found: dict[str, list[Row]]) -> list[str]:
    lines = [
        "| tool | job | pairs | CPU added to the cluster (95 %) | operations kept | B/operation |",
        "|---|---|---|---|---|---|",
    ]
    for tool, jobs in found.items():
        for job in jobs:
            added = job["added"]
            cells = [TITLES[tool], f"{job['job']}, {job['megabytes']:.0f} MB", str(added["n"])]
            cells += [_interval(added), _number(job["events"], 0)]
            cells += [_number(job["bytes_per_event"], 1)]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def known_table(rows: list[Row]) -> list[str]:
    have = [tool for tool in TITLES if any(row["tool"] == tool for row in rows)]
    lines = [
        f"| operation | {' | '.join(TITLES[tool] for tool in have)} |",
        f"|---|{'---|' * len(have)}",
    ]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        cells = []
        for tool in have:
            of = [row for row in rows if (row["tool"], row["kind"]) == (tool, kind)]
            cells.append(f"{of[0]['seen']} of {of[0]['truth']}" if of else "–")
        title = kind.replace("killed ", "", 1) + " before a `kill -9`" * kind.startswith("killed ")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def _interval(added: Row) -> str:
    if added["estimate"] is None:
        return "–"
    middle = f"{added['estimate']:+.1%}"
    return f"{middle} ({added['low']:+.1%} to {added['high']:+.1%})" if added["n"] > 1 else middle


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}".replace(",", " ")
