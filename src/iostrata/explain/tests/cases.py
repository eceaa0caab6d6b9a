"""Runs that have one cause each: what they did, and what must be found of them."""

from __future__ import annotations

from typing import Any

from iostrata.explain.tests.cases_of_files import CASES_OF_FILES
from iostrata.explain.tests.cases_of_waits import CASES_OF_WAITS
from iostrata.explain.tests.made import (
    JOB,
    KB,
    MB,
    MINUTE,
    MS,
    PROGRAM,
    US,
    Case,
    attempt,
    attempts,
    call,
    did,
)
from iostrata.store.tests.made import SECOND, START, process

DATA: dict[str, Any] = {"category": "hdfs", "size_class": 11}
SOCKET = {"category": "socket"}
POOL = "current/BP-1/current/finalized"


def disk(proc: int, each: int) -> dict[str, Any]:
    return did("datanode", "write", 1000, each, "DataNode", proc=proc, category="blk")


def maps(op: str, calls: int, each: int, **more: Any) -> dict[str, Any]:
    return did("task", op, calls, each, "map", **{"job": JOB, **more})


def fetched(peer: str, host: str, size: int, dur: int) -> dict[str, Any]:
    return call("task", "receive", "attempt_1_0001_m_000000_0", dur, "client", host=host, peer=peer,
                bytes=size, category="shuffle")  # fmt: skip


def at(second: int) -> int:
    return START + second * SECOND


