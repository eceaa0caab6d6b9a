"""The tables of the matrix: what was planted, what ranked first."""

from __future__ import annotations

from collections import Counter
from typing import Any

Row = dict[str, Any]


def first(row: Row) -> str:
    """The finding that ranks first; '' for none. Notes of a healthy run are no finding."""
    found = row["findings"]
    if not found or (not row["cause"] and found[0]["severity"] != "severe"):
        return ""
    return str(found[0]["rule"])


def page(rows: list[Row]) -> str:
    """Two tables in Markdown: one line a planted cause, and one line a run."""
    lines = ["| planted | runs | ranked first | instead |", "|---|---:|---:|---|"]
    for cause in dict.fromkeys(row["cause"] for row in rows):
        of_cause = [first(row) for row in rows if row["cause"] == cause]
        right = of_cause.count(cause)
        wrong = Counter(name or "nothing" for name in of_cause if name != cause)
        instead = ", ".join(f"{name} {n}" for name, n in wrong.items())
        lines.append(f"| {cause or 'nothing'} | {len(of_cause)} | {right} | {instead} |")
    lines += ["", "| job | seed | size | wall | findings |", "|---|---:|---|---:|---|"]
    for row in rows:
        found = ", ".join(
            f"{each['rule']} ({each['severity']} {each['share']:.0%})" for each in row["findings"]
        )
        wall = f"{row['wall'] / 1e9:.0f} s"
        lines.append(f"| {row['job']} | {row['seed']} | {row['size']} | {wall} | {found or '-'} |")
    return "\n".join(lines)
