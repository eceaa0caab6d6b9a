"""The jobs of the matrix: each with one thing wrong, or none, and the cluster that it runs on."""

from __future__ import annotations

from dataclasses import dataclass, field

PLAIN = "plain"


@dataclass(frozen=True)
class Cluster:
    """A lab: DataNodes, or nodes with a network and a disk each, and properties of Hadoop over the
    lab's own. {small} in one is a small volume of memory, {disk} the folder of a node's disk.
    """

    datanodes: int = 3
    properties: dict[str, str] = field(default_factory=dict)
    nodes: int = 0


NODES = "nodes"
# A block is on its disk when its file is closed: else writes end in the page cache.
_ON_DISK = {"dfs.datanode.synconclose": "true"}
_TWO_VOLUMES = {
    "dfs.datanode.data.dir": "file://{disk}/datanode,file://{small}",
    "dfs.datanode.fsdataset.volume.choosing.policy": "org.apache.hadoop.hdfs.server.datanode."
    "fsdataset.AvailableSpaceVolumeChoosingPolicy",
    "dfs.datanode.available-space-volume-choosing-policy.balanced-space-preference-fraction": ".9",
}

# It does not wait for a container beside the input.
_FIFO = {
    "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager."
    "scheduler.fifo.FifoScheduler"
}

LABS = {
    PLAIN: Cluster(),
    "one-handler": Cluster(1, {"dfs.namenode.handler.count": "1"}),
    "long-lock": Cluster(1, {"dfs.content-summary.limit": "0"}),
    NODES: Cluster(nodes=3),
    "fifo": Cluster(nodes=3, properties=_FIFO),
    "nodes-on-disk": Cluster(nodes=3, properties=_ON_DISK),
    "two-volumes": Cluster(nodes=1, properties=_ON_DISK | _TWO_VOLUMES),
}


@dataclass(frozen=True)
class Job:
    """A command and the rule whose finding must rank first; '' where none may be severe.

    `sizes`: what stands for {times} at the small and at the large size. Other fields are {seed},
    {run}, {local} (an empty folder), {tasks} (the jar of Tasks.java), {examples} (Hadoop's own) and
    {archive} (a zip of {times} small files).
    """

    cause: str
    command: str
    sizes: tuple[int, int] = (1, 2)
    lab: str = PLAIN
    name: str = ""
    brakes: dict[str, str] = field(default_factory=dict)  # of nodes, as `iostrata lab brake`

    @property
    def title(self) -> str:
        return self.name or self.cause


def _client(
    cause: str, small: int, large: int, jvm: str = "", options: str = "", lab: str = PLAIN
) -> Job:
    """A cause that one program has, which talks to HDFS and local files itself."""
    command = f"java {jvm} Client {options} {cause} {{times}} {{seed}} {{local}}"
    return Job(cause, command, (small, large), lab)


def _tasks(
    cause: str, small: int = 1, large: int = 2, options: str = "", data: str = "text"
) -> Job:
    """A job of `Tasks` over the text; the cause is in its code or in `options`."""
    inside = cause if cause in _IN_CODE else "none"
    command = (
        f"hadoop jar {{tasks}} Tasks {_ONE_ATTEMPT} {options} "
        f"{inside} {{times}} {{seed}} /causes/{data} /causes/out-{{run}}"
    )
    return Job(cause, command, (small, large))


_IN_CODE = (
    "shuffle-skew",
    "straggler",
    "failed-attempts",
    "log-writes",
    "slow-commit",
    "one-reduce",
    "reduces-wait",
)
_COMMIT = "-Dmapreduce.fileoutputcommitter.algorithm.version"
_ONE_ATTEMPT = "-Dmapreduce.map.speculative=false -Dmapreduce.reduce.speculative=false"
_TERASORT = f"hadoop jar {{examples}} terasort {_ONE_ATTEMPT}"
_SPLIT = "-Dmapreduce.input.fileinputformat.split.maxsize"
_SORT = "-Dmapreduce.task.io.sort"
_SLOWSTART = "-Dmapreduce.job.reduce.slowstart.completedmaps"
_THREE = "-Dmapreduce.job.reduces=3"

HEALTHY = (
    Job("", "java Client healthy-write {times} {seed}", (256, 512), name="client-write"),
    Job("", "java Client healthy-read {times} {seed}", (1, 1), name="client-read"),
    Job(
        "",
        "hadoop org.apache.hadoop.fs.TestDFSIO -write -nrFiles 3 -size {times}MB",
        (96, 192),
        name="dfsio-write",
    ),
    Job("", f"{_TERASORT} {_THREE} /causes/tera /causes/out-{{run}}", name="terasort"),
    Job(
        "",
        f"hadoop jar {{tasks}} Tasks {_ONE_ATTEMPT} {_THREE} none 1 {{seed}} /causes/text "
        "/causes/out-{run}",
        name="words",
    ),
)

