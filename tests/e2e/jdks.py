"""The JDKs that tests run programs on, by major version."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostrata.jdks import newest_of

JDKS = {
    version: newest_of(int(version)) or Path(f"/there is no JDK {version}")
    for version in ("17", "25")
}


def java_home(version: str) -> Path:
    """Of that version; without one the test is skipped, and says so."""
    if not JDKS[version].is_dir():
        pytest.skip(f"no JDK {version} on this machine")
    return JDKS[version]
