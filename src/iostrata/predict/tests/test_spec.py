"""The file of a profile: what it means, and one line for each thing that may be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.predict.dimensions import at_once
from iostrata.predict.plan import plan
from iostrata.predict.spec import read_spec

WHOLE = """
name = "disk"
folder = "{folder}"

[dimensions]
operation = ["read", "write"]
access = ["sequential", "90-10"]
size = ["64MiB", "1 GiB"]
clients = [1, 4]

[fio]
ioengine = ["psync", "libaio"]

[measure]
repetitions = [2, 5]
width = 0.1
sample = "5 s"
budget = "20min"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "spec.toml"
    path.write_text(text.replace("{folder}", str(folder)))
    return path


def test_points_are_all_combinations(tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, WHOLE))
    points = list(spec.points())
    assert len(points) == spec.count == 2 * 2 * 2 * 2 * 2
    assert points[0] == {
        "operation": "read",
        "access": "sequential",
        "size": 64 << 20,
        "request": 128 << 10,
        "clients": 1,
        "cache": "dropped",
        "fio.ioengine": "psync",
    }
    assert spec.varied == ["operation", "access", "size", "clients", "fio.ioengine"]
    assert spec.rules.budget == 1200
    # four clients have 1 GiB each, once to read and once to write
    assert spec.space == 8 << 30


def test_dimensions_that_are_left_out_have_the_values_of_the_paper(tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, 'name = "a"\nfolder = "{folder}"\n'))
    assert spec.values["access"] == ("sequential", "50-50", "90-10")
    assert spec.values["operation"] == ("read", "write")
    assert spec.count == 2 * 3 * 3 * 3


def test_on_hadoop_files_are_written_in_sequence_only(tmp_path: Path) -> None:
    text = 'name = "h"\nfilesystem = "hdfs://nn:8020/tmp"\n[dimensions]\naccess = {}\n'
    spec = read_spec(written(tmp_path, text.format('["sequential", "90-10"]')))
    points = list(spec.points())
    assert {(point["operation"], point["access"]) for point in points} == {
        ("read", "sequential"),
        ("read", "90-10"),
        ("write", "sequential"),
    }
    assert spec.count == len(points) == 3 * 3 * 3
    assert (spec.data, "cache" in points[0]) == ("hdfs://nn:8020/tmp/iostrata-profile-h", False)
    only = text.format('["90-10"]') + 'operation = "write"\n'
    with pytest.raises(UserError, match="there is no point"):
        read_spec(written(tmp_path, only))


def test_copies_are_of_file_systems_of_hadoop(tmp_path: Path) -> None:
    """GIVEN one that makes three where nobody says how many
    THEN files that are read stay with each number of copies, and one more is written at a time."""
    text = 'name = "h"\nfilesystem = "hdfs://nn:8020/tmp"\n[dimensions]\nsize = "1GiB"\n'
    usual = read_spec(written(tmp_path, text))
    assert ("copies" in usual.values, usual.space_of_copies(3)) == (False, 24 << 30)
    said = read_spec(written(tmp_path, f"{text}copies = [1, 2]\n"))
    assert (said.values["copies"], said.count) == ((1, 2), 2 * usual.count)
    assert said.space_of_copies(3) == 4 * (3 + 2) << 30
    of_yarn = read_spec(written(tmp_path, f"{text}containers = [1, 3]\n"))
    assert (of_yarn.count, of_yarn.space) == (2 * usual.count, 3 * usual.space)


def test_clients_of_all_hosts_and_containers_count() -> None:
    assert at_once({"clients": 2}) == 2
    assert at_once({"clients": 2, "nodes": 3}) == at_once({"clients": 2, "containers": 3}) == 6


def test_a_pool_has_no_page_cache(tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, 'name = "a"\npool = "data"\n'))
    assert (spec.place, spec.data, "cache" in spec.values) == (
        "pool data", "iostrata-profile-a", False,
    )  # fmt: skip


def test_hosts_add_a_dimension(tmp_path: Path) -> None:
    text = WHOLE.replace("[fio]", '[hosts]\nnames = ["a", "b", "c"]\n[fio]')
    spec = read_spec(written(tmp_path, text))
    assert spec.values["nodes"] == (1, 2)
    assert (spec.hosts.names, spec.count) == (("a", "b", "c"), 64)
    assert spec.space == 16 << 30
    only = text.replace("clients = [1, 4]", "clients = [1, 4]\nnodes = [3]")
    assert read_spec(written(tmp_path, only)).values["nodes"] == (3,)


