"""Where maps ran: on a node that has their input, on its rack, or elsewhere (S4.5)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from ibis.expr import types as ir

from iostrata.analyse.engine import Engine
from iostrata.analyse.tables import CALLS
from iostrata.records import Count, Record

ASKED = "fs.posix.locality"  # of java/jobs' posix://


class MapPlaces(Record, frozen=True):
    """Attempts of the maps of a job, as its ApplicationMaster placed them: on a node that has their
    input, on another node of such a rack, elsewhere; `anywhere` are those whose file system says
    of no node that it has the input.
    """

    job: str | None
    data_local: Count
    rack_local: Count
    remote: Count
    anywhere: Count


def placed_maps() -> ir.Table:
    """Per job a `MapPlaces`, by what the file system of the input said of its nodes."""
    rows = CALLS.filter(CALLS.layer == "task", CALLS["op"] == "place")
    rows = rows.mutate(near=rows.target.split("/")[0], attempt=rows.target.split("/")[1])
    rows = rows.filter(rows.attempt.contains("_m_"))
    return (
        rows.group_by("job")
        .agg(
            data_local=rows.attempt.nunique(where=rows.near == "data-local"),
            rack_local=rows.attempt.nunique(where=rows.near == "rack-local"),
            remote=rows.attempt.nunique(where=rows.near == "remote"),
            anywhere=rows.attempt.nunique(where=rows.near == "anywhere"),
        )
        .order_by("job")
    )


def map_places(engine: Engine, settings: Mapping[str, Mapping[str, str]]) -> list[MapPlaces]:
    """What `placed_maps` has. Of jobs whose `settings` made posix:// name the nodes without the
    input, so that maps go there, those near what it named are remote.
    """
    found = engine.records(placed_maps, MapPlaces)
    turned = {job for job, known in settings.items() if known.get(ASKED) == "remote"}
    return [_turned(row) if row.job in turned else row for row in found]


def _turned(row: MapPlaces) -> MapPlaces:
    elsewhere = row.rack_local + row.remote
    return msgspec.structs.replace(row, data_local=elsewhere, rack_local=0, remote=row.data_local)
