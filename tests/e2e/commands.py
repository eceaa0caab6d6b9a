"""The command line, as a process of its own; what only reads a store runs in this one.

That a process starts and ends as it should is tested by all that records. Reading in this process
saves the second that imports and the first compilation of each expression take.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from iostrata.cli.tests.here import here

READING = (
    *("summary", "query", "findings", "points", "export", "bottlenecks", "patterns", "calltree"),
    *("runs", "what-if"),
)


def run(
    arguments: tuple[str, ...], environment: Mapping[str, str], folder: Path, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Runs a command of iostrata in a folder; never raises because of its exit code."""
    if arguments[0] in READING:
        return _here(arguments, environment, folder)
    return subprocess.run(
        [sys.executable, "-m", "iostrata", *arguments],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def record(
    store: Path, *words: str, within: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Records the run `r`: `words` are options, `--` and a command; `within` come before all."""
    done = subprocess.run(
        [*within, sys.executable, "-m", "iostrata", "record", "--run", "r", *words],
        env={**os.environ, "IOSTRATA_STORE": str(store)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    print(done.stderr)
    return done


def _here(
    arguments: tuple[str, ...], environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    before = dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        try:
            return here(*arguments)
        finally:
            os.environ.clear()
            os.environ.update(before)
