#!/usr/bin/env python3
"""Writes the JSON schemas of what commands print with --json, from the types of their answers.

    scripts/json_schema.py          write docs/reference/json/NAME.schema.json
    scripts/json_schema.py --check  exit 1 and name each file that is out of date

The pages take their types from them: `npm run generate` in report/.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from iostrata.analyse.calltree.bottlenecks import Bottlenecks
from iostrata.analyse.calltree.trees import CallNode
from iostrata.analyse.comparison import Comparison
from iostrata.analyse.live import LiveView
from iostrata.analyse.patterns import AccessPatterns
from iostrata.analyse.summary import Summary
from iostrata.cli.answers import ListedPoint, RunDetail
from iostrata.explain.verdict import Explanation
from iostrata.record.attach import AgentChange
from iostrata.record.checks import Check
from iostrata.record.weaving import WovenCache
from iostrata.records import Record
from iostrata.show.report.model import ReportDocument
from iostrata.store.runs import Run
from iostrata_lab.mix.result import MixDocument

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference/json"
# One a command, or a page.
TYPES: dict[str, Any] = {
    "attach": list[AgentChange],
    "bottlenecks": Bottlenecks,
    "calltree": list[CallNode],
    "compare": Comparison,
    "doctor": list[Check],
    "detach": list[AgentChange],
    "findings": Explanation,
    "level": RunDetail,
    "mix": MixDocument,
    "patterns": AccessPatterns,
    "points": list[ListedPoint],
    "report": ReportDocument,
    "runs": list[Run],
    "summary": Summary,
    "top": LiveView,
    "weave": WovenCache,
}


def schema(kind: Any) -> str:
    """The JSON schema of what a type is printed as, as text."""
    (made,), types = msgspec.json.schema_components(
        [kind], schema_hook=_described, ref_template="#/$defs/{name}"
    )
    whole = {record.__name__ for record in _records(Record) if not _omits(record)}
    for name, described in types.items():
        described["description"] = inspect.cleandoc(described.get("description", ""))
        if name in whole:  # fields with defaults are printed, too
            described["required"] = list(described["properties"])
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**draft, **made, "$defs": types}, indent=2) + "\n"


def _described(kind: type) -> dict[str, str]:
    """The schema of a type that JSON has none of: `records.builtins` makes texts of paths."""
    if kind is Path:
        return {"type": "string"}
    raise NotImplementedError(kind)


def _records(kind: type[Record]) -> Iterator[type[Record]]:
    for record in kind.__subclasses__():
        yield record
        yield from _records(record)


def _omits(record: type[Record]) -> bool:
    return record.__struct_config__.omit_defaults


def main() -> None:
    wanted = {FOLDER / f"{name}.schema.json": schema(kind) for name, kind in TYPES.items()}
    there = {path: path.read_text("utf-8") for path in FOLDER.glob("*.schema.json")}
    if "--check" in sys.argv:
        names = [path.name for path in wanted | there if wanted.get(path) != there.get(path)]
        if names:
            sys.exit(f"out of date: {', '.join(sorted(names))}; run scripts/json_schema.py")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in there.keys() - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
