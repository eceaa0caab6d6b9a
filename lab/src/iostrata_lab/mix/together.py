"""Programs at the same time, those that end earlier again and again until all have ended once."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from iostrata.records import Record
from iostrata_lab.workload.cluster import end

_POLL = 0.02
PART = "IOSTRATA_PART"  # variable by which a trace tells processes apart
AGAIN = " again"  # behind the name of a part: of all repetitions but the first


class Repetition(Record, frozen=True):
    """One time that a program ran: s since the trial began, and its exit code; it `was_ended` by
    us since another one failed, or somebody asked for it.
    """

    begin: float
    end: float
    code: int
    was_ended: bool = False

    @property
    def seconds(self) -> float:
        return self.end - self.begin


@dataclass
class Side:
    """A program, and each time that it ran. `own` says the variables of a repetition.

    The first repetition is what is measured: others may find in a cache what it had to fetch, and
    only keep the program running.
    """

    name: str
    command: str  # of a shell
    log: Path
    own: Callable[[int], Mapping[str, str]] = lambda _: {}
    repetitions: list[Repetition] = field(default_factory=list)


class Together:
    """Runs sides until each has run to its first end; those that end earlier start again, and
    the last repetition of each goes on to its end, for what it has started elsewhere would, too.
    """

    def __init__(self, sides: list[Side], environment: Mapping[str, str]) -> None:
        self.sides, self._environment = sides, dict(environment)
        self._begun = time.monotonic()
        self._first: set[str] = set()  # who has come to its first end
        self._is_over = threading.Event()  # all have
        self._ends = threading.Event()  # one failed, or somebody asked for it
        self._lock = threading.Lock()
        self._failures: list[Exception] = []  # of our own, of threads

    def run(self, tick: Callable[[], bool]) -> float:
        """Its s. `tick` is called now and then: once it says false, all are ended.

        Raises what a repetition could not be started for, after all have ended.
        """
        threads = [threading.Thread(target=self._repeat, args=(side,)) for side in self.sides]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                if not tick():
                    self._ends.set()
                time.sleep(_POLL)
        finally:
            self._ends.set()
            for thread in threads:
                thread.join()
        for failure in self._failures:
            raise failure
        return time.monotonic() - self._begun

    def _repeat(self, side: Side) -> None:
        try:
            self._repeated(side)
        except Exception as error:  # or the others would go on for ever
            self._failures.append(error)
            self._ends.set()

    def _repeated(self, side: Side) -> None:
        number = 0
        while not (self._is_over.is_set() or self._ends.is_set()):
            one = self._once(side, number)
            number += 1
            with self._lock:
                side.repetitions.append(one)
                self._first.add(side.name)
                if len(self._first) == len(self.sides):
                    self._is_over.set()
                if one.code:
                    self._ends.set()

    def _once(self, side: Side, number: int) -> Repetition:
        begin = time.monotonic() - self._begun
        with side.log.open("ab") as log:
            running = subprocess.Popen(
                ["sh", "-c", side.command],
                env={
                    **self._environment,
                    **side.own(number),
                    PART: side.name + (AGAIN if number else ""),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            was_ended = self._wait(running)
        end = time.monotonic() - self._begun
        return Repetition(begin, end, running.returncode, was_ended)

    def _wait(self, running: subprocess.Popen[bytes]) -> bool:
        """Whether it was ended."""
        while running.poll() is None:
            if self._ends.wait(_POLL):
                return end(running)
        return False
