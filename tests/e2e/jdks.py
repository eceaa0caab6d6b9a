"""The JDKs that tests run programs on, by major version."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostrata.jdks import newest_of

JDKS = {
    version: newest_of(int(version)) or Path(f"/there is no JDK {version}")
    for version in ("17", "25")
}
# With the oldest that the agent runs on, where there is one: scripts/jdk8 gets it.
OLDEST = newest_of(8)
JDKS_AND_8 = {**JDKS, "8": OLDEST} if OLDEST else JDKS


def java_home(version: str) -> Path:
    """Of that version; without one the test is skipped, and says so."""
    home = JDKS_AND_8.get(version)
    if home is None or not home.is_dir():
        pytest.skip(f"no JDK {version} on this machine")
    return home