TASKS = attempts("map", [30, 30, 30, 30])  # two minutes of work
CASES = (
    *CASES_OF_FILES,
    *CASES_OF_WAITS,
    Case(
        "small-reads",
        "20 000 reads of 1.0 KiB on average in layer hdfs took 20.00 s",
        1 / 3,
        [did("hdfs", "read", 20_000, MS, bytes=20_000 * KB, **DATA)],
    ),
    Case(
        "small-writes",
        "100 000 writes of 64 B on average in layer java took 30.00 s",
        1 / 2,
        [did("java", "write", 100_000, 300 * US, bytes=6_400_000, category="file", size_class=7)],
    ),
    Case(
        "bytewise",
        "30 000 000 reads of a single byte in layer java took 15.00 s",
        1 / 4,
        [did("java", "read", 30_000_000, 500, bytes=30_000_000, category="file", size_class=1)],
    ),
    Case(
        "many-small-outputs",
        "600 files of 1.0 KiB on average were written; creating and closing them took 18.00 s",
        0.3,
        [
            did("hdfs", "create", 600, 10 * MS),
            did("hdfs", "close", 600, 20 * MS),
            did("hdfs", "send_packet", 600, US, bytes=600 * KB),
        ],
    ),
    Case(
        "many-small-files",
        "the job read 40 files of 1.0 KiB on average, with 40 map tasks where 4 would be "
        "enough; this took 54.00 s",
        0.9 * 0.25,
        [call("hdfs", "read", f"/in/{n}", MS, "map", bytes=KB, job=JOB) for n in range(40)],
        [attempt("map", n, 1.5 * (n // 4) * 3, 1.5 * (n // 4) * 3 + 1.5) for n in range(40)],
    ),
    Case(
        "fs-not-cached",
        "processes created 299 more file systems than they needed, which took 29.90 s",
        0.498,
        [did("fs", "connect", 300, 100 * MS, category="hdfs")],
    ),
    Case(
        "fs-creation",
        "4 processes ran for 2 min 0 s, and creating file systems took 12.00 s of it",
        0.05,
        [did("fs", "connect", 4, 3 * SECOND, "map", proc=n, category="hdfs") for n in (1,)],
        TASKS,
    ),
    Case(
        "short-tasks",
        "24 tasks worked for 1.00 s each on average, and took 4.00 s each to start and end",
        16 * 4 / 120 / 2,
        [maps("run", 24, SECOND)],
        [attempt("map", n, 5 * (n // 4), 5 * (n // 4) + 5) for n in range(24)],
    ),
    Case(
        "too-many-spills",
        "maps spilled 5.0 times on average; merging these spills took 40.00 s",
        1 / 6,
        [maps("run", 4, 28 * SECOND), maps("spill", 20, MS), maps("merge", 4, 10 * SECOND)],
        TASKS,
    ),
    Case(
        "merge-passes",
        "maps wrote each byte of their output 5.0 times; merging took 40.00 s, of which "
        "further passes took 30.00 s",
        0.125,
        [
            maps("run", 4, 28 * SECOND),
            did("task", "spill", 20, 0, "map", bytes=100 * MB),
            did("task", "merge", 4, 10 * SECOND, "map", bytes=400 * MB),
        ],
        TASKS,
    ),
    Case(
        "shuffle-skew",
        "one of 3 reduces fetched 90.0 MiB, while the median is 2.0 MiB; the longest reduce ran "
        "40.00 s longer than the median",
        2 / 3,
        [
            did(
                "task",
                "copy",
                1,
                0,
                "reduce",
                task=f"attempt_1_0001_r_00000{n}_0",
                bytes=size * MB,
            )
            for n, size in enumerate((90, 2, 1))
        ],
        attempts("reduce", [60, 20, 18]),
    ),
    Case(
        "straggler",
        "attempt_1_0001_m_000003_0 worked for 60.00 s, while the median of 4 map attempts is "
        "20.00 s",
        2 / 3,
        [],
        attempts("map", [20, 20, 20, 60]),
    ),
    Case(
        "slow-node",
        "map attempts took 50.00 s on average on host far, and 20.00 s on other hosts",
        60 / 140 * 5 / 6,
        [],
        [
            attempt("map", 0, 0, 20),
            attempt("map", 1, 0, 20),
            attempt("map", 2, 0, 50, host="far"),
            attempt("map", 3, 0, 50, host="far"),
        ],
    ),
    Case(
        "slow-disk",
        "the disks of DataNode node/0003 took 19.00 s longer than those of other DataNodes for "
        "the same steps: write takes 20.0 ms (on others 1.0 ms)",
        19 / 60,
        [disk(1, MS), disk(2, MS), disk(3, 20 * MS)],
    ),
    Case(
        "slow-network",
        "threads transferred 100.0 MiB between far and other hosts at 5.0 MiB/s, and between "
        "all others at 100.0 MiB/s; the difference cost 19.00 s",
        19 / 60,
        [
            fetched("far:1", "near", 60 * MB, 12 * SECOND),
            fetched("near:1", "far", 40 * MB, 8 * SECOND),
            fetched("near:1", "other", 50 * MB, SECOND // 2),
            fetched("other:1", "near", 50 * MB, SECOND // 2),
            fetched("near:1", "near", 100 * MB, MS),  # over no wire
        ],
    ),
    Case(
        "low-locality",
        "80 % of the 100.0 MiB that tasks read from DataNodes came from other hosts",
        0.8 * 24 / 120 / 2,
        [
            did("hdfs", "read", 10, 2400 * MS, "map", bytes=100 * MB, **DATA),
            *(
                did("datanode", "send_packet", 1, 0, "DataNode", host=f"node{n}", bytes=size * MB,
                    task=f"attempt_1_0001_m_00000{task}_0")
                for n, size, task in ((0, 20, 0), (1, 80, 0))
            ),
            did("datanode", "send_packet", 1, 0, "DataNode", host="node1", bytes=0,
                task="attempt_1_0001_m_000001_0"),
        ],
        [
            attempt("map", 0, 0, 30, host="node0"),
            attempt("map", 1, 0, 30, host="node1"),
            *(attempt("map", n, 0, 30, host="node1") for n in (2, 3)),
        ],
    ),
    Case(
        "metadata-storm",
        "programs asked 10 000 questions about files, and opened or created 5 files; the "
        "questions took 20.00 s",
        1 / 3,
        [did("hdfs", "stat", 10_000, 2 * MS), did("hdfs", "open", 5, MS)],
    ),
    Case(
        "open-churn",
        "programs opened 1 file 150 times; all opens but the first of each file took 14.90 s",
        14.9 / 60,
        [call("hdfs", "open", "/in", 100 * MS) for _ in range(150)],
    ),
    Case(
        "small-blocks",
        "200 blocks of 1.0 MiB on average were written; setting up and ending their pipelines "
        "took 16.00 s",
        16 / 60,
        [
            did("hdfs", "connect", 200, 50 * MS),
            did("hdfs", "wait_acks", 200, 30 * MS),
            did("hdfs", "close", 2, MS),
            did("hdfs", "send_packet", 4000, 0, bytes=200 * MB),
        ],
    ),
    Case(
        "read-amplification",
        "DataNodes sent 300.0 MiB, 3.0 times the 100.0 MiB that programs read; the reads took "
        "30.00 s",
        1 / 3,
        [
            did("hdfs", "read", 100, 300 * MS, bytes=100 * MB, category="hdfs", size_class=21),
            did("datanode", "send_packet", 3000, 0, "DataNode", bytes=300 * MB),
        ],
    ),
    Case(
        "rereading",
        "DataNodes read 640.0 MiB from 1 block, of which 576.0 MiB had been read before; "
        "reading these again took 27.00 s",
        0.45,
        [
            did("hdfs", "read", 100, 300 * MS, bytes=640 * MB, category="hdfs", size_class=24),
            *(
                call("datanode", "read_block", "BP-1", MS, "DataNode", block=7, offset=0,
                     bytes=64 * MB)
                for _ in range(10)
            ),
        ],
    ),
    Case(
        "uncompressed-intermediate",
        "100.0 MiB of map output were shuffled without compression; writing and copying them "
        "took 48.00 s",
        0.1,
        [
            maps("run", 4, 28 * SECOND),
            did("task", "spill", 4, 0, "map", bytes=100 * MB),
            did("fs", "raw_write", 1000, 24 * MS, "map", bytes=100 * MB),
            did("task", "copy", 4, 6 * SECOND, "reduce", bytes=100 * MB),
        ],
        [*TASKS, attempt("reduce", 0, 0, 60), attempt("reduce", 1, 0, 60)],
    ),
    Case(
        "gc-bound",
        "1 JVM stood still for 15.00 s in 300 garbage collections; the longest took 50.0 ms",
        1 / 4,
        [did("jvm", "gc_pause", 300, 50 * MS)],
    ),
    Case(
        "failed-attempts",
        "1 attempt of 1 task ran for 20.00 s in vain, because another attempt did the same work",
        1 / 6,
        [],
        [attempt("map", 70, 0, 20), attempt("map", 70, 20, 60, again=1), attempt("map", 1, 0, 60)],
    ),
    Case(
        "speculation",
        "1 task ran in two attempts at once for 20.00 s, one of them in vain",
        1 / 7,
        [],
        [attempt("map", 75, 0, 50), attempt("map", 75, 30, 60, again=1), attempt("map", 1, 0, 60)],
    ),
    Case(
        "one-reduce",
        "1 reduce worked alone for 40.00 s on up to 50.0 MiB, while there was room for 4 tasks",
        26 * 0.75 / 60,
        [
            maps("run", 4, 10 * SECOND),
            did("task", "run", 1, 10 * SECOND, "reduce"),
            did("task", "copy", 4, 0, "reduce", task="attempt_1_0001_r_000000_0", bytes=50 * MB),
        ],
        [*attempts("map", [20, 20, 20, 20]), attempt("reduce", 0, 20, 60)],
    ),
    Case(
        "reduces-wait",
        "2 reduces held containers for 60.00 s while maps still had to start",
        1 / 4,
        [],
        [
            attempt("reduce", 0, 0, 60),
            attempt("reduce", 1, 0, 60),
            attempt("map", 0, 0, 30),
            attempt("map", 1, 0, 30),
            attempt("map", 2, 30, 60),
        ],
    ),
    Case(
        "slow-commit",
        "the commit of the job took 15.00 s; the run made 700 renames in all",
        1 / 4,
        [
            did("task", "commit_job", 1, 15 * SECOND, "appmaster"),
            did("namenode", "rename", 700, MS, "NameNode"),
        ],
        TASKS,
    ),
    Case(
        "localization",
        "containers waited 15.00 s on average while 8 files were copied to their nodes",
        1 / 4,
        [
            did("task", "localize", 2, 15 * SECOND, "NodeManager"),
            did("task", "download", 8, SECOND, "NodeManager"),
        ],
        TASKS,
    ),
    Case(
        "log-writes",
        "500 000 writes to logs took 15.00 s and wrote 47.7 MiB",
        1 / 4,
        [did("java", "write", 500_000, 30 * US, bytes=50_000_000, category="pipe")],
    ),
    Case(
        "lost-datanode",
        "DataNode 10.0.0.3:9866 on far died at 23.00 s (1 block, /log); writers waited 15.00 s for "
        "new pipelines",
        1 / 4,
        [
            call("hdfs", "sync", "/log", 15 * SECOND, start=at(10)),
            call("hdfs", "set_up_pipeline", "/log", SECOND, start=at(24), span=7),
            call("hdfs", "check_pipeline", "/log", MS, start=at(24), parent=7, trace=1,
                 peer="10.0.0.3:9866"),
            call("rpc", "call", "ClientProtocol.updatePipeline", MS, start=at(24), parent=7),
            call("datanode", "write_block", "BP-1", MS, "DataNode", kind="unfinished", proc=3,
                 trace=1),
        ],
        [
            PROGRAM,
            process("DataNode", 3, proc=3, host="far", start=START, end=at(23), exit="killed"),
        ],
    ),
    Case(
        "child-process",
        "1 process waited 15.00 s for the output of programs that it had started",
        1 / 4,
        [did("java", "read", 150, 100 * MS, category="pipe", thread="out")],
    ),
    Case(
        "idle",
        "1 process ran for 60.00 s, and for 50 % of that it neither computed nor was in a traced "
        "call",
        1 / 2,
        [
            did("fs", "read", 100, 50 * MS, tid=1, flags=0, category="file"),
            # a thread that waits for work, beside one that copies
            did("java", "read", 10, SECOND, tid=7, flags=0, category="socket"),
            did("java", "write", 50, 100 * MS, tid=8, flags=0, category="file"),
        ],
        [{**PROGRAM, "cpu": 17 * SECOND, "cpu_jvm": 2 * SECOND, "queued": 5 * SECOND}],
    ),
    Case(
        "cpu-limit",
        "1 process ran for 60.00 s, and for 75 % of that their CPU limit let threads wait",
        3 / 4,
        [],
        [{**PROGRAM, "cpu": 12 * SECOND, "throttled": 45 * SECOND}],
    ),
    Case(
        "uneven-ranks",
        "rank 3 spent 40.00 s in calls on files and moved 100.0 MiB, while the median of 4 ranks "
        "is 10.00 s and 100.0 MiB",
        1 / 2,
        [
            did("posix", "write", 100, each * MS, proc=n, task=f"rank {n}", bytes=100 * MB)
            for n, each in enumerate((100, 100, 100, 400))
        ],
    ),
    Case(
        "short-stages",
        "40 tasks of 1 stage ran for 500.0 ms each on average, and none in less than 500.0 ms, "
        "whatever it had to do",
        38 * 0.5 / 60,
        [
            call("task", "run", "", SECOND // 2, "executor", proc=90, job="application_2_0002",
                 start=START + n * SECOND // 2, phase="stage 9.0",
                 task=f"application_2_0002_stage_9.0_task_{n}.0")
            for n in range(40)
        ],
        [process("executor", 90, proc=90, host="node", start=START, end=START + MINUTE)],
    ),
    Case(
        "unbalanced-volumes",
        "12 blocks went to /d1, but only 2 to /d2 of the same DataNode",
        5 / 60,
        [
            call("java", "write", f"/{volume}/{POOL}/blk_{n}", SECOND, "DataNode", block=n,
                 category="blk")
            for n, volume in enumerate(["d1"] * 12 + ["d2"] * 2)
        ],
    ),
)  # fmt: skip
