"""Commands of a workload, and signals that come while one of them starts."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from iostrata_lab.workload.cluster import ClusterClient


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[str]]]:
    """Commands that were started; SIGINT comes when one has begun, and its start has not ended."""
    begun: list[subprocess.Popen[str]] = []

    class Interrupted(subprocess.Popen[str]):
        def __init__(self, *words: Any, **how: Any) -> None:
            super().__init__(*words, **how)
            begun.append(self)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield begun
    signal.signal(signal.SIGINT, before)


def test_a_command_whose_start_is_interrupted_does_not_go_on(
    started: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    client = ClusterClient(dict(os.environ))
    with pytest.raises(KeyboardInterrupt):
        client.run(["sleep", "600"])
    (sleep,) = started
    assert sleep.poll() == -signal.SIGTERM
