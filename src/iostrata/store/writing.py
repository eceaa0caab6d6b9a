"""run.json as recorders and importers write it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write_facts(run_dir: Path, facts: dict[str, Any]) -> None:
    """Writes run.json whole or not at all."""
    draft = run_dir / "run.json.tmp"
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(json.dumps(facts, indent=2) + "\n")
    draft.rename(run_dir / "run.json")
