"""What `--json` of `level` and `points` prints: answers that no analysis gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from iostrata.records import Count, Record
from iostrata.schema.pointfile import USER_FIELDS
from iostrata.schema.verified import point_key, verified_points

if TYPE_CHECKING:
    from iostrata.analyse.point_calls import UserPoint
    from iostrata.record.classpath import PointState
    from iostrata.schema.points import Point


class RunDetail(Record, frozen=True):
    """How much detail a run records; `budget` is millionths of CPU time, 0 none.

    `sampling` is the share of requests, as `1/100`; `behind` counts processes that have not
    answered yet.
    """

    run: str
    level: str
    budget: int
    sampling: str
    behind: Count


class ListedPoint(
    Record, frozen=True, kw_only=True, omit_defaults=True, rename={"class_name": "class"}
):
    """A traced method; what is not known of it is left out.

    `id` is of our own points, not of a user's. `verified_by` are the end-to-end tests that fire it.
    `calls` and `states` (of a user's point, by process) are of the run that was asked for; `state`
    and `source` are of the class path.
    """

    id: int | None = None
    layer: str
    op: str
    class_name: str
    method: str
    desc: str
    mode: str = ""
    begin: str = ""
    bytes: str = ""
    asked: str = ""
    offset: str = ""
    target: str = ""
    since: str = ""
    until: str = ""
    fields: tuple[str, ...] = ()
    unverified: str = ""
    verified_by: list[str] = []  # noqa: RUF012
    calls: Count | None = None
    states: list[str] = []  # noqa: RUF012
    state: str = ""
    source: str = ""


def listed(point: Point, calls: int | None = None, state: PointState | None = None) -> ListedPoint:
    """A point of our own."""
    own = point._asdict()
    return ListedPoint(
        **{name: own[name] for name in ListedPoint.__struct_fields__ if name in own},
        class_name=point.cls,
        verified_by=verified_points().get(point_key(point), []),
        calls=calls,
        state=state.state if state else "",
        source=state.source if state else "",
    )


def listed_of_user(point: UserPoint) -> ListedPoint:
    """A point of a file that a run was recorded with."""
    class_name, _, rest = point.method.partition("#")
    method, _, desc = rest.partition("(")
    return ListedPoint(
        layer=point.layer,
        op=point.op,
        class_name=class_name,
        method=method,
        desc=f"({desc}",
        calls=point.calls,
        states=point.states,
    )


def listed_row(row: Mapping[str, str]) -> ListedPoint:
    """A point of a file that is looked at: a row of `schema.pointfile`."""
    return msgspec.convert({name: row[name] for name in USER_FIELDS}, ListedPoint)
