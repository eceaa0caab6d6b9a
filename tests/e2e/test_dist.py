"""What is handed out, used as its users do: outside the checkout, with nothing else installed.

With SOAK=1 it is built as `make dist` does, for every system that this machine can build for; else
against its own glibc, which takes seconds.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from scripts.dist import GLIBC, NATIVES, SYSTEMS, DistError, System, needed_glibc

ROOT = Path(__file__).parents[2]
CALLS, SIZE = 200, 4096
Words = Sequence[str | Path]
PARTS = {
    *("iostrata-native", "iostrata-agent.jar", "iostrata-tfs.jar"),
    *("libiostrata_loader.so", "libiostrata_preload.so"),
}


def without_checkout(**more: str) -> dict[str, str]:
    """An environment in which nothing leads back to the checkout."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("IOSTRATA_", "PYTHON", "VIRTUAL_ENV", "UV_"))
    }
    return {**kept, **more}


def run(command: Words, folder: Path, **more: str) -> str:
    """A command that must succeed; returns what it printed."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=without_checkout(**more), capture_output=True, text=True, check=False
    )
    print(f"$ {' '.join(words)}\n{done.stdout}{done.stderr}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def reads(program: Path, file: Path) -> Words:
    return ["java", "-cp", program, "Reads", file, str(CALLS), str(SIZE), "0"]


def recorded(iostrata: Path, folder: Path, file: Path, store: Path) -> dict[str, list[int]]:
    """Calls and bytes per operation that the run `r` has for a file."""
    sql = (
        "SELECT op, count(*)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes "
        f"FROM calls WHERE layer = 'java' AND target = '{file}' GROUP BY op"
    )
    query: Words = [iostrata, "query", sql, "--run", "r", "--format", "json"]
    rows = json.loads(run(query, folder, IOSTRATA_STORE=str(store)))
    return {row["op"]: [row["calls"], row["bytes"]] for row in rows}


EXPECTED = {"write": [CALLS, CALLS * SIZE], "read": [CALLS + 1, CALLS * SIZE]}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    here = [] if os.environ.get("SOAK") else ["--here"]
    command = [sys.executable, str(ROOT / "scripts/dist.py"), *here, "--to", str(folder)]
    print(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    """That of iostrata for this machine."""
    (built,) = dist.glob("iostrata-[0-9]*manylinux*_x86_64.whl")
    return built


@pytest.fixture(scope="module")
def lab_wheel(dist: Path) -> Path:
    """That of iostrata-lab."""
    (built,) = dist.glob("iostrata_lab-*.whl")
    return built


def test_the_wheel_holds_all_and_no_tests(wheel: Path) -> None:
    assert re.fullmatch(r"iostrata-[\d.]+-py3-none-manylinux_2_\d+_x86_64\.whl", wheel.name)
    if os.environ.get("SOAK"):
        assert "manylinux_2_17_" in wheel.name
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        mode = packed.getinfo("iostrata/_native/iostrata-native").external_attr >> 16
    assert mode & 0o777 == 0o755
    parts = {n.rpartition("/")[2] for n in names if n.startswith("iostrata/_native/")}
    assert parts == PARTS | {"iostrata-load.jar"}
    assert {name.partition("/")[0] for name in names if "dist-info" not in name} == {"iostrata"}
    assert [name for name in names if "/tests/" in name] == []
    report = ROOT / "src/iostrata/show/_report"
    built = {f"iostrata/show/_report/{path.name}" for path in report.glob("*") if path.is_file()}
    assert built | {"iostrata/analyse/_compiled.json"} <= set(names)
    assert wheel.stat().st_size < 20e6


def test_what_needs_a_newer_system_is_not_handed_out() -> None:
    """What is built here needs this machine's glibc, which the oldest system has not."""
    wrong = {
        "needs glibc": System("x86_64"),
        "is for processor": System("aarch64"),
        "needs a glibc": System("x86_64", None),
    }
    for name in NATIVES:
        binary = (ROOT / "target/release" / name).read_bytes()
        here = needed_glibc(binary)
        assert here is not None
        assert here > GLIBC
        System("x86_64", here).check(name, binary)
        for why, system in wrong.items():
            with pytest.raises(DistError, match=why):
                system.check(name, binary)


