"""Programs that make the load of a profile, and end with it however it ends."""

from __future__ import annotations

import ctypes
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from iostrata.errors import UserError

_PR_SET_PDEATHSIG = 1
_TIDIES = 15.0  # s, of a program that ends something on a cluster


def _die_with_parent() -> None:
    """In the child: a load that goes on would write into the folder that the next session deletes.

    The kernel sends the signal when the thread ends that has started it, which is our only one.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def run(
    words: Sequence[str], seconds: float, hangs: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end; `folder`: where it is to run.

    Raises UserError that says `hangs` where it takes more than `seconds`.
    """
    return finish(start(words, folder), seconds, hangs)


def start(words: Sequence[str], folder: Path | None = None) -> subprocess.Popen[str]:
    """Starts a program, which `finish` waits for."""
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=folder,
        preexec_fn=_die_with_parent,
    )


def finish(
    process: subprocess.Popen[str], seconds: float, hangs: str
) -> subprocess.CompletedProcess[str]:
    """What a program has said; it is ended where this is interrupted, or raises UserError."""
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise UserError(hangs, "is the storage well?") from None
    finally:
        stop(process)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def stop(process: subprocess.Popen[str]) -> None:
    """Ends a program that still runs, which may clean up first: what it has started on a cluster.
    What it had started here may hold its pipes open for long.
    """
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TIDIES)
        process.kill()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
        process.wait()


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Lines of what a program that failed has said, one at least."""
    return (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
