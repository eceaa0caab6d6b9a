"""The native loader: woven classes from a cache, and everything that may be wrong with a cache."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.e2e.conftest import Verifies
from tests.e2e.jdks import JDKS, java_home
from tests.e2e.serving import wait_until
from tests.e2e.truth import Run

from iostrata.artifacts import agent_jar, native_loader
from iostrata.schema.events import VERSION
from iostrata.schema.points import POINTS_HASH

JARS = Path(__file__).parents[2] / "java/agent/target/hadoop/3.5.0"
Iostrata = Callable[..., subprocess.CompletedProcess[str]]
# Of a process page: where things are.
PAGE = tomllib.loads((Path(__file__).parents[2] / "schema/events.toml").read_text())["process"]
POINTS, MAX_POINTS = PAGE["points"], PAGE["max_points"]
PROCESS_STATE, DETACHED = 48, 3
WOVEN, FAULTED = 1, 2
FILE_INPUT_READ = 3  # java.io.FileInputStream#read([BII), loaded before any agent
RANDOM_READ = 23  # java.io.RandomAccessFile#read([BII), loaded when the program asks
GC_PAUSE = 330
LOG_SYNC = 317  # FSEditLog#logSync
NAMENODE = "org/apache/hadoop/hdfs/server/namenode"


# A JDK a test and day; both in make soak.
pytestmark = pytest.mark.one_of("bench")


@dataclass
class Traced:
    """What one JVM said and left."""

    said: list[str]
    out: str
    code: int
    text: dict[str, str] = field(default_factory=dict)
    states: dict[int, int] = field(default_factory=dict)


@dataclass
class Bench:
    """A folder with jar, library, cache, trace directory and programs of one test."""

    folder: Path
    java: Path
    program: Path

    def __post_init__(self) -> None:
        for file in (agent_jar(), native_loader()):
            shutil.copy(file, self.folder)
        self.loader = self.folder / native_loader().name
        self.jar = self.folder / agent_jar().name
        self.cache = self.folder / "cache"
        self.traces = self.folder / "traces"
        self.data = self.folder / "data"
        for made in (self.traces, self.data):
            made.mkdir()

    def options(self, more: str = "") -> list[str]:
        return [f"-agentpath:{self.loader}=dir={self.traces},cache={self.cache}{more}"]

    def command(self, *options: str) -> list[str]:
        return [str(self.java), *options, "-cp", str(self.program), "EveryFileCall", str(self.data)]

    def run(self, *options: str, command: list[str] | None = None) -> Traced:
        command = command or self.command(*(options or self.options()))
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
        return self.read(Traced(done.stderr.splitlines(), done.stdout, done.returncode))

    def read(self, traced: Traced) -> Traced:
        """Adds what the process page says, and takes it away."""
        for page in self.traces.glob("*/*/process"):
            raw = page.read_bytes()
            text, text_size = PAGE["text"], PAGE["text_size"]
            size = int.from_bytes(raw[text_size : text_size + 4], "little")
            lines = raw[text : text + size].decode().splitlines()
            traced.text = dict(line.split("=", 1) for line in lines)
            states = {point: raw[POINTS + 8 * point] for point in range(MAX_POINTS)}
            traced.states = {point: state for point, state in states.items() if state}
            shutil.rmtree(page.parent)
        return traced

    def entries(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.cache.glob("*")}


@pytest.fixture(params=JDKS)
def bench(request: pytest.FixtureRequest, tmp_path: Path, program: Path) -> Bench:
    return Bench(tmp_path, java_home(request.param) / "bin/java", program)


def test_checked_jni_has_nothing_to_say(bench: Bench, iostrata: Iostrata) -> None:
    """-Xcheck:jni prints what native code does wrong, on stdout."""
    checked = bench.command("-Xcheck:jni")
    plain = bench.run(command=checked)
    done = iostrata("record", "--run", "checked", "--", *checked)
    assert (done.stdout, done.returncode) == (plain.out, plain.code)
    assert "traced 1/1 processes" in done.stderr


def test_the_second_jvm_gets_what_the_first_has_woven(bench: Bench) -> None:
    portable = bench.run(f"-javaagent:{bench.jar}=dir={bench.traces}")
    # WHEN
    first = bench.run()
    kept = bench.entries()
    log = bench.folder / "classes.log"
    second = bench.run(*bench.options(), f"-Xlog:class+load:file={log}")
    # THEN each says one line and works
    for traced in (portable, first, second):
        assert traced.said == [f"iostrata 0.1.0: ready in {bench.traces}, off"]
        assert traced.code == 0
    assert first.out == second.out == portable.out
    # AND the second has woven nothing itself
    loaded = log.read_text()
    assert re.search(r"\.agent\.Hooks\b", loaded)
    assert ".agent.asm." not in loaded
    assert len(kept) >= 4
    assert bench.entries() == kept
    # AND the points are in the same states, those that only -javaagent loads aside
    assert first.states == second.states
    assert first.states.items() <= portable.states.items()
    assert first.states[FILE_INPUT_READ] == first.states[RANDOM_READ] == WOVEN
    assert (second.text["loader"], second.text["cache"]) == ("native", str(bench.cache))


def test_what_was_tampered_with_is_woven_anew(bench: Bench) -> None:
    good = bench.run()
    kept = bench.entries()
    for name, raw in kept.items():
        (bench.cache / name).write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    # WHEN
    again = bench.run()
    # THEN
    assert (again.code, again.out, again.states) == (0, good.out, good.states)
    assert bench.entries() == kept


def test_starters_at_once_leave_whole_files(bench: Bench) -> None:
    jvms = []
    for i in range(6):
        bench.data = bench.folder / f"data-{i}"
        bench.data.mkdir()
        command = bench.command(*bench.options())
        jvms.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
    ends = [jvm.communicate(timeout=180) for jvm in jvms]
    assert [jvm.returncode for jvm in jvms] == [0] * len(jvms), ends
    kept = bench.entries()
    assert not [name for name in kept if name.startswith(".")]
    for page in bench.traces.glob("*/*"):
        shutil.rmtree(page)
    # WHEN
    after = bench.run()
    # THEN
    assert after.states[FILE_INPUT_READ] == WOVEN
    assert bench.entries() == kept


def test_another_jar_never_gets_the_classes_of_the_last(bench: Bench) -> None:
    first = bench.run()
    kept = bench.entries()
    # the same jar but for bytes in front that no reader of zip files minds: another version
    bench.jar.write_bytes(b"\0" * 64 + bench.jar.read_bytes())
    # WHEN
    second = bench.run()
    # THEN
    assert (second.said, second.states) == (first.said, first.states)
    assert bench.entries().items() > kept.items()
    assert len(bench.entries()) == 2 * len(kept)


def test_a_library_of_another_build_says_so(bench: Bench) -> None:
    raw = bench.loader.read_bytes()
    known = POINTS_HASH.to_bytes(8, "little")
    assert raw.count(known) >= 1
    bench.loader.write_bytes(raw.replace(known, (POINTS_HASH ^ 1).to_bytes(8, "little")))
    traced = bench.run()
    assert traced.code == 0
    assert traced.said == [
        "iostrata 0.1.0: not tracing: library and jar are of two builds: install both of one"
    ]


@pytest.mark.parametrize("trouble", ["a file", "no folder", "open to all", "read-only", "foreign"])
def test_without_a_usable_cache_each_jvm_weaves_for_itself(bench: Bench, trouble: str) -> None:
    portable = bench.run(f"-javaagent:{bench.jar}=dir={bench.traces}")
    if trouble == "a file":
        bench.cache.write_text("")
    elif trouble == "no folder":
        bench.cache = bench.folder / "not/there"
    elif trouble == "open to all":
        bench.cache.mkdir()
        bench.cache.chmod(0o777)
    elif trouble == "read-only":
        bench.cache = Path("/sys/kernel")  # root's, and takes no file from anybody
    elif os.geteuid() != 0:
        pytest.skip("giving a folder away needs root")
    else:
        bench.cache.mkdir()
        os.chown(bench.cache, 4242, 4242)
    # WHEN
    traced = bench.run()
    # THEN
    assert (traced.code, traced.out, traced.said) == (0, portable.out, portable.said)
    assert traced.states[FILE_INPUT_READ] == traced.states[RANDOM_READ] == WOVEN
    if trouble != "read-only":
        assert traced.text["cache"].startswith(f"none: {bench.cache}: ")


def test_two_agents(bench: Bench) -> None:
    already = "iostrata 0.1.0: not tracing: this JVM has an agent already"
    ready = f"iostrata 0.1.0: ready in {bench.traces}, off"
    portable = f"-javaagent:{bench.jar}=dir={bench.traces}"
    for both in ([*bench.options(), portable], bench.options() * 2):
        traced = bench.run(*both)
        second, first = sorted(traced.said)
        assert (traced.code, first) == (0, ready), both
        assert second.startswith(already)
        assert traced.states[FILE_INPUT_READ] == WOVEN


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            "dir=/no/such",
            "/no/such does not exist; in a container: "
            "docker run --ipc=host, or -v /no/such:/no/such",
        ),
        ("dir={dir},what=1", "option what=1 is none of dir=DIRECTORY, run=RUN, cap=BYTES"),
        ("dir={dir},jar=/no/such.jar", "/no/such.jar: No such file or directory (os error 2)"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(bench: Bench, options: str, why: str) -> None:
    plain = bench.run("-Xshare:auto")
    with_options = options.format(dir=bench.traces)
    traced = bench.run(f"-agentpath:{bench.loader}={with_options}")
    assert (traced.code, traced.out) == (0, plain.out)
    assert traced.said == [f"iostrata 0.1.0: not tracing: {why}"]


def test_a_class_loader_that_hides_the_hooks(bench: Bench, tmp_path: Path) -> None:
    classes = tmp_path / "classes"
    fake = tmp_path / "FSEditLog.java"
    fake.write_text(
        f"package {NAMENODE.replace('/', '.')};\n"
        "public class FSEditLog { public void logSync(long id) {} }\n"
    )
    source = Path(__file__).with_name("HiddenHooks.java")
    javac = [str(bench.java.with_name("javac")), "--release", "8", "-Xlint:-options"]
    subprocess.run([*javac, "-d", str(classes), str(fake), str(source)], check=True)

    def run(how: str) -> Traced:
        program = ["-cp", str(classes), "HiddenHooks", how, f"{classes}/"]
        return bench.run(command=[str(bench.java), *bench.options(), *program])

    # the class is in the cache when the hiding loader asks for it
    assert [run("open").states[LOG_SYNC] for _ in range(2)] == [WOVEN, WOVEN]
    kept = bench.entries()
    hidden = run("hiding")
    assert (hidden.out, hidden.code) == ("called\n", 0)
    assert hidden.states[LOG_SYNC] == FAULTED
    assert bench.entries() == kept


def test_it_is_loaded_into_a_running_jvm_and_leaves_it(bench: Bench) -> None:
    source = bench.folder / "Waits.java"
    source.write_text(
        "public class Waits { public static void main(String[] a) throws Exception {\n"
        '  System.out.println("up"); System.in.read(); System.gc(); System.gc();\n'
        '  System.out.println("collected"); System.in.read(); System.out.println("end"); } }\n'
    )
    jvm = subprocess.Popen(
        [str(bench.java), str(source)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert jvm.stdin is not None
    assert jvm.stdout is not None
    assert jvm.stdout.readline() == "up\n"
    options = f"dir={bench.traces},cache={bench.cache}"
    jcmd = [str(bench.java.with_name("jcmd")), str(jvm.pid), "JVMTI.agent_load"]

    def load(options: str) -> None:
        command = [*jcmd, str(bench.loader), f'"{options}"']
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "return code: 0" in done.stdout, done

    def mapped() -> list[str]:
        maps = Path(f"/proc/{jvm.pid}/maps").read_text().splitlines()
        return [line.split()[5] for line in maps if str(bench.traces) in line]

    # WHEN it comes, leaves and comes again
    load(options)
    (page,) = bench.traces.glob("*/*/process")
    assert page.read_bytes()[POINTS + 8 * FILE_INPUT_READ] == WOVEN
    assert str(page) in mapped()
    load("detach")
    assert (
        int.from_bytes(page.read_bytes()[PROCESS_STATE : PROCESS_STATE + 4], "little") == DETACHED
    )
    jvm.stdin.write("\n")
    jvm.stdin.flush()
    assert jvm.stdout.readline() == "collected\n"
    # THEN nothing of the first stay is mapped: the JVM says behind the collection what has gone
    wait_until(lambda: mapped() == [])
    load(options)
    # and the second is like it
    (second,) = set(bench.traces.glob("*/*/process")) - {page}
    assert (
        second.read_bytes()[POINTS : POINTS + 8 * MAX_POINTS : 8]
        == (page.read_bytes()[POINTS : POINTS + 8 * MAX_POINTS : 8])
    )
    out, said = jvm.communicate("\n", timeout=180)
    assert (jvm.returncode, out) == (0, "end\n")
    ready = f"iostrata 0.1.0: ready in {bench.traces}, off"
    ours = [line for line in said.splitlines() if line.startswith("iostrata")]
    assert ours == [ready, "iostrata 0.1.0: detached", ready]


def test_a_cache_that_was_filled_ahead_is_all_a_jvm_needs(bench: Bench, iostrata: Iostrata) -> None:
    hadoop = f"{JARS}/*"
    weave = ("weave", hadoop, "--cache", str(bench.cache), "--java", str(bench.java), "--json")
    # WHEN
    first, second = (json.loads(iostrata(*weave).stdout) for _ in range(2))
    kept = bench.entries()
    log = bench.folder / "classes.log"
    traced = bench.run(*bench.options(), f"-Xlog:class+load:file={log}")
    # THEN
    assert first["cache"] == str(bench.cache)
    found = {one["name"]: (one["state"], one["found"]) for one in first["classes"]}
    assert found["org.apache.hadoop.hdfs.server.datanode.BlockReceiver"][0] == "new"
    assert {one["state"] for one in second["classes"]} == {"known"}
    assert sum(one["found"] for one in second["classes"]) > 200
    assert traced.states[FILE_INPUT_READ] == traced.states[RANDOM_READ] == WOVEN
    assert ".agent.asm." not in log.read_text()
    assert bench.entries() == kept


def test_a_cache_that_cannot_be_filled_is_said_in_one_line(
    iostrata: Iostrata, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    done = iostrata("weave", "--cache", str(tmp_path / "file"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"iostrata: no cache: {tmp_path}/file: Not a directory")
    assert done.stderr.count("\n") == 1


def test_both_ways_give_the_same_sums(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    sums = {}
    for loader in ("javaagent", "native"):
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        (tmp_path / "data").mkdir()
        java = ["java", "-cp", str(program), "EveryFileCall", str(tmp_path / "data")]
        done = iostrata("record", "--run", loader, "--", *java, IOSTRATA_LOADER=loader)
        assert done.returncode == 0
        sql = (
            "SELECT point, sum(count)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM events "
            "WHERE kind = 'sum' AND category = 'file' GROUP BY point ORDER BY point"
        )
        sums[loader] = iostrata("query", sql, "--run", loader, "--format", "csv").stdout
    assert sums["native"].count("\n") > 25
    assert sums["native"] == sums["javaagent"]


@pytest.mark.parametrize("collector", ["Serial", "G1"])
def test_as_many_pauses_as_the_jvm_says(
    collector: str, tmp_path: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    source = tmp_path / "Collects.java"
    source.write_text(
        "public class Collects { public static void main(String[] a) throws Exception {\n"
        "  Thread.sleep(500); for (int i = 0; i < 7; i++) { System.gc(); } } }\n"
    )
    subprocess.run(["javac", "-d", str(tmp_path), str(source)], check=True)
    log = tmp_path / "gc.log"
    options = [f"-XX:+Use{collector}GC", f"-Xlog:gc:file={log}", "-Xmx64m"]
    # WHEN
    java = ["java", *options, "-cp", str(tmp_path), "Collects"]
    done = iostrata("record", "--run", "r", "--", *java, IOSTRATA_LOADER="native")
    assert done.returncode == 0
    # THEN
    said = [line for line in log.read_text().splitlines() if " Pause " in line]
    assert len(said) >= 7
    found = json.loads(iostrata("summary", "r", "--json").stdout)
    (pauses,) = found["pauses"]
    assert (pauses["op"], pauses["processes"], pauses["count"]) == ("gc_pause", 1, len(said))
    verifies(Run(tmp_path / "store", "r"), {GC_PAUSE: len(said)})
    assert 0 < pauses["max"] <= pauses["time"]
    # AND each individually, in no layer of I/O
    assert "jvm" not in {row["layer"] for row in found["layers"]}
    assert "jvm" not in found["silent_layers"] + found["unasked_layers"]
    sql = "SELECT count(*)::BIGINT AS n, min(dur) AS least FROM pauses WHERE kind = 'call'"
    (one,) = json.loads(iostrata("query", sql, "--run", "r", "--format", "json").stdout)
    assert one["n"] == len(said)
    assert one["least"] > 0
    assert f"gc_pause {len(said)} in 1 process," in iostrata("summary", "r", "--full").stdout


def test_the_segment_of_a_thread_is_sealed_when_it_ends(tmp_path: Path, bench: Bench) -> None:
    source = tmp_path / "Ends.java"
    source.write_text(
        "import java.io.*;\n"
        "public class Ends { public static void main(String[] a) throws Exception {\n"
        "  Thread t = new Thread(() -> { try (FileOutputStream o = new FileOutputStream(a[0])) {\n"
        "    o.write(1); } catch (IOException e) { throw new UncheckedIOException(e); } });\n"
        "  t.start(); t.join(); System.exit(0); } }\n"
    )
    subprocess.run(
        [str(bench.java.with_name("javac")), "-d", str(tmp_path), str(source)], check=True
    )
    control = bytearray(4096)
    struct.pack_into("<IHH", control, 0, 0x54534F49, VERSION, 4)
    struct.pack_into("<I", control, 16, 1)
    (bench.traces / "control").write_bytes(control)
    # WHEN the thread ends, and the process at once, without hooks of ours
    command = [str(bench.java), *bench.options(), "-cp", str(tmp_path), "Ends", str(tmp_path / "x")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    # THEN
    assert done.stderr.startswith("iostrata 0.1.0: recording to ")
    segments = [path.read_bytes() for path in bench.traces.glob("*/*/*.seg")]
    states = [int.from_bytes(raw[36:40], "little") for raw in segments]
    assert 2 in states, states
