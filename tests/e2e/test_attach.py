"""Into running JVMs and out of them again: exact while attached, nothing left afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import classdump, truth
from tests.e2e.jdks import JDKS, JDKS_AND_8
from tests.e2e.labs import UNTRACED, Labs
from tests.e2e.serving import Node, Serving, node, serving, wait_until
from tests.e2e.truth import Run

from iostrata.artifacts import agent_jar, native_loader
from iostrata.record.jvms import has_live_agent

CALLS = 300


def acted(on: Node, command: str, pid: int, *options: str) -> dict[str, Any]:
    """What became of the one JVM, which must have agreed."""
    where = ("--dir", str(on.dir)) if command == "attach" else ()
    done = on.iostrata(command, str(pid), "--json", *where, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    (outcome,) = json.loads(done.stdout)
    assert outcome["failed"] == ""
    return dict(outcome)


def calls(run: Run, path: Path) -> dict[str, tuple[int, int]]:
    """Calls and bytes per operation on a file."""
    query = (
        "SELECT op, count(*), sum(bytes)::BIGINT FROM events WHERE kind = 'call' AND target = ? "
        "GROUP BY op"
    )
    return {op: (count, size) for op, count, size in run.rows(query, str(path))}


def file_calls(store: Path) -> int:
    """Calls on files in all sums of a store, those of nobody's run included."""
    return sum(
        Run(store, run.name).one(
            "SELECT coalesce(sum(count), 0)::BIGINT FROM events WHERE kind = 'sum' "
            "AND layer = 'java'"
        )
        for run in store.iterdir()
        if list(run.glob("events/**/*.parquet"))
    )


