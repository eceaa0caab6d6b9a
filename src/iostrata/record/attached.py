"""A recording of JVMs that run already: from the moment the agent comes until they end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from iostrata.errors import UserError
from iostrata.processes import alive, start_ticks
from iostrata.record.attach import AgentChange, attach, detach
from iostrata.record.collector import Collector
from iostrata.record.command import POLL, CommandEnd, Signals


@dataclass
class AttachedJvms:
    """What is recorded in place of a command, see session.RecordRequest.

    It lasts until all JVMs have ended, a signal came, or `seconds` have passed (None: for ever),
    and leaves JVMs that still run without the agent. `say` hears what became of each.
    """

    pids: Sequence[int]
    run: str
    seconds: float | None
    say: Callable[[AgentChange], None]
    _attached: dict[int, int] = field(default_factory=dict)  # pid and its start

    def __call__(
        self,
        collector: Collector,
        _environment: Mapping[str, str],
        signals: Signals,
        tick: Callable[[], None] | None,
    ) -> CommandEnd:
        """Exit code 2 where the agent came into none of them."""
        try:
            for pid in self.pids:
                self._attach(pid, collector)
            self._wait(signals, tick)
        finally:
            for pid, start in self._attached.items():
                if alive(pid, start):
                    with suppress(UserError):
                        detach(pid)
        return CommandEnd(0) if self._attached else CommandEnd(2, error="no JVM was attached to")

    def _attach(self, pid: int, collector: Collector) -> None:
        start = start_ticks(pid)
        try:
            self.say(attach(pid, collector, self.run))
        except UserError as error:
            self.say(AgentChange(pid, error=error.message, remedy=error.remedy))
            return
        if start is not None:
            self._attached[pid] = start

    def _wait(self, signals: Signals, tick: Callable[[], None] | None) -> None:
        end = None if self.seconds is None else time.monotonic() + self.seconds
        while any(alive(pid, start) for pid, start in self._attached.items()):
            if signals.received or (end is not None and time.monotonic() >= end):
                return
            if tick:
                tick()
            time.sleep(POLL)
