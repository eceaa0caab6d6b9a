#!/usr/bin/env python3
"""Writes the JSON schemas of what commands print with --json, from the types of their answers.

    scripts/json_schema.py          write docs/reference/json/NAME.schema.json
    scripts/json_schema.py --check  exit 1 and name each file that is out of date

The page of the report takes its types from them: `npm run generate` in report/.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from iostrata.analyse.calltree.bottlenecks import Bottlenecks
from iostrata.analyse.calltree.trees import CallNode
from iostrata.explain.verdict import Explanation
from iostrata.show.report.model import ReportDocument

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference/json"
# One a command, or a page.
TYPES: dict[str, Any] = {
    "bottlenecks": Bottlenecks,
    "calltree": list[CallNode],
    "findings": Explanation,
    "report": ReportDocument,
}


def schema(kind: Any) -> str:
    """The JSON schema of a type, as text."""
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | msgspec.json.schema(kind)
    return json.dumps(made, indent=2) + "\n"


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