@pytest.mark.one_of("version")
@pytest.mark.parametrize("version", JDKS_AND_8)
def test_a_jvm_that_runs(version: str, tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN a JVM without agent WHEN one comes THEN each call is there; WHEN it goes, none."""
    exact = {"write": (CALLS, CALLS * 16), "read": (CALLS, CALLS * 16)}
    with serving(classes, JDKS_AND_8[version]) as jvm:
        assert jvm.tell("io", tmp_path / "before", CALLS) == f"io {CALLS * 16}"
        with here.recording("one"):
            outcome = acted(here, "attach", jvm.pid, "--run", "one")
            assert "recording to" in outcome["line"]
            # the classes of java.io were loaded long ago, and changed where they were
            assert outcome["classes"] >= 2
            assert "java.io.FileInputStream#read" in outcome["points"]
            assert has_live_agent(jvm.pid)
            assert jvm.tell("io", tmp_path / "one", CALLS) == f"io {CALLS * 16}"
        run = Run(here.store, "one")
        assert calls(run, tmp_path / "one") == exact
        assert not any(run.losses().values())
        # WHEN
        outcome = acted(here, "detach", jvm.pid)
        # THEN
        assert outcome["line"] == "detached"
        assert outcome["classes"] >= 2
        assert not has_live_agent(jvm.pid)
        wait_until(lambda: here.traces(jvm.pid) == [])
        before = file_calls(here.store)
        with here.recording("two"):
            assert jvm.tell("io", tmp_path / "two", CALLS) == f"io {CALLS * 16}"
        assert file_calls(here.store) == before
        # AND again it does nothing
        assert acted(here, "detach", jvm.pid)["line"] == "no agent is attached"
        # AND what it had mapped goes with the next garbage collection
        subprocess.run(
            [str(JDKS_AND_8[version] / "bin/jcmd"), str(jvm.pid), "GC.run"],
            check=True, capture_output=True,
        )  # fmt: skip
        wait_until(lambda: mapped(jvm.pid, here.dir) == [])
        # AND it can come again
        with here.recording("three"):
            acted(here, "attach", jvm.pid, "--run", "three")
            assert jvm.tell("io", tmp_path / "three", CALLS) == f"io {CALLS * 16}"
            # also in the middle of a run
            acted(here, "detach", jvm.pid)
            assert jvm.tell("io", tmp_path / "late", CALLS) == f"io {CALLS * 16}"
    run = Run(here.store, "three")
    assert calls(run, tmp_path / "three") == exact
    assert calls(run, tmp_path / "late") == {}
    assert run.rows("SELECT exit FROM processes WHERE traced") == [("detached",)]


@pytest.mark.parametrize("ends_by", ["Ctrl-C", "--seconds", "its end"])
def test_alone(ends_by: str, tmp_path: Path, classes: Path) -> None:
    """GIVEN no collector WHEN it is attached to a JVM THEN that is recorded until Ctrl-C, for so
    many seconds, or until the JVM ends; and a JVM that goes on has no agent any more.
    """
    with serving(classes, JDKS["17"]) as jvm:
        options = ("--store", str(tmp_path / "store"), "--run", "alone", "--tag", "a=b")
        limit = ("--seconds", "5") if ends_by == "--seconds" else ()
        recorder = subprocess.Popen(
            [sys.executable, "-m", "iostrata", "attach", str(jvm.pid), *options, *limit],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert recorder.stderr is not None
        assert "recording to" in recorder.stderr.readline()
        assert jvm.tell("io", tmp_path / "file", CALLS) == f"io {CALLS * 16}"
        if ends_by == "Ctrl-C":
            recorder.send_signal(signal.SIGINT)
        if ends_by == "its end":
            assert jvm.end() == 0
        _, said = recorder.communicate()
        assert recorder.returncode == 0, said
        if ends_by != "its end":
            assert not has_live_agent(jvm.pid)
            assert jvm.tell("io", tmp_path / "late", CALLS) == f"io {CALLS * 16}"
    assert said.startswith("iostrata: traced 1/1 processes"), said
    run = Run(tmp_path / "store", "alone")
    assert calls(run, tmp_path / "file") == dict.fromkeys(("write", "read"), (CALLS, CALLS * 16))
    assert calls(run, tmp_path / "late") == {}
    facts = json.loads((run.path / "run.json").read_text())
    assert (facts["state"], facts["tags"]) == ("ok", {"a": "b"})
    assert facts["command"] == ["iostrata", "attach", str(jvm.pid)]
    assert not list(Path("/dev/shm").glob("iostrata-*-alone-*"))


def mapped(pid: int, directory: Path) -> list[str]:
    """Traces of the process that are still in its memory."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [line for line in lines if f"{directory}/{os.getuid()}/" in line]


def test_started_with_the_agent(tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN a JVM that was started with the agent THEN a second one is refused, and it can go."""
    option = f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir},run=one"
    with serving(classes, JDKS["17"], option) as jvm:
        with here.recording("one"):
            jvm.tell("io", tmp_path / "one", CALLS)
        done = here.iostrata("attach", str(jvm.pid), "--dir", str(here.dir))
        assert done.returncode == 2
        assert f"pid {jvm.pid} has an agent already · iostrata detach {jvm.pid}" in done.stderr
        acted(here, "detach", jvm.pid)
        wait_until(lambda: here.traces(jvm.pid) == [])
        with here.recording("two"):
            jvm.tell("io", tmp_path / "two", CALLS)
    assert calls(Run(here.store, "one"), tmp_path / "one")["write"] == (CALLS, CALLS * 16)


def newer(folder: Path) -> Path:
    """The agent as a later version is built: all its classes in another package."""
    folder.mkdir()
    jar = folder / "iostrata-agent.jar"
    # as long: sizes in the constant pools stay true
    changes = [(b"v0_1_0", b"v9_9_9"), (b"0.1.0", b"9.9.9")]
    with zipfile.ZipFile(agent_jar()) as old, zipfile.ZipFile(jar, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            for before, after in changes:
                content = content.replace(before, after)
            new.writestr(entry.filename.replace("v0_1_0", "v9_9_9"), content)
    library = native_loader().read_bytes()
    for before, after in changes:
        library = library.replace(before, after)
    (folder / native_loader().name).write_bytes(library)
    return jar


def test_a_newer_version(tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN an agent WHEN it has gone THEN a newer one comes, and each sees the other."""
    jar = newer(tmp_path / "newer")
    with (
        node(tmp_path / "later", IOSTRATA_AGENT=str(jar)) as later,
        serving(classes, JDKS["17"]) as jvm,
    ):
        with here.recording("one"):
            acted(here, "attach", jvm.pid, "--run", "one")
            jvm.tell("io", tmp_path / "one", CALLS)
            # two at a time would count everything twice
            log = subprocess.run(
                [str(JDKS["17"] / "bin/jcmd"), str(jvm.pid), "JVMTI.agent_load", str(jar)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            print(log.stdout)
            jvm.tell("io", tmp_path / "still", CALLS)
        acted(here, "detach", jvm.pid)
        with later.recording("two"):
            acted(later, "attach", jvm.pid, "--run", "two")
            wait_until(lambda: here.traces(jvm.pid) == [])  # read to their end, then unlinked
            jvm.tell("io", tmp_path / "two", CALLS)
        # the older command line ends the newer agent
        acted(here, "detach", jvm.pid)
        assert not has_live_agent(jvm.pid)
        agents = Run(later.store, "two").rows("SELECT agent FROM processes WHERE traced")
    one = Run(here.store, "one")
    assert calls(one, tmp_path / "one")["write"] == (CALLS, CALLS * 16)
    assert calls(one, tmp_path / "still")["write"] == (CALLS, CALLS * 16)
    assert calls(Run(later.store, "two"), tmp_path / "two")["write"] == (CALLS, CALLS * 16)
    assert agents == [("9.9.9",)]


def refused(on: Node, pid: int) -> str:
    done = on.iostrata("attach", str(pid), "--dir", str(on.dir))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    return line


def test_who_cannot_be_attached_to(tmp_path: Path, classes: Path, here: Node) -> None:
    """Each says why in one line, and lives on."""
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        assert f"pid {sleeper.pid} is no JVM" in refused(here, sleeper.pid)
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()
    assert f"pid {sleeper.pid}: there is no such process" in refused(here, sleeper.pid)
    # SIGQUIT would end it
    with serving(classes, JDKS["17"], "-Xrs") as jvm:
        assert f"pid {jvm.pid} does not handle SIGQUIT" in refused(here, jvm.pid)
        assert jvm.tell("io", tmp_path / "a", 1) == "io 16"
    with serving(classes, JDKS["17"], "-XX:+DisableAttachMechanism") as jvm:
        assert f"pid {jvm.pid} runs with -XX:+DisableAttachMechanism" in refused(here, jvm.pid)
        assert jvm.tell("io", tmp_path / "a", 1) == "io 16"
    # the option out of sight: the JVM's own performance data says so
    options = tmp_path / "options"
    options.write_text("-XX:+DisableAttachMechanism\n")
    with serving(classes, JDKS["17"], f"@{options}") as jvm:
        assert f"pid {jvm.pid} runs with -XX:+DisableAttachMechanism" in refused(here, jvm.pid)
    with serving(classes, JDKS["25"], "-XX:-EnableDynamicAgentLoading") as jvm:
        assert "did not load the agent" in refused(here, jvm.pid)
        assert jvm.tell("io", tmp_path / "a", 1) == "io 16"
    with serving(classes, JDKS["17"]) as jvm:
        done = here.iostrata("attach", str(jvm.pid), "--dir", str(tmp_path / "none"))
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert f"no collector is alive in {tmp_path}/none" in done.stderr


def test_a_jvm_that_stands_still(classes: Path, here: Node) -> None:
    """GIVEN a stopped JVM THEN it is not asked: it would print its stacks when it goes on."""
    with serving(classes, JDKS["17"]) as jvm:
        os.kill(jvm.pid, signal.SIGSTOP)
        try:
            assert f"pid {jvm.pid} is stopped" in refused(here, jvm.pid)
        finally:
            os.kill(jvm.pid, signal.SIGCONT)
        assert jvm.tell("io", here.folder / "a", 1) == "io 16"


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to run a JVM as another user")
def test_a_jvm_of_another_user_in_a_namespace(tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN root and a JVM of another user with pids of its own THEN it is attached to as that
    user, by the pid it knows itself by."""
    home = JDKS["17"]
    classes_for_all = Path("/tmp") / f"iostrata-classes-{os.getpid()}"
    subprocess.run(["cp", "-r", str(classes), str(classes_for_all)], check=True)
    subprocess.run(["chmod", "-R", "a+rX", str(classes_for_all)], check=True)
    out = classes_for_all / "out"
    out.mkdir(mode=0o777)
    out.chmod(0o777)
    command = [
        "unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
        "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
        str(home / "bin/java"), "-cp", str(classes_for_all), "Serves",
    ]  # fmt: skip
    jvm = Serving.__new__(Serving)
    try:
        jvm.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert jvm.answer() == "ready"
        children = Path(f"/proc/{jvm.child.pid}/task/{jvm.child.pid}/children").read_text()
        pid = int(children.split()[0])
        with here.recording("one"):
            outcome = acted(here, "attach", pid)
            assert "recording to" in outcome["line"]
            assert [path.parent.name for path in here.dir.glob("65534/*")] == ["65534"]
            assert jvm.tell("io", out / "a", CALLS) == f"io {CALLS * 16}"
        acted(here, "detach", pid)
        assert jvm.end() == 0
    finally:
        if jvm.child.poll() is None:
            jvm.child.kill()
            jvm.child.wait()
        subprocess.run(["rm", "-rf", str(classes_for_all)], check=True)


def proves(jdk: Path, on: Node, pid: int, folder: Path, packages: list[str], run: str = "") -> None:
    """While attached the methods of points differ, and no others; afterwards none does."""
    before = classdump.methods(jdk, pid, folder / "before", packages)
    acted(on, "attach", pid, *(["--run", run] if run else []))
    attached = classdump.methods(jdk, pid, folder / "attached", packages)
    acted(on, "detach", pid)
    after = classdump.methods(jdk, pid, folder / "after", packages)

    before = {key: before[key] for key in before.keys() & attached.keys() & after.keys()}
    assert {"java.io.FileInputStream", "java.io.FileOutputStream"} <= {key[0] for key in before}
    changed = {key for key in before if attached[key] != before[key]}
    for key in changed:
        if "/agent/Hooks." not in attached[key]:
            print(key, before[key], attached[key], sep="\n")
    assert changed
    assert changed == {key for key in before if "/agent/Hooks." in attached[key]}
    # a native or abstract one has no code
    expected = {key for key in before if classdump.with_point(key) and "Code:" in before[key]}
    assert changed == expected
    assert {key for key in before if after[key] != before[key]} == set()
    assert not any("iostrata" in code for code in after.values())
    print(f"{len(before)} methods, {len(changed)} of them changed while attached, none after")


@pytest.mark.one_of("version")
@pytest.mark.parametrize("version", JDKS)
def test_bytes_of_the_classes(version: str, tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN the class bytes of a live JVM THEN after detach each method is what it was."""
    with serving(classes, JDKS[version]) as jvm:
        jvm.tell("io", tmp_path / "a", CALLS)  # woven methods are compiled, too
        proves(JDKS[version], here, jvm.pid, tmp_path, ["java.io", "java.net", "sun.nio"])
        assert jvm.tell("io", tmp_path / "a", CALLS) == f"io {CALLS * 16}"


SIZE = 3_000_000


@pytest.mark.cluster
@pytest.mark.drawn("whole clusters", 2)
def test_daemons_that_run(tmp_path: Path, here: Node, labs: Labs) -> None:
    """GIVEN a NameNode and a DataNode without agent WHEN it comes THEN a write adds up; WHEN it
    goes THEN nothing of theirs is recorded and nothing of it is left."""
    from iostrata_lab import clusters

    data = tmp_path / "data"
    data.write_bytes(os.urandom(SIZE))
    cluster = labs.at(*UNTRACED)
    found = clusters.find(cluster.name)
    daemons = {daemon.role.split("-")[0]: daemon.pid for daemon in found.daemons()}
    pids = [daemons["namenode"], daemons["datanode"]]
    here.environment.update(found.environment())

    def put(run: str) -> None:
        words = ["record", "--dir", str(here.dir), "--run", run, "--"]
        done = here.iostrata(*words, "hdfs", "dfs", "-put", str(data), f"/attached-{run}")
        assert done.returncode == 0

    # the bytes of its classes first
    proves(
        JDKS["17"], here, daemons["datanode"], tmp_path / "dump",
        ["org.apache.hadoop.hdfs.server.datanode", "java.io", "sun.nio.ch"],
    )  # fmt: skip
    for pid in pids:
        assert acted(here, "attach", pid)["points"]
    put("one")
    run = Run(here.store, "one")
    (block,) = cluster.blocks("/attached-one")
    problems = list(truth.loss_problems(run))
    for rule, where in truth.DATANODE_WRITE.items():
        problems += truth.compare(rule, "put", moved(run, where), SIZE)
    problems += truth.compare("client", "put", moved(run, truth.CLIENT_WRITE), SIZE)
    meta = truth.meta_bytes(block.size)
    problems += truth.compare("meta", "put", moved(run, truth.META_WRITE), meta)
    assert problems == []
    roles = run.rows("SELECT role FROM processes WHERE traced ORDER BY role")
    assert roles == [("DataNode",), ("NameNode",), ("client",)]
    # the call of the client is the cause of the NameNode's and of the DataNode's
    caused = "SELECT DISTINCT layer FROM events WHERE parent_proc IS NOT NULL AND kind = 'call'"
    assert {"rpc", "datanode"} <= {layer for (layer,) in run.rows(caused)}
    # WHEN
    for pid in pids:
        acted(here, "detach", pid)
    # THEN
    wait_until(lambda: all(here.traces(pid) == [] for pid in pids))
    put("two")
    run = Run(here.store, "two")
    assert moved(run, truth.CLIENT_WRITE) == SIZE
    assert run.rows("SELECT DISTINCT role FROM events") == [("client",)]
    listing = cluster.hadoop("hdfs", "dfs", "-checksum", "/attached-one", "/attached-two").split()
    assert listing[2] == listing[5]


def moved(run: Run, where: str) -> int:
    """Bytes of the sums, without what an enclosing call counts too."""
    query = (
        "SELECT coalesce(sum(bytes), 0)::BIGINT FROM events WHERE kind = 'sum' "
        f"AND (flags & {truth.COVERED}) = 0 AND {where}"
    )
    return int(run.one(query))
