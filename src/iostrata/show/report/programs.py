"""Programs that ran at the same time, on the page: what each did with files, and when."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.axis import Axis
from iostrata.analyse.parts import SHARED, PartBin, PartFiles
from iostrata.records import builtins
from iostrata.show.report.model import Bounded, PartActivity, Programs, ServerActivity
from iostrata.show.report.moved import moved_by


def programs(known: Sequence[PartFiles], bins: Sequence[PartBin], axis: Axis) -> Programs | None:
    """None where nothing tells programs apart."""
    if not known:
        return None
    own = moved_by(((row.part, row.bin, row.read + row.written) for row in bins), axis)
    shared = [row for row in bins if row.part == SHARED]
    by_host = moved_by(((row.host, row.bin, row.read + row.written) for row in shared), axis)
    parts = [PartActivity(**builtins(part), moved=own.get(part.part, [])) for part in known]
    servers = [ServerActivity(host, moved) for host, moved in sorted(by_host.items())]
    return Programs(Bounded(parts, 0), Bounded(servers, 0))
