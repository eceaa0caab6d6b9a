from __future__ import annotations

from pathlib import Path

from iostrata.schema.points import POINTS
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, row_of_call, row_of_sum
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.functions import CLOSE, CREATE, LAYERS, LOCAL, WAIT_FOR_READER
from iostrata_lab.studies.interface import ClaimVerdict, Row, StudyRun
from iostrata_lab.studies.tests.made import sample

FUNCTIONS = STUDIES.named("functions")
SECOND = 10**9
BLOCK = "datanode.receive_block"


def job(label: str, repeat: int = 1, servers: int = 10, **functions: tuple[int, int]) -> StudyRun:
    """A run with total and self time (s) of functions, whose names have __ for the dot."""
    measured: Row = {
        name.replace("__", "."): {"calls": 1, "total": total * SECOND, "self": own * SECOND}
        for name, (total, own) in functions.items()
    }
    return sample(label, {"functions": measured, "servers": servers, "others": 90}, repeat)


def test_the_functions_named_are_points_of_ours() -> None:
    points = {f"{point.layer}.{point.op}" for point in POINTS}
    assert {CREATE, CLOSE, *WAIT_FOR_READER, *LOCAL} <= points
    assert set(LAYERS) <= {point.layer for point in POINTS}


def test_times_are_added_up_over_roles_without_what_only_waits(tmp_path: Path) -> None:
    def called(layer: str, op: str, role: str, dur: int, **more: object) -> list[Row]:
        whose = {"role": role, "host": "h", "proc": 1, "tid": len(op), "start": 100}
        call = row_of_call(layer, op, "t", dur=dur, trace=1, **whose, **more)
        return [call, row_of_sum(layer, op, timed_dur=dur, category=call["category"], **whose)]

    events = [
        *called("fs", "connect", "map", 40, span=1),
        *called("fs", "connect", "client", 20, span=2),
        *called("datanode", "receive_block", "DataNode", 60, span=3),
        *called("hdfs", "receive_packet", "DataNode", 55, span=4),
        *called("task", "run", "map", 900, span=5),
        *called("java", "read", "client", 8, span=6),
        *called("java", "read", "client", 700, span=7, category="pipe"),
    ]
    make_run(tmp_path, "r", events, [])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        measured = FUNCTIONS.measure(opened)
    assert measured == {
        "functions": {
            BLOCK: {"calls": 1, "total": 60, "self": 60},
            CREATE: {"calls": 2, "total": 60, "self": 60},
            "java.read": {"calls": 2, "total": 8, "self": 8},
        },
        "servers": 60,
        "others": 68,
    }


def test_ranks_and_what_is_among_the_first_everywhere() -> None:
    samples = [
        job("wordcount", fs__connect=(8, 8), hdfs__close=(4, 4), datanode__receive_block=(20, 1)),
        job("wordcount", 2, fs__connect=(6, 6), hdfs__close=(4, 2)),
        job("wordcount", 3, fs__connect=(9, 9), hdfs__close=(3, 1), datanode__receive_block=(9, 1)),
        job("sort", fs__connect=(5, 5), java__read=(4, 4)),
    ]
    total, own, everywhere = FUNCTIONS.conclude(samples).tables
    assert total.rows == [
        ["wordcount", f"{BLOCK} 9.00 s", f"{CREATE} 8.00 s", f"{CLOSE} 4.00 s"],
        ["sort", f"{CREATE} 5.00 s", "java.read 4.00 s"],
    ]
    assert own.rows[0] == ["wordcount", f"{CREATE} 8.00 s", f"{CLOSE} 2.00 s", f"{BLOCK} 1.00 s"]
    assert everywhere.rows == [["total", CREATE], ["self", CREATE]]


def test_what_agrees_with_the_paper() -> None:
    samples = [
        job("wordcount", fs__connect=(8, 8), hdfs__close=(4, 4), datanode__receive_block=(20, 1)),
        job("sort", fs__connect=(5, 5)),
    ]
    claims = [(claim.verdict, claim.because) for claim in FUNCTIONS.conclude(samples).claims]
    waits = ": a DataNode waits in them for a client that computes while it writes or reads"
    assert claims == [
        (ClaimVerdict.differs, f"wordcount: place 2, sort: place 1; before it {BLOCK}{waits}"),
        (ClaimVerdict.differs, f"{CLOSE} is at place 3 with 4.00 s"),
        (ClaimVerdict.agrees, "wordcount: place 1, sort: place 1"),
        (ClaimVerdict.agrees, f"{CLOSE} is at place 2 with 4.00 s"),
        (
            ClaimVerdict.agrees,
            "writing, flushing and syncing of DataNodes 0 µs, creating file systems 8.00 s",
        ),
        (
            ClaimVerdict.agrees,
            "self time outside of NameNode and DataNode: wordcount 90 %, sort 90 %",
        ),
        (ClaimVerdict.unknown, "bayes runs on Spark and was not asked for"),
    ]


def test_what_was_not_run_cannot_be_compared() -> None:
    claims = FUNCTIONS.conclude([job("teragen", servers=900, fs__connect=(5, 5))]).claims
    verdicts = [claim.verdict for claim in claims]
    unknown, differs = ClaimVerdict.unknown, ClaimVerdict.differs
    assert verdicts == [unknown, unknown, unknown, unknown, unknown, differs, unknown]


def test_bayes_reads_what_datanodes_send() -> None:
    samples = [job("bayes", fs__connect=(3, 3), datanode__send_block=(4, 1))]
    (bayes,) = (one for one in FUNCTIONS.conclude(samples).claims if "Bayes" in one.says)
    assert (bayes.verdict, bayes.because) == (
        ClaimVerdict.agrees,
        "datanode.send_block is at place 1; datanode.send_block has 4.00 s",
    )


def test_local_io_that_takes_long() -> None:
    samples = [job("wordcount", fs__connect=(8, 8), datanode__disk_flush=(3, 3))]
    claims = {claim.says: claim.verdict for claim in FUNCTIONS.conclude(samples).claims}
    (local,) = (verdict for says, verdict in claims.items() if "local I/O" in says)
    assert local == ClaimVerdict.differs


def test_waiting_for_the_reader_of_a_block_is_no_self_time() -> None:
    # GIVEN a second of a DataNode, all but a tenth of which it waits for a reader
    waits = (SECOND * 9) // 10
    transfer, read = WAIT_FOR_READER
    measured = {
        "functions": {
            CREATE: {"calls": 1, "total": SECOND // 5, "self": SECOND // 5},
            transfer: {"calls": 1, "total": SECOND, "self": waits // 2},
            read: {"calls": 1, "total": SECOND // 2, "self": waits - waits // 2},
        },
        "servers": SECOND,
        "others": SECOND // 5,
    }
    total, own, _ = FUNCTIONS.conclude([sample("terasort", measured)]).tables
    assert total.rows == [
        ["terasort", f"{transfer} 1.00 s", f"{read} 500.0 ms", f"{CREATE} 200.0 ms"]
    ]
    assert own.rows == [["terasort", f"{CREATE} 200.0 ms"]]
    claims = FUNCTIONS.conclude([sample("terasort", measured)]).claims
    (client,) = (claim for claim in claims if "client node" in claim.says)
    assert (client.verdict, client.because[-3:]) == (ClaimVerdict.agrees, "7 %")  # 200 of 300 ms