BROKEN = (
    _client("small-reads", 12_000, 20_000),
    _client("small-writes", 6_000_000, 10_000_000),
    _client("bytewise", 8_000_000, 14_000_000),
    _client("many-small-outputs", 400, 700),
    _tasks("many-small-files", 24, 36, options=_THREE, data="many"),
    _client("fs-not-cached", 6000, 9000),
    _client("frequent-flush", 4000, 7000),
    _client("datanode-sync", 300, 500),
    _client("local-sync", 4000, 7000),
    _client("namenode-edit-log", 1500, 2500),
    _client("metadata-storm", 12_000, 20_000),
    _client("rpc-queueing", 9_600, 14_400, lab="one-handler"),
    _client("namenode-lock", 2000, 3000, lab="long-lock"),
    _client("open-churn", 1200, 2000),
    _client("read-amplification", 1500, 2500),
    _client("random-reads", 3000, 5000),
    _client("rereading", 24, 40),
    _client("small-blocks", 192, 320, options="-Ddfs.blocksize=1048576"),
    _client("gc-bound", 6, 10, jvm="-Xmx48m"),
    _client("cpu-bound", 50_000, 80_000),
    Job(
        "cpu-taken",
        'sh -c \'for other in 1 2 3 4 5 6; do sh -c "while :; do :; done" & done; '
        "java Client cpu-bound {times} {seed} {local}; code=$?; kill $(jobs -p); exit $code'",
        (25_000, 40_000),
    ),
    Job(
        "fs-creation",
        "sh -c 'for file in $(seq {times}); do hadoop fs -test -e /$file; done; true'",
        (6, 10),
    ),
    _tasks("short-tasks", options=f"{_THREE} {_SPLIT}=800000"),
    _tasks("too-many-spills", options=f"{_THREE} {_SORT}.mb=1 {_SORT}.factor=999", data="long"),
    _tasks("merge-passes", options=f"{_THREE} {_SORT}.mb=2 {_SORT}.factor=2"),
    _tasks("shuffle-skew", 8, 6, options=_THREE),
    _tasks("straggler", 30, 45, options=_THREE),
    _tasks("failed-attempts", 15, 25, options=_THREE),
    _tasks("log-writes", options=_THREE),
    _tasks("slow-commit", 700, 1200, options=f"{_THREE} {_COMMIT}=1"),
    _tasks("one-reduce", 200, 300, options="-Dmapreduce.job.reduces=1"),
    _tasks(
        "reduces-wait",
        4,
        6,
        options=f"-Dmapreduce.job.reduces=2 {_SLOWSTART}=0 {_SPLIT}=2500000",
    ),
    Job(
        "localization",
        f"hadoop jar {{tasks}} Tasks {_ONE_ATTEMPT} {_THREE} -archives {{archive}} none 1 {{seed}} "
        "/causes/text /causes/out-{run}",
        (20_000, 35_000),
    ),
)

_EACH = ("node-1", "node-2", "node-3")
_WORDS = f"hadoop jar {{tasks}} Tasks {_ONE_ATTEMPT}"
_DFSIO = "hadoop org.apache.hadoop.fs.TestDFSIO"

ON_NODES = (
    Job(
        "",
        f"{_TERASORT} {_THREE} /causes/tera /causes/out-{{run}}",
        lab=NODES,
        name="terasort-nodes",
    ),
    Job("", f"{_DFSIO} -write -nrFiles 3 -size {{times}}MB", (48, 96), NODES, "dfsio-nodes"),
    Job(
        "slow-node",
        f"{_WORDS} {_THREE} {_SPLIT}=5000000 none 1 {{seed}} /causes/long /causes/out-{{run}}",
        lab=NODES,
        brakes={"node-3": "--cpu 0.3"},
    ),
    Job(
        "slow-network",
        f"{_WORDS} {_THREE} none 1 {{seed}} /causes/text /causes/out-{{run}}",
        lab=NODES,
        brakes={"node-2": "--net 2MB/s"},
    ),
    # five maps at once, two of them at most where the input is
    Job(
        "low-locality",
        f"hadoop jar {{examples}} wordcount {_ONE_ATTEMPT} {_SPLIT}={{times}} /causes/far "
        "/causes/out-{run}",
        (4_300_000, 8_600_000),
        "fifo",
        brakes=dict.fromkeys(_EACH, "--net 600kB/s"),
    ),
    Job(
        "uncompressed-intermediate",
        f"{_WORDS} -Dmapreduce.job.reduces=6 none 1 {{seed}} /causes/text /causes/out-{{run}}",
        lab=NODES,
        brakes=dict.fromkeys(_EACH, "--net 3MB/s"),
    ),
    Job(
        "slow-disk",
        f"{_DFSIO} -write -nrFiles 3 -size {{times}}MB",
        (24, 40),
        "nodes-on-disk",
        brakes={"node-2": "--disk 4MB/s"},
    ),
    Job(
        "unbalanced-volumes",
        f"{_DFSIO} -Ddfs.blocksize=20m -write -nrFiles 3 -size {{times}}MB",
        (240, 320),
        "two-volumes",
        brakes={"node-1": "--disk 12MB/s"},
    ),
)

JOBS = (*HEALTHY, *BROKEN, *ON_NODES)
