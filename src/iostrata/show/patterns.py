"""Access patterns of streams of requests, as text."""

from __future__ import annotations

from iostrata.analyse.patterns import LEAST, AccessPatterns, Pattern
from iostrata.analyse.ranks import ROLE
from iostrata.show.tables import WIDTH, Column, named, number, table
from iostrata.text import count, percent, plural, printable, shortened, size

_INDENT = "    "


def pattern_lines(found: AccessPatterns, width: int = WIDTH) -> list[str]:
    """Two lines of at most `width` characters for each stream: its pattern, and whose it is."""
    if not found.streams:
        return [
            f"no file has {LEAST} requests of one process that were recorded individually, with "
            "their places"
        ]
    columns = [
        named("pattern"),
        named("layer"),
        number("requests", count),
        Column("sequential", lambda row: percent(row.sequential / (row.requests - 1)), number=True),
        number("of", size, "size"),
        number("bytes", size),
    ]
    title, *rows = table(found.streams, columns)
    hosts = len({stream.host for stream in found.streams}) > 1
    lines = [title]
    for row, stream in zip(rows, found.streams, strict=True):
        lines += [shortened(row, width), _whose(stream, hosts, width)]
    if found.more:
        lines.append(f"({plural(found.more, 'stream')} more)")
    return [*lines, *_only_summed(found)]


def _whose(stream: Pattern, hosts: bool, width: int) -> str:
    """What was read or written, by whom, and its strides; the name gives way to the rest."""
    target = f"blk_{stream.block}" if stream.block else printable(stream.target) or "unknown"
    by = f" by {stream.role or 'process'} {stream.pid}"
    if stream.role == ROLE or stream.pid is None:  # ranks of a log of Darshan have no pid
        by = f" by {stream.task or stream.role or 'a process'}"
    by += f" on {stream.host}" if hosts and stream.host else ""
    tail = printable(by) + _strides(stream)
    room = max(12, width - len(_INDENT) - len(stream.direction) - 1 - len(tail))
    return shortened(f"{_INDENT}{stream.direction} {shortened(target, room)}{tail}", width)


def _strides(stream: Pattern) -> str:
    """Only those that the name of the pattern speaks of."""
    most = {"fixed strided": 1, "2-d strided": 2, "3-d strided": 3}.get(stream.pattern, 0)
    found = [stream.stride, stream.stride_2, stream.stride_3][:most]
    known = [size(stride) for stride in found if stride is not None]
    return f", {'stride' if len(known) == 1 else 'strides'} {', '.join(known)}" if known else ""


def _only_summed(found: AccessPatterns) -> list[str]:
    if not found.only_summed:
        return []
    each = ", ".join(f"{row.layer} {count(row.calls)}" for row in found.only_summed)
    return [f"calls of these layers that are in totals only, and in no stream: {each}"]
