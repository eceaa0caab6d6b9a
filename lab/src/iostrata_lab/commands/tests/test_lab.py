"""Labs as a user asks for them; no cluster is started."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iostrata.cli.tests.test_commands import ALL, iostrata
from iostrata_lab.clusters.hadoop.versions import DEFAULT, VERSIONS


def test_lab_up_names_every_version_the_newest_first() -> None:
    names = [version.name for version in VERSIONS]
    (option,) = (option for option in ALL["lab up hadoop"].params if option.name == "version")
    assert re.findall(r"\d\.\d\.\d", option.help) == names
    assert option.default == DEFAULT.name == names[0]


def test_a_property_of_a_lab_has_a_name_and_a_value(tmp_path: Path) -> None:
    said = iostrata(tmp_path, "lab", "up", "hadoop", "--conf", "dfs.blocksize")
    assert said.returncode == 2
    assert said.stderr == (
        "iostrata: --conf dfs.blocksize: not NAME=VALUE · for example dfs.blocksize=1048576\n"
    )


@pytest.mark.parametrize("option", [("--racks", "2"), ("--brake", "node-1:cpu=0.5")])
def test_racks_and_brakes_are_of_nodes(tmp_path: Path, option: tuple[str, str]) -> None:
    said = iostrata(tmp_path, "lab", "up", "hadoop", *option)
    assert said.returncode == 2
    assert said.stderr == "iostrata: racks and brakes are of nodes · say how many: --nodes 3\n"
