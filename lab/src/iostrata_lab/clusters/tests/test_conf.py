"""The lab's configuration files, as texts."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import conf, jars
from iostrata_lab.clusters.hadoop.conf import AgentOptions, ClusterPlan
from iostrata_lab.clusters.hadoop.versions import DEFAULT, version_named

PORTS = {name: 20000 + n for n, name in enumerate((*conf.PORTS, *conf.YARN_PORTS))}
AGENT = AgentOptions(Path("/opt/agent.jar"), Path("/dev/shm/x"))


def plan(agent: AgentOptions | None = None, datanodes: int = 1) -> ClusterPlan:
    return ClusterPlan(Path("/labs/a"), Path("/jars"), Path("/jdk"), PORTS, datanodes, agent)


def properties(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)
    return {p.findtext("name", ""): p.findtext("value", "") for p in root.iter("property")}


def test_xml_is_escaped() -> None:
    assert conf.xml({"a&b": "<1>"}) == (
        '<?xml version="1.0"?>\n<configuration>\n'
        "  <property>\n    <name>a&amp;b</name>\n    <value>&lt;1&gt;</value>\n  </property>\n"
        "</configuration>\n"
    )


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("dfs.replication", "hdfs-site.xml"),
        ("yarn.scheduler.minimum-allocation-mb", "yarn-site.xml"),
        ("yarn.app.mapreduce.am.resource.mb", "mapred-site.xml"),
        ("mapreduce.shuffle.port", "mapred-site.xml"),
        ("io.file.buffer.size", "core-site.xml"),
    ],
)
def test_a_property_of_the_user_replaces_ours_in_its_file(name: str, file: str) -> None:
    files = conf.files(replace(plan(), properties={name: "7"}))
    assert [f for f, text in files.items() if f"<name>{name}<" in text] == [file]
    assert properties(files[file])[name] == "7"


def test_every_address_is_on_loopback() -> None:
    addresses = {
        key: value
        for name, text in conf.files(plan()).items()
        if name.endswith(".xml")
        for key, value in properties(text).items()
        if "address" in key
    }
    assert {"dfs.datanode.address", "yarn.resourcemanager.address"} <= addresses.keys()
    for key, value in addresses.items():
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


def test_the_default_version_is_that_of_the_pom() -> None:
    assert jars.pom(DEFAULT) == jars.POM.read_text()


def test_another_version_has_its_own_jars() -> None:
    old = version_named("3.3.6")
    changed = set(jars.pom(old).splitlines()) - set(jars.POM.read_text().splitlines())
    assert {line.strip() for line in changed} == {
        "<hadoop.version>3.3.6</hadoop.version>",
        "<hadoop.examples.version>3.3.6</hadoop.examples.version>",
    }


def test_what_a_version_needs_of_the_jvm_goes_to_every_jvm() -> None:
    old = version_named("3.3.6")
    assert (old.options(8), old.options(11), DEFAULT.options(17)) == ("", "", "")
    opens = old.options(17)
    assert opens == "--add-opens=java.base/java.lang=ALL-UNNAMED"

    texts = conf.files(replace(plan(), jvm=opens))
    env = [line.split("=")[0] for line in texts["hadoop-env.sh"].splitlines() if opens in line]
    assert env == [
        "export HADOOP_CLIENT_OPTS",
        "export HDFS_NAMENODE_OPTS",
        "export HDFS_DATANODE_OPTS",
        "export YARN_RESOURCEMANAGER_OPTS",
        "export YARN_NODEMANAGER_OPTS",
    ]
    mapred = [k for k, v in properties(texts["mapred-site.xml"]).items() if opens in v]
    assert mapred == [
        "mapreduce.map.java.opts",
        "mapreduce.reduce.java.opts",
        "yarn.app.mapreduce.am.command-opts",
    ]


def test_an_unknown_version() -> None:
    with pytest.raises(LabError, match=r"no lab runs Hadoop '2\.7' \(choose one of 3\.5\.0, "):
        version_named("2.7")
