"""The guide's settings are what `prepare` writes, and its commands are at least commands."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from iostrata.prepare import prepare

GUIDE = Path(__file__).parents[4] / "docs" / "guide"
OPTION = "-javaagent:/opt/iostrata/iostrata-agent.jar=dir=/dev/shm/iostrata"
CONTAINERS = "yarn.nodemanager.admin-env.JAVA_TOOL_OPTIONS"
DAEMONS = {
    "HDFS_DATANODE_OPTS",
    "HDFS_NAMENODE_OPTS",
    "YARN_NODEMANAGER_OPTS",
    "YARN_RESOURCEMANAGER_OPTS",
}


def blocks(page: str, language: str) -> list[str]:
    text = (GUIDE / page).read_text("utf-8")
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)


def test_these_are_the_settings_that_prepare_writes(tmp_path: Path) -> None:
    (tmp_path / "yarn-site.xml").write_text("<configuration></configuration>")
    jar = tmp_path / "agent.jar"
    jar.touch()
    text = prepare(tmp_path, jar, Path("/dev/shm/iostrata")).patch
    assert set(re.findall(r"export (\w+)=", text)) == DAEMONS
    option = OPTION.replace("/opt/iostrata/iostrata-agent.jar", str(jar))
    assert f"<name>{CONTAINERS}</name>\n+    <value> {option}</value>" in text


def test_amazon() -> None:
    (text,) = blocks("emr.md", "json")
    classes = {entry["Classification"]: entry for entry in json.loads(text)}
    exported = {
        name: value
        for file in ("hadoop-env", "yarn-env")
        for inner in classes[file]["Configurations"]
        for name, value in inner["Properties"].items()
    }
    assert exported == {name: f'"${name} {OPTION}"' for name in DAEMONS}
    assert classes["yarn-site"]["Properties"] == {CONTAINERS: f" {OPTION}"}


def test_google() -> None:
    script = blocks("dataproc.md", "sh")[1]
    # What gcloud would be given; a shell builds it from the lines of the page.
    shown = script.replace("gcloud dataproc", "false") + '\nprintf %s "$PROPERTIES"'
    done = subprocess.run(["bash", "-c", shown], capture_output=True, text=True, check=True)
    given = dict(part.split("=", 1) for part in done.stdout.split(","))
    assert given.pop("dataproc:dataproc.worker.custom.init.actions.mode") == "RUN_BEFORE_SERVICES"
    assert given.pop(f"yarn:{CONTAINERS}") == f" {OPTION}"
    assert given == {f"{'hadoop' if n[0] == 'H' else 'yarn'}-env:{n}": OPTION for n in DAEMONS}


def test_cloudera() -> None:
    (text,) = blocks("cloudera.md", "xml")
    found = ElementTree.fromstring(text)
    assert (found.findtext("name"), found.findtext("value")) == (CONTAINERS, f" {OPTION}")
    assert OPTION in (GUIDE / "cloudera.md").read_text("utf-8")


@pytest.mark.parametrize("page", sorted(path.name for path in GUIDE.glob("*.md")))
def test_commands_are_shell_and_links_lead_somewhere(page: str) -> None:
    for block in blocks(page, "sh"):
        subprocess.run(["bash", "-n"], input=block, text=True, check=True)
    text = (GUIDE / page).read_text("utf-8")
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (GUIDE / link).exists(), link
    for path in re.findall(r"`((?:src|lab|tests)/[\w/.]+)`", text):
        assert (GUIDE.parents[1] / path).exists(), path


@pytest.mark.parametrize("page", ["emr.md", "dataproc.md", "cloudera.md"])
def test_what_was_never_tried_says_so(page: str) -> None:
    assert "Not tested: nothing here has run on" in (GUIDE / page).read_text("utf-8")