@pytest.mark.soak
def test_each_system_gets_what_runs_on_it(dist: Path) -> None:
    made = [system for system in SYSTEMS if (dist / system.tarball).exists()]
    print("made for", [system.target for system in made])
    assert System("x86_64") in made
    for system in made:
        (wheel,) = dist.glob(f"iostrata-[0-9]*{system.wheel_tag}.whl")
        with zipfile.ZipFile(wheel) as packed, tarfile.open(dist / system.tarball) as tar:
            for name in NATIVES:
                binary = packed.read(f"iostrata/_native/{name}")
                system.check(name, binary)
                on_node = tar.extractfile(f"iostrata-node/{name}")
                assert on_node is not None
                assert on_node.read() == binary


JAVA_8 = 52


def newer_than_java_8(jar: Path) -> list[str]:
    """Class files of a jar that a JVM of Java 8 would reject."""
    with zipfile.ZipFile(jar) as packed:
        classes = [name for name in packed.namelist() if name.endswith(".class")]
        assert classes
        major = {name: int.from_bytes(packed.read(name)[6:8], "big") for name in classes}
    return [name for name, version in major.items() if version > JAVA_8]


def test_what_runs_in_jvms_is_for_java_8(tmp_path: Path) -> None:
    for part in ("agent", "tfs", "load"):
        jar = f"{part}/target/iostrata-{part}.jar"
        assert newer_than_java_8(ROOT / "java" / jar) == []
    # AND one that is not would be found
    (tmp_path / "New.java").write_text("class New {}")
    run(["javac", "--release", "11", "New.java"], tmp_path)
    with zipfile.ZipFile(tmp_path / "new.jar", "w") as packed:
        packed.write(tmp_path / "New.class", "New.class")
    assert newer_than_java_8(tmp_path / "new.jar") == ["New.class"]


def test_the_wheel_of_the_lab_holds_its_jar_and_no_tests(wheel: Path, lab_wheel: Path) -> None:
    version = wheel.name.split("-")[1]
    assert lab_wheel.name == f"iostrata_lab-{version}-py3-none-any.whl"
    with zipfile.ZipFile(lab_wheel) as packed:
        names = packed.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        needed = packed.read(metadata).decode()
    assert f"Requires-Dist: iostrata=={version}\n" in needed
    assert {name.partition("/")[0] for name in names if "dist-info" not in name} == {"iostrata_lab"}
    assert "iostrata_lab/iostrata-jobs.jar" in names
    assert "iostrata_lab/clusters/hadoop/pom.xml" in names
    assert [name for name in names if "/tests/" in name] == []


