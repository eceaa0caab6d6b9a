"""DataNodes that left write pipelines, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.pipelines import LostDataNode, blocks_of, departure
from iostrata.text import count, plural, printable, seconds

MOST = 3


def lost_lines(lost: Sequence[LostDataNode], begin: int) -> list[str]:
    """A line for each of the first MOST, in a run that began at `begin`.

    `DataNode 10.0.0.3:9866 on node3 died at 12.30 s; the write pipeline recovered in 0.8 ms
    (1 block, /a)`, then how many more there are.
    """
    lines = [f"{departure(one, begin)}{_outcome(one)} ({blocks_of(one)})" for one in lost[:MOST]]
    more = len(lost) - MOST
    if more > 0:
        lines.append(f"and {count(more)} more that left write pipelines (--json lists all)")
    return [printable(line) for line in lines]


def _outcome(lost: LostDataNode) -> str:
    """What is known of it: of a pipeline that neither recovered nor failed nothing is."""
    parts = [_recovered(lost)] if lost.recovered else []
    if lost.failed:
        alone = lost.pipelines == 1
        parts.append("the write failed" if alone else f"{plural(lost.failed, 'write')} failed")
    return f"; {', '.join(parts)}" if parts else ""


def _recovered(lost: LostDataNode) -> str:
    took = seconds(lost.recovery or 0)
    if lost.pipelines == 1:
        return f"the write pipeline recovered in {took}"
    number = "all" if lost.recovered == lost.pipelines else f"{lost.recovered}"
    return f"{number} of {lost.pipelines} write pipelines recovered, within {took} each"
