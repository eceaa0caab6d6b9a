"""The page: the bundled HTML with a document inside. Text from a run can only ever be data."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from pathlib import Path
from typing import Any

import msgspec

from iostrata.errors import UserError
from iostrata.records import builtins
from iostrata.show.report.model import VERSION, ReportDocument
from iostrata.text import printable

BUNDLE = Path(__file__).resolve().parent.parent / "_report"  # made by `make build`
EXAMPLE = Path(__file__).resolve().parent.parent / "example/wordcount.json.gz"


def page(document: ReportDocument) -> str:
    """One HTML file, ASCII where the run is concerned; raises UserError without the bundle."""
    return page_of(document, "report.js", document.run.name)


def page_of(document: Any, script_name: str, title: str) -> str:
    """The page of a document that a bundled script draws; as `page`."""
    frame, script = _bundled("page.html"), _bundled(script_name)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # No other script runs and nothing is loaded, whatever a name in the document holds.
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    fill = {
        "@POLICY@": html.escape(policy),
        "@TITLE@": html.escape(printable(f"{title} · iostrata")),
        "@SCRIPT@": script,
        "@DOCUMENT@": encoded(document),
    }
    made = frame
    for mark, text in fill.items():  # the document is last: what it holds is not looked at again
        before, found, after = made.partition(mark)
        if not found:
            raise UserError(f"{BUNDLE}/page.html has no {mark}", "build it again: make build")
        made = before + text + after
    return made


def encoded(document: Any) -> str:
    """The text that stands in the page: JSON in ASCII that no markup can end or enter."""
    text = json.dumps(builtins(document), separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def example() -> ReportDocument:
    """The document of the recorded TeraSort that ships with iostrata."""
    try:
        recorded = json.loads(gzip.decompress(EXAMPLE.read_bytes()))
    except OSError as error:
        raise UserError(f"{EXAMPLE} cannot be read: {error.strerror}", "install again") from error
    if recorded["version"] != VERSION:
        raise UserError(
            f"{EXAMPLE.name} has version {recorded['version']}, not {VERSION}",
            "record it again: scripts/record-example",
        )
    return msgspec.convert(recorded, ReportDocument)


def _bundled(name: str) -> str:
    try:
        return (BUNDLE / name).read_text("utf-8")
    except FileNotFoundError as error:
        raise UserError(f"the report's {name} is not there", "build it: make build") from error
