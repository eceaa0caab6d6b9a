"""Tables of text: what each column shows of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from iostrata.schema.directions import BYTES_COLUMN
from iostrata.text import columns, near, shortened, size

# Columns of a terminal that tables fit, where nobody says how many it has.
WIDTH = 80


class Column(NamedTuple):
    """A column: its title, and the text that it shows of a row; a `number` stands to the right."""

    title: str
    text: Callable[[Any], str]
    number: bool = False


def named(title: str, field: str = "") -> Column:
    """Shows the field that has the name of the title, or `field`; nothing for None."""
    return Column(title, lambda row: getattr(row, field or title) or "")


def number(title: str, text: Callable[[int], str], field: str = "") -> Column:
    """Shows the number of a field (the title's) as `text`; nothing for None."""

    def shown(row: Any) -> str:
        value = getattr(row, field or title)
        return "" if value is None else text(value)

    return Column(title, shown, number=True)


def estimate(title: str, text: Callable[[int], str], field: str = "") -> Column:
    """Shows the number of a field (the title's) with its bound, the field `FIELD_bound`."""
    name = field or title
    return Column(
        title, lambda row: near(getattr(row, name), getattr(row, f"{name}_bound"), text), True
    )


def directions(
    rows: Sequence[Any],
    always: Sequence[str] = ("read", "written"),
    made: Callable[[str, Callable[[int], str], str], Column] = number,
) -> list[Column]:
    """A column of bytes for each direction in which anything moved, and for those of `always`."""
    return [
        made(direction, size, column)
        for direction, column in BYTES_COLUMN.items()
        if direction in always or any(getattr(row, column) for row in rows)
    ]


def table(rows: Iterable[Any], shown: Sequence[Column]) -> list[str]:
    """Aligned lines: the titles, then the rows."""
    right = [place for place, column in enumerate(shown) if column.number]
    cells = ([column.text(row) for column in shown] for row in rows)
    return columns([column.title for column in shown], cells, right)


def fitting(
    rows: Sequence[Any], choices: Iterable[Sequence[Column]], width: int = WIDTH
) -> list[str]:
    """The table with the first choice of columns that fits, or the last one, cut."""
    tables = [table(rows, shown) for shown in choices]
    fits = (lines for lines in tables if max(map(len, lines)) <= width)
    return next(fits, [shortened(line, width) for line in tables[-1]])
