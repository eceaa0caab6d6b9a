"""Running the recorded command as a shell would: its own process group, the terminal, signals."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Self

from iostrata.errors import UserError

NOT_FOUND = 127
NOT_EXECUTABLE = 126
POLL = 0.05


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended: `code` as a shell gives it, `interrupted` when a signal stopped it."""

    code: int
    interrupted: bool = False
    error: str = ""


class NotStartedError(UserError):
    """A command that cannot be started: what never ran is no run."""


def check_startable(command: list[str], environment: dict[str, str]) -> None:
    """Raises NotStartedError, with the exit code that a shell gives, for a command that is not
    there or may not be run.
    """
    word, path = command[0], environment.get("PATH")
    if shutil.which(word, path=path):
        return
    there = shutil.which(word, os.F_OK, path) or Path(word).is_dir()
    why, code = ("may not be run", NOT_EXECUTABLE) if there else ("not found", NOT_FOUND)
    raise NotStartedError(f"{word}: {why}", "nothing was recorded", code)


class Signals:
    """While it lasts, SIGINT, SIGTERM and SIGHUP are kept in `received` and go to `group`."""

    FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.received: list[int] = []
        self.group: int | None = None

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._take) for number in self.FORWARDED}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.received.append(number)
        self._forward(number)

    def _forward(self, number: int) -> None:
        if self.group is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.group, number)

    def send_to(self, group: int) -> None:
        """From now on to this process group, which also gets what came before it was there."""
        self.group = group
        for number in self.received:
            self._forward(number)


def run_command(
    command: list[str],
    environment: dict[str, str],
    signals: Signals,
    tick: Callable[[], None] | None,
) -> CommandEnd:
    """Runs the command to its end; calls `tick` about twenty times a second, if there is one."""
    try:
        # process_group: a Ctrl-C reaches the command once, and the collector never.
        child = subprocess.Popen(command, env=environment, process_group=0)
    except FileNotFoundError:
        return CommandEnd(NOT_FOUND, error=f"{command[0]}: not found")
    except OSError as error:
        return CommandEnd(NOT_EXECUTABLE, error=f"{command[0]}: {error.strerror}")
    signals.send_to(child.pid)
    terminal = _terminal()
    _hand_over(terminal, child.pid)
    try:
        status = _wait(child, terminal, tick)
    finally:
        _hand_over(terminal, os.getpgrp())
        signals.group = None
    child.returncode = status  # reaped here, so that Popen does not look for it again
    interrupted = bool(signals.received)
    code = 128 - status if status < 0 else status
    # a JVM or a shell that a signal ended, such as a Ctrl-C in its terminal, says so by its code
    return CommandEnd(code, interrupted or code - 128 in Signals.FORWARDED)


def _wait(
    child: subprocess.Popen[bytes], terminal: int | None, tick: Callable[[], None] | None
) -> int:
    """The exit code of the child, negative for a signal; follows it into a Ctrl-Z."""
    options = os.WUNTRACED | (os.WNOHANG if tick else 0)
    while True:
        pid, status = os.waitpid(child.pid, options)
        if pid == 0:
            if tick:
                tick()
            time.sleep(POLL)
        elif os.WIFSTOPPED(status):
            _follow_stop(child.pid, terminal, os.WSTOPSIG(status))
        else:
            return os.waitstatus_to_exitcode(status)


def _follow_stop(group: int, terminal: int | None, stop: int) -> None:
    # SIGTTIN: the child read the terminal before it was handed over, so it only needs to go on.
    if terminal is not None and stop not in (signal.SIGTTIN, signal.SIGTTOU):
        _hand_over(terminal, os.getpgrp())
        os.kill(os.getpid(), signal.SIGSTOP)
    if terminal is not None:
        _hand_over(terminal, group)
        os.killpg(group, signal.SIGCONT)
    else:
        time.sleep(POLL)


def _terminal() -> int | None:
    """The terminal's descriptor when we are in its foreground."""
    try:
        descriptor = sys.stdin.fileno()
        return descriptor if os.tcgetpgrp(descriptor) == os.getpgrp() else None
    except (OSError, ValueError):
        return None


def _hand_over(terminal: int | None, group: int) -> None:
    if terminal is None:
        return
    # A background process that sets the foreground group is stopped unless it ignores SIGTTOU.
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        os.tcsetpgrp(terminal, group)
    except OSError:
        pass  # the group is gone already
    finally:
        signal.signal(signal.SIGTTOU, before)
