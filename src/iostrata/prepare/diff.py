"""Unified diffs that patch(1) applies and takes back, byte for byte."""

from __future__ import annotations

import difflib
import re

NO_NEWLINE = "\\ No newline at end of file\n"


def lines(text: str) -> list[str]:
    """Lines with their ends, at line feeds only: str.splitlines also cuts at form feeds."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def unified(name: str, before: str, after: str) -> str:
    """The diff of one file for `patch -p1`; empty if nothing changes."""
    rows = difflib.unified_diff(lines(before), lines(after), f"a/{name}", f"b/{name}")
    return "".join(row if row.endswith("\n") else f"{row}\n{NO_NEWLINE}" for row in rows)
