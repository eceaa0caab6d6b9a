"""A document as the text that stands in the page: JSON that can only ever be data."""

from __future__ import annotations

import json
from typing import Any

from iostrata.records import builtins


def encoded(document: Any) -> str:
    """JSON in ASCII that no markup can end or enter."""
    text = json.dumps(builtins(document), separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