def test_a_plan_says_what_it_takes(tmp_path: Path) -> None:
    text = WHOLE.replace('"1 GiB"', '"128MiB"')
    first, time, space = plan(read_spec(written(tmp_path, text))).lines()
    assert first == "disk: 32 points, 2 to 5 samples each, of 5 s at most, 20 min 0 s in all"
    assert time == "time: 5 min 20 s to 13 min 20 s at most, less where a sample is through earlier"
    assert space.startswith(f"writes 1.0 GiB into {tmp_path}, which has ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('name = "disk"', "name = 3"), "name = 3"),
        (('name = "disk"', 'name = "../x"'), "name = '../x'"),
        (('folder = "{folder}"', 'folder = "here"'), "folder = 'here'"),
        (('folder = "{folder}"', ""), "there is no folder"),
        (("[measure]", "[measures]"), "measures is not known"),
        (("clients = [1, 4]", "node = [1]"), "dimensions.node is not known"),
        (("clients = [1, 4]", "nodes = [1]"), "there are no hosts.names"),
        (("clients = [1, 4]", "copies = [1]"), "dimensions.copies without filesystem"),
        (("clients = [1, 4]", "containers = 2"), "dimensions.containers without filesystem"),
        (("[fio]", '[hosts]\nnames = "a"\n[fio]'), "hosts.names = 'a'"),
        (("[fio]", '[hosts]\nnames = ["-oProxyCommand=x"]\n[fio]'), "hosts.names = ['-o"),
        (("[fio]", '[hosts]\nnames = ["a", "a"]\n[fio]'), "says a name twice"),
        (("[fio]", '[hosts]\nnames = ["a"]\nrun = "ssh"\n[fio]'), "hosts.run = 'ssh'"),
        (("[fio]", '[hosts]\nnames = ["a"]\nrun = "{host} \'"\n[fio]'), "hosts.run = "),
        (("[fio]", '[hosts]\nname = ["a"]\n[fio]'), "hosts.name is not known"),
        (
            ("clients = [1, 4]", 'nodes = [1, 2]\n[hosts]\nnames = ["a"]'),
            "dimensions.nodes = [1, 2]",
        ),
        (("clients = [1, 4]", "clients = [0]"), "dimensions.clients = 0"),
        (("clients = [1, 4]", "clients = [true]"), "dimensions.clients = True"),
        (("clients = [1, 4]", "clients = []"), "dimensions.clients has no value"),
        (("clients = [1, 4]", "clients = [1, 1]"), "says a value twice"),
        (('"90-10"', '"9010"'), "dimensions.access = '9010'"),
        (('"64MiB"', '"much"'), "dimensions.size = 'much'"),
        (('"64MiB"', "7"), "dimensions.size = 7"),
        (("ioengine =", "rw ="), "fio.rw is no dimension"),
        (("ioengine =", "exec_prerun ="), "fio.exec_prerun is no dimension"),
        (("[2, 5]", "[5, 2]"), "measure.repetitions = [5, 2]"),
        (("width = 0.1", "width = 0"), "measure.width = 0"),
        (('"5 s"', '"5"'), "measure.sample = '5'"),
        (("width = 0.1", "wide = 0.1"), "measure.wide is not known"),
        (("width = 0.1", 'order = "best"'), "measure.order = 'best'"),
        (("width = 0.1", "before = 7"), "measure.before = 7"),
        (('name = "disk"', 'name = "disk"\nfilesystem = "hdfs:/tmp"'), "filesystem = 'hdfs:/tmp'"),
        (
            ('name = "disk"', 'name = "disk"\nfilesystem = "hdfs://nn/"'),
            "filesystem = 'hdfs://nn/'",
        ),
        (('name = "disk"', 'name = "disk"\npool = "a b"'), "pool = 'a b'"),
        (('name = "disk"', 'name = "disk"\npool = "data"'), "folder beside pool"),
        (
            ('name = "disk"', 'name = "disk"\nfilesystem = "hdfs://nn/x"'),
            "folder beside filesystem",
        ),
        (("clients = [1, 4]", f"clients = {list(range(1, 999))}"), "15968 points"),
        (("[fio]", "[fio"), "is no TOML"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said_in_one_line(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    assert change[0] in WHOLE
    path = written(tmp_path, WHOLE.replace(*change))
    with pytest.raises(UserError) as wrong:
        read_spec(path)
    assert wrong.value.message.startswith(str(path))
    assert message in wrong.value.message
    assert "\n" not in wrong.value.message
    assert wrong.value.remedy or "TOML" in message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read_spec(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('folder = "{folder}"', 'mount = "{folder}"'), "nothing is mounted at"),
        (('folder = "{folder}"', 'folder = "{folder}/none"'), "is no folder"),
        (('"1 GiB"', '"9000 GiB"'), "disk needs 70.3 TiB, and"),
    ],
)
def test_what_cannot_be_measured_is_known_before_anything_is_written(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    spec = read_spec(written(tmp_path, WHOLE.replace(*change)))
    with pytest.raises(UserError, match=message):
        plan(spec)
    assert [path.name for path in tmp_path.iterdir()] == ["spec.toml"]
