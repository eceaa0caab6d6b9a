"""Points that users bring: files as docs/add-a-point.md describes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iostrata.errors import UserError
from iostrata.regular import read_regular
from iostrata.schema.events import EXTRACTOR, FIRST_USER_POINT, LAYER, MAX_POINTS
from iostrata.schema.pointfile import PointError, Rules, compile_user_file
from iostrata.schema.points import POINTS

MOST = MAX_POINTS - FIRST_USER_POINT
MOST_BYTES = 1 << 20


def read_user_points(files: Sequence[Path]) -> list[dict[str, str]]:
    """The rows of all files together; raises UserError `FILE:LINE: reason`."""
    rules = Rules(LAYER, EXTRACTOR, FIRST_USER_POINT - 1)
    ours = {(point.cls, point.method, point.desc) for point in POINTS if point.makes_rows}
    rows: list[dict[str, str]] = []
    for file in files:
        try:
            text = read_regular(file, MOST_BYTES).decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"{file}:1: it is not UTF-8", "see docs/add-a-point.md") from error
        except OSError as error:
            raise UserError(f"{file}: {error.strerror}", "name a file with [[point]]") from error
        known = ours | {_key(row) for row in rows}
        try:
            rows += compile_user_file(text, str(file), rules, known, MOST - len(rows))
        except PointError as error:
            raise UserError(str(error), "see docs/add-a-point.md") from error
    return rows


def _key(row: dict[str, str]) -> tuple[str, str, str]:
    return row["class"], row["method"], row["desc"]


def full_name(row: dict[str, str]) -> str:
    """`class#method` and descriptor: how processes and runs name a point of a user."""
    return f"{row['class']}#{row['method']}{row['desc']}"
