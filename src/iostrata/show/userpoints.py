"""What became of the points that the recorder of a run brought."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from iostrata.schema.events import FIRST_USER_POINT
from iostrata.store.opened import OpenedRun


@dataclass(frozen=True)
class UserPoint:
    """`method` is class#method and descriptor; `states` are of the processes that took it up."""

    layer: str
    op: str
    method: str
    calls: int
    states: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "states": list(self.states)}

    @property
    def trouble(self) -> str:
        """Why it was never called, empty when it was and is well."""
        if "faulted" in self.states:
            return "switched off by a fault"
        if self.calls:
            return ""
        if "woven" in self.states:
            return "never called"
        if "missing" in self.states:
            return "its class has no such method, or not of these types"
        return "no traced process loaded its class" if self.states else "no process took it up"


def user_points(opened: OpenedRun) -> list[UserPoint]:
    """The points of the run's own files, in their order."""
    states: dict[str, set[str]] = {}
    names: dict[tuple[int, int], str] = {}
    query = "SELECT proc, user_points FROM processes WHERE user_points IS NOT NULL"
    for row in opened.rows(query):
        for entry in row["user_points"].split(","):
            number, state, name = entry.split(" ", 2)
            states.setdefault(name, set()).add(state)
            names[row["proc"], int(number)] = name
    calls: dict[str, int] = {}
    counted = opened.rows(
        f'SELECT proc, point, sum("count")::BIGINT AS n FROM sums '
        f"WHERE point >= {FIRST_USER_POINT} GROUP BY proc, point"
    )
    for row in counted:
        name = names.get((row["proc"], row["point"]), "")
        calls[name] = calls.get(name, 0) + row["n"]
    return [
        UserPoint(
            point["layer"],
            point["op"],
            point["method"],
            calls.get(point["method"], 0),
            tuple(sorted(states.get(point["method"], ()))),
        )
        for point in opened.run.points
    ]