def test_the_wheels_record_a_jvm_and_know_labs(
    wheel: Path, lab_wheel: Path, tmp_path: Path, program: Path
) -> None:
    """GIVEN an empty environment WHEN the wheel is all that is installed THEN it records."""
    (uv,) = sorted((ROOT / ".uv").glob("*/bin/uv"))[-1:]
    locked = tmp_path / "locked.txt"
    export: Words = [uv, "export", "--quiet", "--frozen", "--no-dev", "--no-hashes"]
    run(
        [*export, "--no-emit-workspace", "--project", ROOT, "--output-file", locked],
        tmp_path,
    )
    run([uv, "venv", "--quiet", "--python", sys.executable, "empty"], tmp_path)
    python = tmp_path / "empty/bin/python"
    install: Words = [uv, "pip", "install", "--quiet", "--python", python, "-c", locked]
    run([*install, wheel], tmp_path)
    iostrata = tmp_path / "empty/bin/iostrata"
    where = run([python, "-c", "import iostrata; print(iostrata.__file__)"], tmp_path).strip()
    assert Path(where).is_relative_to(tmp_path / "empty")

    store, file = tmp_path / "store", tmp_path / "data"
    record: Words = [iostrata, "record", "--private", "--run", "r", "--budget", "off", "--"]
    said = run([*record, *reads(program, file)], tmp_path, IOSTRATA_STORE=str(store))
    assert said == f"read {CALLS * SIZE}\n"
    assert recorded(iostrata, tmp_path, file, store) == EXPECTED
    code = "import iostrata; print(iostrata.open('r').completeness)"
    traced = run([python, "-c", code], tmp_path, IOSTRATA_STORE=str(store))
    assert traced == "['traced 1/1 processes, 0 dropped']\n"
    # AND of these sources the SQL is compiled that came along
    code = "from iostrata.analyse.compiled import compiled; print(compiled('rule small-reads'))"
    assert run([python, "-c", code], tmp_path).startswith("SELECT")
    checks = run([iostrata, "doctor", "--json"], tmp_path)
    assert f"{Path(where).parent}/_native/iostrata-agent.jar" in checks
    assert f"{Path(where).parent}/_native/iostrata-native" in checks

    # AND what the lab brings is named, which comes with its own wheel
    for words in (["lab", "status"], ["demo"], ["record", "--lab", "x", "--", "true"]):
        missing = subprocess.run(
            [iostrata, *words], env=without_checkout(), capture_output=True, text=True, check=False
        )
        assert missing.returncode in (2, 125)
        (line,) = missing.stderr.splitlines()
        assert line.endswith(" · pip install iostrata-lab")
    assert "workload" not in run([iostrata, "--help"], tmp_path)
    run([*install, lab_wheel], tmp_path)
    assert "workload" in run([iostrata, "--help"], tmp_path)
    assert "terasort" in run([iostrata, "workload", "list"], tmp_path)
    labs = run([iostrata, "lab", "status"], tmp_path, IOSTRATA_LAB_HOME=str(tmp_path / "labs"))
    assert labs == "no labs: start one with iostrata lab up hadoop\n"
    jar = "from iostrata_lab.artifacts import jobs_jar; print(jobs_jar())"
    packed = run([python, "-c", jar], tmp_path).strip()
    assert Path(packed).is_relative_to(tmp_path / "empty")


@pytest.fixture
def node(dist: Path, tmp_path: Path) -> Path:
    """The unpacked tarball."""
    with tarfile.open(dist / "iostrata-node-x86_64.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "iostrata-node"


def start_command(node: Path, folder: Path) -> list[str]:
    """ExecStart of the unit, on folders of this test."""
    unit = (node / "iostrata-collect.service").read_text()
    (line,) = re.findall(r"(?m)^ExecStart=(.*)$", unit)
    assert line in (node / "README.md").read_text()
    for there, here in (
        ("/opt/iostrata", node),
        ("/dev/shm/iostrata", folder / "shm"),
        ("/var/lib/iostrata", folder / "store"),
    ):
        assert there in line
        line = line.replace(there, str(here))
    return shlex.split(line)


@pytest.fixture
def collector(node: Path, tmp_path: Path) -> Iterator[Path]:
    """The collector of the tarball, started as its unit does; its directory."""
    (tmp_path / "store").mkdir()
    with subprocess.Popen(start_command(node, tmp_path), env=without_checkout()) as started:
        try:
            deadline = time.monotonic() + 180
            while not (tmp_path / "shm/collector").exists() and time.monotonic() < deadline:
                assert started.poll() is None
                time.sleep(0.05)
            yield tmp_path / "shm"
            started.send_signal(signal.SIGTERM)
            assert started.wait(40) == 0
        finally:
            started.kill()


def test_the_tarball_collects(
    collector: Path,
    node: Path,
    tmp_path: Path,
    program: Path,
    iostrata: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """GIVEN a node with only the tarball WHEN a run uses it THEN its numbers are exact."""
    assert {path.name for path in node.iterdir()} == PARTS | {
        "iostrata-collect.service",
        "README.md",
        "LICENSE",
    }
    file = tmp_path / "data"
    agent = {"IOSTRATA_AGENT": str(node / "iostrata-agent.jar")}
    words = [str(word) for word in reads(program, file)]
    done = iostrata("record", "--dir", str(collector), "--run", "r", "--", *words, **agent)
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n")
    command = Path(sys.executable).with_name("iostrata")
    assert recorded(command, tmp_path, file, tmp_path / "store") == EXPECTED


def test_the_tarball_is_the_same_each_time(dist: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts/dist.py"), "--here", "--to", str(tmp_path)]
    if os.environ.get("SOAK"):
        command.remove("--here")
    subprocess.run(command, check=True)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (dist / path.name).read_bytes(), path.name
