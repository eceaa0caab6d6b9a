from __future__ import annotations

import os
import pty
import signal
import sys
import threading
from pathlib import Path

import pytest

from iostrata.record.command import (
    CommandEnd,
    NotStartedError,
    Signals,
    check_startable,
    run_command,
)


def run(*command: str) -> CommandEnd:
    with Signals() as signals:
        return run_command(list(command), dict(os.environ), signals, lambda: None)


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137)]
)
def test_exit_codes_are_passed_on(script: str, code: int) -> None:
    assert run("sh", "-c", script) == CommandEnd(code)


def test_a_command_that_is_not_there() -> None:
    assert run("no-such-command") == CommandEnd(127, error="no-such-command: not found")


def test_what_cannot_be_started_is_known_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = {"PATH": f"/nowhere:{tmp_path}"}
    check_startable(["sh"], {"PATH": os.environ["PATH"]})
    for word, code in (("no-such-command", 127), ("file", 126), (str(tmp_path), 126)):
        with pytest.raises(NotStartedError) as caught:
            check_startable([word], path)
        assert caught.value.exit_code == code, word


@pytest.mark.parametrize(("code", "interrupted"), [(130, True), (143, True), (137, False)])
def test_a_code_may_say_that_it_was_interrupted(code: int, interrupted: bool) -> None:
    """A JVM ends with 130 when the terminal sends it the Ctrl-C that its recorder never sees."""
    assert run("sh", "-c", f"exit {code}") == CommandEnd(code, interrupted)


def test_a_command_that_may_not_be_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file")
    assert run(path) == CommandEnd(126, error=f"{path}: Permission denied")


PARENT = """
import signal, subprocess, sys
child = subprocess.Popen(["sh", "-c", sys.argv[1]])
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda *_: None)
child.wait(20)
sys.exit(3)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_go_to_the_whole_group(number: signal.Signals, tmp_path: Path) -> None:
    # GIVEN a command whose child notes that it is ready, and the signal
    noted, ready = tmp_path / "noted", tmp_path / "ready"
    child = f"trap 'echo got > {noted}; exit' INT TERM HUP; > {ready}; "
    child += "while :; do sleep 0.02; done"
    parent = PARENT.replace("child.wait", f"open('{ready}2', 'w'); child.wait")
    sent: list[int] = []

    def when_ready() -> None:
        if not sent and ready.exists() and Path(f"{ready}2").exists():
            sent.append(number)
            os.kill(os.getpid(), number)

    # WHEN
    with Signals() as signals:
        command = [sys.executable, "-c", parent, child]
        ended = run_command(command, dict(os.environ), signals, when_ready)
    # THEN the command's own exit code counts, and the run is marked
    assert (ended.code, ended.interrupted) == (3, True)
    assert noted.read_text() == "got\n"


def test_a_command_that_a_signal_ended() -> None:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    assert run("sleep", "60") == CommandEnd(130, interrupted=True)


def test_handlers_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    run("true")
    assert signal.getsignal(signal.SIGINT) is before


ON_A_TERMINAL = """
import os, sys
from iostrata.record.command import Signals, run_command
with Signals() as signals:
    ended = run_command(sys.argv[1:], dict(os.environ), signals, lambda: None)
print("ended", ended.code, ended.interrupted, os.tcgetpgrp(0) == os.getpgrp(), flush=True)
"""


# The terminal is the command's: what is typed from here on goes to it.
BEGUN = """
import os, time
while os.tcgetpgrp(0) != os.getpgrp():
    time.sleep(0.01)
print("begun", flush=True)
"""


def on_a_terminal(keys: bytes, program: str) -> str:
    """What a terminal shows when `keys` are typed once a program in Python has begun."""
    pid, terminal = pty.fork()
    if pid == 0:
        command = [sys.executable, "-c", BEGUN + program]
        os.execv(sys.executable, [sys.executable, "-c", ON_A_TERMINAL, *command])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 1024)
        except OSError:  # EIO: the other end is closed
            break
        if b"begun" in shown + part and b"begun" not in shown:
            os.write(terminal, keys)
        shown += part
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode()


def test_the_command_reads_the_terminal() -> None:
    shown = on_a_terminal(b"hello\n", "print('read', input())")
    assert "read hello" in shown
    assert "ended 0 False True" in shown


def test_control_c_reaches_the_command_and_not_us() -> None:
    shown = on_a_terminal(b"\x03", "os.execvp('sleep', ['sleep', '60'])")
    assert "ended 130 True True" in shown
