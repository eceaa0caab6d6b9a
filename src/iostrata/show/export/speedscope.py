"""speedscope's JSON: flame graphs of everything, of each task attempt, and time lines of threads.

Frames are layer and operation, so that flames merge; times are ns of the run. The merged profiles
weigh stacks by self time: they add up to the time of all outermost calls. Format:
https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO

from iostrata.show.export.nesting import Edge, threads
from iostrata.show.export.source import Call, Source

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_IN_MEMORY = 1 << 20
Stack = tuple[int, ...]


def write(source: Source, out: BinaryIO) -> int:
    """Writes the file; how many frames were opened in its time lines."""
    frames: dict[tuple[str, str], int] = {}
    everything: Counter[Stack] = Counter()
    attempts: dict[str, Counter[Stack]] = {}
    opened = profiles = 0
    out.write(f'{{"$schema":"{_SCHEMA}","name":{_json(source.run.name)},'.encode())
    out.write(b'"exporter":"iostrata","profiles":[\n')
    for edges in threads(source, causes=False):
        thread = _FrameThread(source.start, frames, everything, attempts)
        for edge in edges:
            thread.add(edge)
            opened += edge.opens
        profiles += thread.write(out, first=profiles == 0)
    merged = [("all threads, merged", everything)]
    merged += [(f"{task}, merged", stacks) for task, stacks in sorted(attempts.items())]
    for name, stacks in merged:
        out.write(b",\n" if profiles else b"")
        out.write(_json(_merged(name, stacks)).encode())
        profiles += 1
    shown = profiles - len(merged)
    named = [{"name": name, "file": layer} for layer, name in frames]
    out.write(f'],\n"activeProfileIndex":{shown},"shared":{{"frames":{_json(named)}}}}}\n'.encode())
    return opened


@dataclass
class _FrameThread:
    """The time lines of one thread, one a lane, and what it adds to the merged profiles."""

    start: int
    frames: dict[tuple[str, str], int]
    everything: Counter[Stack]
    attempts: dict[str, Counter[Stack]]
    lanes: list[_Lane] = field(default_factory=list)

    def add(self, edge: Edge) -> None:
        """Opens or closes a frame."""
        call = edge.call
        at = edge.at - self.start
        if edge.lane == len(self.lanes):
            self.lanes.append(_Lane(call, at))
        lane = self.lanes[edge.lane]
        if edge.opens:
            frame = self.frames.setdefault((call.layer, call.name), len(self.frames))
            lane.open(frame, at)
            return
        if call.task:
            lane.tasks.add(call.task)
        stack, alone = lane.close(at, call.dur)
        self.everything[stack] += alone
        if call.task:
            self.attempts.setdefault(call.task, Counter())[stack] += alone

    def write(self, out: BinaryIO, first: bool) -> int:
        """Writes the lanes; how many there are."""
        for number, lane in enumerate(self.lanes):
            out.write(b"" if first and number == 0 else b",\n")
            lane.write(out, number)
        return len(self.lanes)


class _Lane:
    """Calls of a thread that nest; their events wait in a file until the thread has ended."""

    def __init__(self, call: Call, start: int) -> None:
        self._call = call
        self._start = self._end = start
        self._events: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._stack: Stack = ()
        self._within: list[int] = []
        self._separator = ""
        self.tasks: set[str] = set()

    def open(self, frame: int, at: int) -> None:
        self._stack += (frame,)
        self._within.append(0)
        self._event("O", frame, at)

    def close(self, at: int, dur: int) -> tuple[Stack, int]:
        """The stack of the call that ends, and its time without that of calls within, in ns."""
        stack = self._stack
        self._stack = stack[:-1]
        alone = dur - self._within.pop()
        if self._within:
            self._within[-1] += dur
        self._event("C", stack[-1], at)
        return stack, alone

    def _event(self, kind: str, frame: int, at: int) -> None:
        text = f'{self._separator}{{"type":"{kind}","frame":{frame},"at":{at}}}'
        self._events.write(text.encode())
        self._separator, self._end = ",", at

    def write(self, out: BinaryIO, number: int) -> None:
        """Writes its profile."""
        call = self._call
        task = min(self.tasks) if len(self.tasks) == 1 else ""
        place = f"{call.role or 'process'} {call.pid} on {call.host}".removesuffix(" on ")
        thread = f"{call.thread} ({number + 1})" if number else call.thread
        name = " · ".join(part for part in (task, place, thread) if part)
        bounds = f'"startValue":{self._start},"endValue":{self._end}'
        out.write(f'{{"type":"evented","name":{_json(name)},"unit":"nanoseconds",'.encode())
        out.write(f'{bounds},"events":['.encode())
        self._events.seek(0)
        copyfileobj(self._events, out)
        self._events.close()
        out.write(b"]}")


def _merged(name: str, stacks: Counter[Stack]) -> dict[str, Any]:
    """A sampled profile: a sample per stack, its weight the self time in ns."""
    weighed = sorted(stacks.items())
    return {
        "type": "sampled",
        "name": name,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(stacks.values()),
        "samples": [list(stack) for stack, _ in weighed],
        "weights": [weight for _, weight in weighed],
    }


def _json(value: Any) -> str:
    """Plain ASCII: whatever a name holds is escaped."""
    return json.dumps(value, separators=(",", ":"))
