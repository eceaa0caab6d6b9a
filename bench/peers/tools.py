"""The peers: how each is put into every JVM of a cluster, and what it has written afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.measure.cluster import Observer
from bench.peers.otlp import Receiver

from iostrata.schema.points import POINTS

OTEL_VERSION = "2.20.1"
HTRACE_HADOOP = "3.2.4"  # the last with HTrace in it: htrace-core4 4.1.0
CACHE = Path(os.environ.get("IOSTRATA_CACHE") or Path.home() / ".cache/iostrata")
JFR_EVENTS = ("jdk.FileRead", "jdk.FileWrite", "jdk.SocketRead", "jdk.SocketWrite")
HTRACE_COMMAND = (sys.executable, str(Path(__file__).with_name("htrace_lab.py")))
Facts = dict[str, Any]


def jfr(folder: Path, stacks: bool) -> Observer:
    """Java Flight Recorder: the four I/O events, each call of any length, nothing else."""
    dumps, repository = folder / "dumps", folder / "repository"
    for path in (dumps, repository):
        path.mkdir(parents=True, exist_ok=True)
    settings = "".join(
        f'<event name="{name}"><setting name="enabled">true</setting>'
        f'<setting name="stackTrace">{"true" if stacks else "false"}</setting>'
        '<setting name="threshold">0 ms</setting></event>'
        for name in JFR_EVENTS
    )
    text = f'<?xml version="1.0"?><configuration version="2.0">{settings}</configuration>'
    (folder / "io.jfc").write_text(text, "utf-8")
    options = f"-XX:StartFlightRecording=filename={dumps},settings={folder}/io.jfc,maxsize=4g"
    return Observer(
        name="jfr-stacks" if stacks else "jfr",
        options=f"{options} -XX:FlightRecorderOptions=repository={repository} -Xlog:jfr=off",
        after=lambda _: jfr_facts(folder),
    )


def jfr_facts(folder: Path) -> Facts:
    """Of the recordings of JVMs that have ended; daemons go on with theirs."""
    files = sorted((folder / "dumps").glob("*.jfr"))
    events = sum(sum(jfr_summary(path).values()) for path in files)
    size = sum(path.stat().st_size for path in files)
    for path in files:
        path.unlink()
    running = sum(p.stat().st_size for p in (folder / "repository").rglob("*.jfr"))
    return {"events": events, "bytes": size, "bytes_of_running": running}


def jfr_summary(path: Path) -> Counter[str]:
    """Events of a recording by type, of the four."""
    said = subprocess.run(["jfr", "summary", path], capture_output=True, text=True, check=True)
    pattern = rf"^ ({'|'.join(map(re.escape, JFR_EVENTS))}) +(\d+)"
    return Counter({name: int(n) for name, n in re.findall(pattern, said.stdout, re.M)})


def jfr_events(folder: Path) -> list[tuple[str, Facts]]:
    """Type and fields of every event, of what ended in order and of what did not."""
    found = []
    for path in [*(folder / "dumps").glob("*.jfr"), *(folder / "repository").rglob("*.jfr")]:
        command = ["jfr", "print", "--json", "--events", ",".join(JFR_EVENTS), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        with suppress(ValueError):  # of a JVM that was killed: what cannot be read is lost
            events = json.loads(done.stdout)["recording"]["events"]
            found += [(event["type"], event["values"]) for event in events]
    return found


def otel(folder: Path, receiver: Receiver, hot: bool) -> Observer:
    """The OpenTelemetry Java agent with method spans on the methods that iostrata traces.

    Records and single bytes (`hot`) make 100,000 spans a MB and are left out of jobs. The queue
    is a hundred times the default, which drops most of what is made here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    properties = {
        "otel.instrumentation.common.default-enabled": "false",
        "otel.instrumentation.methods.enabled": "true",
        "otel.instrumentation.methods.include": methods(hot),
        "otel.traces.exporter": "otlp",
        "otel.metrics.exporter": "none",
        "otel.logs.exporter": "none",
        "otel.exporter.otlp.protocol": "http/protobuf",
        "otel.exporter.otlp.endpoint": receiver.endpoint,
        "otel.bsp.max.queue.size": "262144",
        "otel.bsp.max.export.batch.size": "8192",
        "otel.bsp.schedule.delay": "200",
    }
    path = folder / "otel.properties"
    path.write_text("".join(f"{k}={v}\n" for k, v in properties.items()), "utf-8")

    def facts(_: Path) -> Facts:
        size, names = receiver.take()
        return {"events": names.total(), "bytes": size, "all_names": dict(names)}

    return Observer(
        name="opentelemetry",
        options=f"-javaagent:{otel_jar()} -Dotel.javaagent.configuration-file={path}",
        after=facts,
    )


