"""A table as comma-separated values, RFC 4180."""

from __future__ import annotations

import csv
import io
from typing import BinaryIO

from iostrata.schema.columns import as_read
from iostrata.schema.events import COLUMNS
from iostrata.show.export.source import Source
from iostrata.store.files import TABLES


def write(source: Source, out: BinaryIO) -> int:
    """Writes the names of the columns, then a row per record as it is stored; how many rows."""
    table = source.selection.table
    columns = list(as_read(TABLES[table][1] if table in TABLES else COLUMNS))
    text = io.TextIOWrapper(out, "utf-8", "replace", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(columns)
    rows = 0
    for row in source.rows(columns):
        writer.writerow(row)
        rows += 1
    text.detach()
    return rows
