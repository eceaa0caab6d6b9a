"""run.json as recorders and importers write it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from iostrata.text import storable


def write_facts(run_dir: Path, facts: dict[str, Any]) -> None:
    """Writes run.json whole or not at all, with text that any reader of JSON takes."""
    draft = run_dir / "run.json.tmp"
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(json.dumps(_storable(facts), indent=2) + "\n")
    draft.rename(run_dir / "run.json")


def _storable(value: Any) -> Any:
    """The same, in all that it holds."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): _storable(inner) for key, inner in value.items()}
    return [_storable(inner) for inner in value] if isinstance(value, list | tuple) else value
