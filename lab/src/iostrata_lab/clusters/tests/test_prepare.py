"""The printed change on a real cluster: agent nowhere, then everywhere, then nowhere again."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostrata.prepare import prepare
from iostrata_lab import clusters
from iostrata_lab.clusters import AgentOptions
from iostrata_lab.clusters.tests import stub_agent

pytestmark = pytest.mark.cluster


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentOptions]:
    folder = Path(tempfile.mkdtemp(prefix="iostrata-prepare-"))
    monkeypatch.setenv("IOSTRATA_LAB_HOME", str(folder / "labs"))
    yield stub_agent.build(folder)
    for lab in clusters.list_labs():
        lab.down()
    shutil.rmtree(folder)


def test_prepared_cluster_is_traced(agent: AgentOptions) -> None:
    # GIVEN a cluster without an agent
    lab = clusters.up("prepared", agent=None)
    assert not any(daemon.agent for daemon in lab.status())
    before = {path.name: path.read_bytes() for path in lab.conf_dir.iterdir()}

    # WHEN the printed change is applied and the daemons are restarted
    text = str(prepare(lab.conf_dir, agent.jar, agent.dir))
    apply = ["patch", "-p1", "--batch"]
    subprocess.run(apply, cwd=lab.conf_dir, input=text, text=True, check=True)
    lab.restart()

    # THEN the agent is in every daemon and container, once, and in no client
    argv = ["hadoop", "jar", str(lab.examples_jar), "pi"]
    argv += ["-Dmapreduce.map.env.JAVA_TOOL_OPTIONS=-Dprobe=mine", "1", "10"]
    job = lab.run(argv, capture_output=True, timeout=120)
    assert job.returncode == 0, job.stderr
    assert all(daemon.agent for daemon in lab.status())
    assert [(command, probe) for command, _, probe in stub_agent.jvms(agent)] == [
        ("DataNode", ""),
        ("MRAppMaster", ""),
        ("NameNode", ""),
        ("NodeManager", ""),
        ("ResourceManager", ""),
        ("YarnChild", ""),
        ("YarnChild", "mine:"),  # the job's own value, and the colon that Hadoop adds
    ]

    # AND the undo restores every byte
    subprocess.run([*apply, "-R"], cwd=lab.conf_dir, input=text, text=True, check=True)
    assert {path.name: path.read_bytes() for path in lab.conf_dir.iterdir()} == before
    lab.restart()
    assert not any(daemon.agent for daemon in lab.status())
    lab.down()
