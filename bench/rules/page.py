"""The tables of the matrix: what was planted, what ranked first, and what would by gain alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

from iostrata.explain.finding import ORDER

Row = dict[str, Any]


def first(row: Row) -> str:
    """The finding that ranks first; '' for none. Notes of a healthy run are no finding."""
    found = row["findings"]
    if not found or (not row["cause"] and found[0]["severity"] != "severe"):
        return ""
    return str(found[0]["rule"])


def by_gain(row: Row) -> list[str]:
    """Rules in the order that severities and gains give, whatever explains what."""

    def place(found: Row) -> tuple[int, float, str]:
        gain = found["gain"]
        return (
            ORDER.index(found["severity"]),
            -sum((gain["low"], gain["high"])) if gain else 0,
            found["rule"],
        )

    return [found["rule"] for found in sorted(row["findings"], key=place)]


def without_causes(rows: list[Row]) -> list[str]:
    """How the planted causes rank without `explains`: a sentence, and a line for each that is not
    first then.
    """
    planted = [(row, by_gain(row)) for row in rows if row["cause"]]
    at = [
        names.index(row["cause"]) if row["cause"] in names else len(names) for row, names in planted
    ]
    lines = [
        f"Without `explains`, {at.count(0)} of {len(at)} causes rank first, and "
        f"{sum(place < 2 for place in at)} among the first two.",
        "",
        "| planted | seed | first without `explains` |",
        "|---|---:|---|",
    ]
    late = [(row, names) for (row, names), place in zip(planted, at, strict=True) if place]
    return lines + [f"| {row['cause']} | {row['seed']} | {names[0]} |" for row, names in late]


def page(rows: list[Row]) -> str:
    """Markdown: a line a planted cause, those that depend on `explains`, and a line a run."""
    lines = ["| planted | runs | ranked first | instead |", "|---|---:|---:|---|"]
    for cause in dict.fromkeys(row["cause"] for row in rows):
        of_cause = [first(row) for row in rows if row["cause"] == cause]
        right = of_cause.count(cause)
        wrong = Counter(name or "nothing" for name in of_cause if name != cause)
        instead = ", ".join(f"{name} {n}" for name, n in wrong.items())
        lines.append(f"| {cause or 'nothing'} | {len(of_cause)} | {right} | {instead} |")
    lines += ["", *without_causes(rows)]
    lines += ["", "| job | seed | size | wall | findings |", "|---|---:|---|---:|---|"]
    for row in rows:
        found = ", ".join(
            f"{each['rule']} ({each['severity']} {each['share']:.0%})" for each in row["findings"]
        )
        wall = f"{row['wall'] / 1e9:.0f} s"
        lines.append(f"| {row['job']} | {row['seed']} | {row['size']} | {wall} | {found or '-'} |")
    return "\n".join(lines)
