"""The change that `prepare` prints, on a real cluster: nothing is traced, then everything is."""

from __future__ import annotations

import subprocess
from itertools import chain

import pytest
from tests.e2e import truth
from tests.e2e.cluster import JOB
from tests.e2e.labs import UNTRACED, Labs
from tests.e2e.serving import Node

from iostrata.artifacts import agent_for
from iostrata.prepare import prepare
from iostrata_lab import clusters

pytestmark = pytest.mark.cluster
PATCH = ("patch", "-p1", "--batch")
ROLES = (
    *("DataNode", "NameNode", "NodeManager", "ResourceManager"),
    *("appmaster", "client", "map", "reduce"),
)
# A job's own value; Hadoop puts it and a colon before that of the cluster.
PROBE = "-Dmapreduce.map.env.JAVA_TOOL_OPTIONS=-Dprobe=mine"


@pytest.mark.drawn("whole clusters", 2)
def test_a_prepared_cluster_is_traced(here: Node, labs: Labs) -> None:
    # GIVEN a cluster without an agent
    cluster = labs.at(*UNTRACED)
    lab = clusters.find_hadoop(cluster.name)
    assert not any(daemon.agent for daemon in lab.status())
    before = {path.name: path.read_bytes() for path in lab.conf_dir.iterdir()}
    try:
        # WHEN the printed change is applied and the daemons are restarted
        text = str(prepare(lab.conf_dir, agent_for(here.dir), here.dir))
        subprocess.run(PATCH, cwd=lab.conf_dir, input=text, text=True, check=True)
        lab.restart()

        # THEN each daemon has an agent, once, and a client has none of its own accord
        assert all(daemon.agent for daemon in lab.status())
        assert "JAVA_TOOL_OPTIONS" not in cluster.hadoop("sh", "-c", "hadoop fs -ls / 2>&1")
        daemons = {daemon.pid for daemon in lab.daemons()}
        assert len([trace for pid in daemons for trace in here.traces(pid)]) == 4

        # AND a run has all processes of a job, and what its attempts read and wrote
        here.environment.update(lab.environment())
        pi = ("hadoop", "jar", str(lab.examples_jar), "pi", PROBE, "1", "10")
        done = here.iostrata("record", "--dir", str(here.dir), "--run", "pi", "--", *pi)
        assert done.returncode == 0
        job = JOB.search(done.stderr)
        assert job
        run, attempts = truth.Run(here.store, "pi"), cluster.attempts(job[1])
        rows = run.rows("SELECT role, count(*), bool_and(traced) FROM processes GROUP BY role")
        assert sorted(rows) == [(role, 1, True) for role in ROLES]
        problems = (
            truth.loss_problems(run),
            truth.client_problems(run, attempts),
            truth.datanode_write_problems(run, attempts, 1),
        )
        assert list(chain.from_iterable(problems)) == []
        assert sum(a.read for a in attempts) > 0 < sum(a.written for a in attempts)

        # AND the undo restores every byte
        subprocess.run([*PATCH, "-R"], cwd=lab.conf_dir, input=text, text=True, check=True)
        assert {path.name: path.read_bytes() for path in lab.conf_dir.iterdir()} == before
    finally:
        labs.close()  # its daemons would outlive the collector
