"""HBase: what it does for tables and regions, against its own metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e import hbase
from tests.e2e.conftest import Between, Iostrata, Verifies
from tests.e2e.truth import Run

ROWS, BATCH = 100, 25
# Points of each provider of the WAL: entries, syncs, waits for the sync of an entry and of all.
POINTS = {"filesystem": (650, 652, 654, 655), "asyncfs": (651, 653, 656, 657)}
# The master keeps what it knows in a region of its own, which counts nowhere.
OF_SERVER = "target NOT LIKE 'master:store/%'"
OF_TABLE = "target LIKE 'load/%'"
# Blocks that HBase counts as read: those of requests, not those of a file that is opened, nor of a
# compaction.
COUNTED_READS = """
WITH RECURSIVE calls AS (SELECT * FROM events WHERE kind = 'call' AND layer = 'hbase'),
above(read, parent) AS (
  SELECT span, parent FROM calls WHERE op = 'read_block'
  UNION ALL SELECT read, calls.parent FROM above JOIN calls ON calls.span = above.parent)
SELECT count(*) FROM calls WHERE op = 'read_block' AND span NOT IN
  (SELECT read FROM above JOIN calls ON calls.span = above.parent
   WHERE calls.op IN ('open_file', 'compact'))
"""


def called(run: Run, op: str, where: str = "true") -> tuple[int, int]:
    """Calls of an operation of HBase that were recorded individually, and their bytes."""
    (found,) = run.rows(
        "SELECT count(*)::BIGINT, coalesce(sum(bytes), 0)::BIGINT FROM events "
        f"WHERE kind = 'call' AND layer = 'hbase' AND op = '{op}' AND {where}"
    )
    return found[0], found[1]


@pytest.mark.drawn("wal", 1)
@pytest.mark.parametrize(
    ("provider", "of_meta"), [(a, b) for a in POINTS for b in POINTS if a != b]
)
def test_every_operation_is_what_hbase_says_of_it(
    provider: str, of_meta: str, tmp_path: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    done = iostrata(
        "record", "--run", "r", "--", *hbase.load(tmp_path, provider, of_meta, ROWS, BATCH)
    )
    assert done.returncode == 0
    says = json.loads(done.stdout.splitlines()[-1])
    run = Run(tmp_path / "store", "r")
    append, sync, wait, wait_all = POINTS[provider]
    # THEN each request, entry of the WAL, flush and compaction is there, with its bytes; HBase does
    # not count the WAL of hbase:meta, which is that of the other provider
    entries = called(run, "append_wal", f"point = {append}")
    assert entries == (says["append_count"], says["append_size"])
    assert called(run, "sync_wal", f"point = {sync}")[0] == says["syncs"]
    assert called(run, "flush", OF_SERVER) == (says["flushes"], says["flushed"])
    assert called(run, "compact", OF_SERVER) == (says["compactions"], says["compacted"])
    for op in ("get", "mutate", "multi", "scan"):
        assert called(run, op)[0] == says[f"{op}s"], op
        sent = called(run, "call", f"target = 'ClientService.{op.capitalize()}'")
        assert sent[0] == says[f"{op}s"], op  # all clients are in this JVM
    assert run.one(COUNTED_READS) == says["reads"] + says["preads"]
    # AND what the client did is with its table: a put of one row is a request, an entry and a wait
    assert called(run, "get", OF_TABLE)[0] == ROWS
    assert called(run, "mutate", OF_TABLE)[0] == ROWS + 1
    assert called(run, "multi", OF_TABLE)[0] == ROWS // BATCH
    requests = ROWS + 1 + ROWS // BATCH
    assert called(run, "wait_sync", f"{OF_TABLE} AND parent IN (SELECT span FROM events "
                  "WHERE kind = 'call' AND op IN ('mutate', 'multi'))")[0] == requests  # fmt: skip
    client = "target = 'load'"
    assert called(run, "put", client)[0] == ROWS + 1
    assert called(run, "put_list", client)[0] == ROWS // BATCH
    assert called(run, "get_row", client)[0] == ROWS
    # AND the layers below have its files by what they are: the log has keys and headers, too
    log, files = (
        run.one(
            "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'java' "
            f"AND op = 'write' AND category = '{category}'"
        )
        for category in ("wal", "hfile")
    )
    assert log > called(run, "append_wal")[1]
    assert files >= called(run, "flush")[1] + called(run, "compact")[1]
    logs = run.rows(
        "SELECT DISTINCT category FROM events "
        "WHERE kind = 'call' AND layer = 'hbase' AND op = 'sync_wal'"
    )
    assert logs == [("wal",)]
    once = Between(1)  # how often is HBase's to decide
    # AND the RPCs of the servers are in the layer java: what their sockets receive and send
    sockets = (685, 687, 692)
    others = (640, 645, 647, *range(666, 671), *POINTS[of_meta], wait, wait_all, 661, 663, 664, 665)
    exact = {641: says["gets"], 642: says["mutates"], 643: says["multis"], 644: says["scans"]}
    exact |= {append: says["append_count"], sync: says["syncs"], 662: says["compactions"]}
    verifies(run, dict.fromkeys((*others, 660, *sockets), once) | exact)
