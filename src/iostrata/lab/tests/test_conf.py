"""The lab's configuration files, as texts."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from iostrata.lab import jars
from iostrata.lab.hadoop import conf
from iostrata.lab.hadoop.conf import AgentOptions, Plan

PORTS = {name: 20000 + n for n, name in enumerate((*conf.PORTS, *conf.YARN_PORTS))}
AGENT = AgentOptions(Path("/opt/agent.jar"), Path("/dev/shm/x"))


def plan(agent: AgentOptions | None = None, datanodes: int = 1) -> Plan:
    return Plan(Path("/labs/a"), Path("/jars"), Path("/jdk"), PORTS, datanodes, agent)


def properties(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)
    return {p.findtext("name", ""): p.findtext("value", "") for p in root.iter("property")}


def test_xml_is_escaped() -> None:
    assert conf.xml({"a&b": "<1>"}) == (
        '<?xml version="1.0"?>\n<configuration>\n'
        "  <property>\n    <name>a&amp;b</name>\n    <value>&lt;1&gt;</value>\n  </property>\n"
        "</configuration>\n"
    )


def test_every_address_is_on_loopback() -> None:
    for name, text in conf.files(plan()).items():
        if name.endswith(".xml"):
            for key, value in properties(text).items():
                if "address" in key:
                    assert value == "" or re.fullmatch(r"127\.0\.0\.1:\d+", value), key


def test_replication_is_at_most_three() -> None:
    found = [conf.hdfs(plan(datanodes=n))["dfs.replication"] for n in (1, 2, 3, 5)]
    assert found == [1, 2, 3, 3]


def test_the_agent_goes_to_daemons_and_containers_but_not_to_clients() -> None:
    without, traced = conf.files(plan()), conf.files(plan(AGENT))

    assert not any("-javaagent" in text for text in without.values())
    lines = [line for line in traced["hadoop-env.sh"].splitlines() if AGENT.option in line]
    assert [line.split("=")[0] for line in lines] == [
        "export HDFS_NAMENODE_OPTS",
        "export HDFS_DATANODE_OPTS",
        "export YARN_RESOURCEMANAGER_OPTS",
        "export YARN_NODEMANAGER_OPTS",
    ]
    yarn = properties(traced["yarn-site.xml"])
    assert yarn["yarn.nodemanager.admin-env.JAVA_TOOL_OPTIONS"] == f" {AGENT.option}"


def test_client_options_of_the_caller_come_last(tmp_path: Path) -> None:
    env = tmp_path / "hadoop-env.sh"
    env.write_text(conf.env(plan()))
    script = f'. {env}; echo "$HADOOP_CLIENT_OPTS"'
    shown = subprocess.run(
        ["bash", "-c", script],
        env={"HADOOP_CLIENT_OPTS": "-javaagent:mine"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == f"{conf.QUICK} -javaagent:mine\n"


def test_the_version_is_that_of_the_pom() -> None:
    assert f"<hadoop.version>{jars.VERSION}</hadoop.version>" in jars.POM.read_text()
