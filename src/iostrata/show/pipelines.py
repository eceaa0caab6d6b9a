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
    """What is known of it: how a pipeline ended whose process was cut off is not."""
    if lost.pipelines == 1:
        known = (
            (lost.recovered, f"the write pipeline recovered in {seconds(lost.recovery or 0)}"),
            (lost.moved, "the block was begun anew on other DataNodes"),
            (lost.failed, "the write failed"),
        )
    else:
        blocks, writes = plural(lost.moved, "block"), plural(lost.failed, "write")
        known = (
            (lost.recovered, _recovered(lost)),
            (lost.moved, f"{blocks} begun anew on other DataNodes"),
            (lost.failed, f"{writes} failed"),
        )
    parts = [text for number, text in known if number]
    return f"; {', '.join(parts)}" if parts else ""


def _recovered(lost: LostDataNode) -> str:
    number = "all" if lost.recovered == lost.pipelines else f"{lost.recovered}"
    took = seconds(lost.recovery or 0)
    return f"{number} of {lost.pipelines} write pipelines recovered, within {took} each"
