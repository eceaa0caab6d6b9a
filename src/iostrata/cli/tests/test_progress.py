"""Progress of real commands on a real terminal, and Ctrl-C in the middle of them."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench.large.generate import generate

from iostrata.analyse.summary import SUMMARY_STEPS
from iostrata.explain.rank import RULE_STEPS
from iostrata.show.report.document import STEPS

_ENDLESS = "SELECT count(*) FROM range(1_000_000_000_000) a, range(1_000_000_000_000) b"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("made")
    generate(found, "r", 100_000)
    return found


class Terminal:
    """A command whose standard error is a terminal of 100 columns."""

    def __init__(self, store: Path, *arguments: str) -> None:
        self._read, terminal = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "TMPDIR": str(store)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "iostrata", *arguments, "--store", str(store)],
            stdout=subprocess.DEVNULL,
            stderr=terminal,
            env=environment,
        )
        os.close(terminal)
        self.text = ""

    def until(self, text: str) -> None:
        """Reads until the text came."""
        while text not in self.text:
            assert self._more(), self.text

    def end(self) -> int:
        """Reads the rest; the exit code."""
        while self._more():
            pass
        os.close(self._read)
        return self.process.wait()

    def _more(self) -> bool:
        try:
            read = os.read(self._read, 65536).decode()
        except OSError:  # nobody has the terminal open any more
            read = ""
        self.text += read
        return bool(read)

    def steps(self) -> list[str]:
        """`name (1/5)` of each step that was shown, in order."""
        return list(dict.fromkeys(re.findall(r"([a-z][a-z -]*[a-z] \(\d+/\d+\))", self.text)))


def leftovers(store: Path) -> list[str]:
    return sorted(path.name for path in store.iterdir() if path.name != "r")


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        (("summary", "r"), (*SUMMARY_STEPS, *RULE_STEPS)),
        (("summary", "r", "--json"), SUMMARY_STEPS),
        (("findings", "r"), ("sums", *RULE_STEPS)),
        (("report", "r", "--json"), STEPS),
        (("calltree", "r"), ("call tree",)),
    ],
)
def test_each_step_is_shown(
    store: Path, arguments: tuple[str, ...], steps: tuple[str, ...]
) -> None:
    terminal = Terminal(store, *arguments)
    assert terminal.end() == 0
    assert terminal.steps() == [f"{name} ({n}/{len(steps)})" for n, name in enumerate(steps, 1)]


def test_quiet_is_quiet(store: Path) -> None:
    terminal = Terminal(store, "summary", "r", "--quiet")
    assert (terminal.end(), terminal.text) == (0, "")


def test_what_is_no_terminal_has_no_progress(store: Path) -> None:
    command = [sys.executable, "-m", "iostrata", "summary", "r", "--store", str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_ctrl_c_leaves_nothing_half_written(store: Path, tmp_path: Path) -> None:
    # GIVEN a report that reads the run
    page = tmp_path / "page.html"
    terminal = Terminal(store, "report", "r", "-o", str(page))
    terminal.until("sums (1/")
    # WHEN
    terminal.process.send_signal(signal.SIGINT)
    # THEN
    assert terminal.end() == 130
    assert "Traceback" not in terminal.text
    assert list(tmp_path.iterdir()) == []
    assert leftovers(store) == []


def test_ctrl_c_ends_a_query_that_would_not_end(store: Path) -> None:
    # GIVEN a query that a thread of DuckDB works on
    terminal = Terminal(store, "query", _ENDLESS, "--run", "r")
    while _cpu(terminal.process.pid) < 4:
        time.sleep(0.05)
    # WHEN
    terminal.process.send_signal(signal.SIGINT)
    # THEN
    assert (terminal.end(), terminal.text) == (130, "")
    assert leftovers(store) == []


def test_ctrl_c_ends_call_trees_too(store: Path) -> None:
    # GIVEN trees that another process makes
    terminal = Terminal(store, "calltree", "r")
    terminal.until("call tree (1/1)")
    # WHEN
    terminal.process.send_signal(signal.SIGINT)
    # THEN nobody has the terminal any more, and nothing stays
    assert terminal.end() == 130
    assert leftovers(store) == []


def _cpu(pid: int) -> float:
    """Seconds that a process took so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