def methods(hot: bool) -> str:
    """otel.instrumentation.methods.include: `class[method,method];…` of the point table."""
    modes = ("call", "counted", "record") if hot else ("call",)
    by_class: dict[str, set[str]] = {}
    for point in POINTS:
        if point.mode in modes and point.method.isidentifier():
            by_class.setdefault(point.cls, set()).add(point.method)
    return "".join(f"{cls}[{','.join(sorted(names))}];" for cls, names in sorted(by_class.items()))


def otel_jar() -> Path:
    """The agent from Maven Central, in the cache of the labs."""
    name = f"opentelemetry-javaagent-{OTEL_VERSION}.jar"
    if not (CACHE / name).exists():
        artifact = f"io.opentelemetry.javaagent:opentelemetry-javaagent:{OTEL_VERSION}"
        command = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}"]
        subprocess.run([*command, f"-DoutputDirectory={CACHE}"], check=True)
    return CACHE / name


def htrace(folder: Path) -> Observer:
    """HTrace of Hadoop 3.2.4, its last: every span, into files of each JVM's user."""
    folder.mkdir(parents=True, exist_ok=True)
    properties = {}
    for prefix in ("fs.client.htrace", "dfs.htrace", "hadoop.htrace"):
        properties[f"{prefix}.span.receiver.classes"] = (
            "org.apache.htrace.core.LocalFileSpanReceiver"
        )
        properties[f"{prefix}.sampler.classes"] = "org.apache.htrace.core.AlwaysSampler"
        properties[f"{prefix}.local.file.span.receiver.path"] = f"{folder}/spans"
    return Observer(
        name="htrace",
        properties=properties,
        command=HTRACE_COMMAND,
        version=HTRACE_HADOOP,
        # Guice calls ClassLoader#defineClass, in the ApplicationMaster, too.
        jvm="--add-opens=java.base/java.lang=ALL-UNNAMED",
        after=lambda _: htrace_facts(folder),
    )


def htrace_spans(folder: Path) -> Counter[str]:
    """Spans by description, of what was written whole.

    The receiver means to end each span with a line feed, but its buffer of one has been used up
    by the first: they follow one another.
    """
    found: Counter[str] = Counter()
    decoder = json.JSONDecoder()
    for path in folder.glob("spans*"):
        text, at = path.read_text("utf-8", errors="replace"), 0
        while (at := text.find("{", at)) >= 0:
            try:
                span, at = decoder.raw_decode(text, at)
            except ValueError:
                at += 1
            else:
                found[span.get("d", "")] += 1
    return found


def htrace_facts(folder: Path) -> Facts:
    """Of all JVMs. Those that go on have the file open: it is emptied, not removed."""
    names = htrace_spans(folder)
    size = 0
    for path in folder.glob("spans*"):
        size += path.stat().st_size
        os.truncate(path, 0)
    return {"events": names.total(), "bytes": size, "all_names": dict(names)}


def empty(folder: Path) -> None:
    """Removes what a tool wrote, and keeps its folders."""
    for path in [p for p in folder.rglob("*") if p.suffix == ".jfr" or p.name.startswith("spans")]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
