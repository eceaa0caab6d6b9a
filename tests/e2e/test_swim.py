"""A replay on a real cluster: bytes as asked, by counters and by HDFS, and nothing left of it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.labs import UNTRACED, Labs
from tests.e2e.serving import wait_until

from iostrata_lab import clusters
from iostrata_lab.workload.swim.trace import read

pytestmark = pytest.mark.cluster

# Job, submit, gap, input, shuffle, output: a map-only job, one without input, one whose reduce gets
# nothing after scaling, and one of several maps, reduces and records.
TRACE = """\
only\t0\t0\t300001\t0\t150001
none\t1\t1\t0\t0\t77
bare\t2\t1\t500\t3\t0
whole\t4\t2\t2500001\t1700003\t900007
"""
HUGE = ("trace=fb-2009", "data_scale=1000", "split=1TB", "per_reduce=1TB")
SETTINGS = (
    "trace=trace.tsv",
    "time_scale=0.5",
    "data_scale=0.5",
    "split=1MB",
    "per_reduce=512KB",
    "record=10KB",
)


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    found = labs.at(*UNTRACED)
    (found.folder / "trace.tsv").write_text(TRACE)
    return found


def _run(cluster: Cluster, *options: str, settings: tuple[str, ...] = SETTINGS) -> list[str]:
    sets = [word for one in settings for word in ("--set", one)]
    return ["workload", "run", "swim", "--lab", cluster.name, "--json", *sets, *options]


@pytest.mark.drawn("whole clusters", 2)
def test_each_job_reads_shuffles_and_writes_what_it_was_asked_to(cluster: Cluster) -> None:
    done = cluster.iostrata(
        *_run(cluster, "--set", "outputs=keep", "--keep", "--folder", "/replay")
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert (result["jobs_done"], result["jobs_exact"]) == (4, 4)
    sizes = [[job[size] for size in ("input", "shuffle", "output")] for job in result["jobs"]]
    # half of each column, rounded down as a sum
    assert sizes == [[150000, 0, 75000], [0, 0, 39], [250, 1, 0], [1250001, 850002, 450003]]
    tasks = [(job["maps"], job["reduces"]) for job in result["jobs"]]
    assert tasks == [(1, 0), (1, 0), (1, 1), (2, 2)]
    planned = [job["planned_ms"] for job in result["jobs"]]
    assert planned == [0, 500, 1000, 2000]
    # IFile's lengths and checksums are beside the bytes, not among them
    assert 850002 < result["jobs"][3]["shuffle_with_format"] < 850002 * 1.001

    listing = cluster.hadoop("hadoop", "fs", "-du", "/replay/out/*/part-*", "/replay/in/*")
    lengths = {line.split()[-1]: int(line.split()[0]) for line in listing.splitlines()}
    assert lengths["/replay/out/000000/part-m-00000"] == 75000
    assert lengths["/replay/out/000003/part-r-00000"] == 225002
    assert lengths["/replay/out/000003/part-r-00001"] == 225001
    inputs = [size for path, size in lengths.items() if path.startswith("/replay/in/")]
    assert sum(inputs) == result["input_files_bytes"]

    taken = cluster.iostrata(*_run(cluster, "--folder", "/replay"))
    assert taken.returncode == 2
    assert taken.stderr == "iostrata: /replay is there already · name another --folder\n"

    # the cluster's own history gives back what was asked
    mine = cluster.folder / "mine.tsv"
    told = cluster.iostrata("workload", "history", "--lab", cluster.name, "--out", str(mine))
    assert told.returncode == 0, told.stderr
    jobs = [[job.input, job.shuffle, job.output] for job in read(str(mine))]
    assert sorted(jobs) == sorted(sizes)


def test_a_cluster_that_is_too_full_or_too_small(cluster: Cluster) -> None:
    full = cluster.iostrata(*_run(cluster, settings=HUGE))
    assert full.returncode == 2
    assert re.fullmatch(
        r"iostrata: swim needs .* TiB in HDFS with 1 replicas, .* are .*\n", full.stderr
    )

    environment = clusters.find(cluster.name).environment()
    conf = shutil.copytree(environment["HADOOP_CONF_DIR"], cluster.folder / "conf")
    site = conf / "mapred-site.xml"
    more = "<property><name>mapreduce.map.memory.mb</name><value>9000000</value></property>"
    site.write_text(site.read_text().replace("</configuration>", f"{more}</configuration>"))
    words = [word for word in _run(cluster) if word not in ("--lab", cluster.name)]
    small = subprocess.run(
        [sys.executable, "-m", "iostrata", *words],
        env={**cluster.environment, **environment, "HADOOP_CONF_DIR": str(conf)},
        cwd=cluster.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert small.returncode == 2
    assert re.match(r"iostrata: YARN has .* for containers, a job needs 8\.6 TiB", small.stderr)


def test_what_is_interrupted_leaves_neither_jobs_nor_files(cluster: Cluster) -> None:
    # a shell that runs the tests in the background has them ignore SIGINT, and Python with them
    interruptible = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from iostrata.cli import main; main()"
    )
    command = [sys.executable, "-c", interruptible, *_run(cluster, "--folder", "/gone")]
    with subprocess.Popen(
        command, env=cluster.environment, cwd=cluster.folder, stdout=subprocess.DEVNULL
    ) as running:
        wait_until(lambda: _going_on(cluster) or running.poll() is not None)
        running.send_signal(signal.SIGINT)
        assert running.wait(180) != 0
    assert not _going_on(cluster)
    assert "/gone" not in cluster.hadoop("hadoop", "fs", "-ls", "/")


def _going_on(cluster: Cluster) -> bool:
    return any("swim" in name for name in cluster.going_on())
