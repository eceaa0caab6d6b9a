"""A recorded run in every format, read back: its calls and bytes are those of the sums."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from tests.e2e.test_java import CALLS, java

Iostrata = Callable[..., CompletedProcess[str]]
Totals = tuple[int, int | None]  # calls and their bytes, where a format has them
SUMS = 'SELECT sum("count")::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM sums '
SUMS += "WHERE layer = 'java'"


def of_perfetto(data: bytes) -> Totals:
    """Slices that ended, and their bytes."""
    calls = moved = ends = 0
    for packet in Trace.FromString(data).packet:
        event = packet.track_event
        if event.type == TrackEvent.TYPE_SLICE_END:
            ends += 1
        if event.type != TrackEvent.TYPE_SLICE_BEGIN:
            continue
        for entry in packet.interned_data.debug_annotation_names:
            if entry.name == "bytes":
                name = entry.iid
        calls += 1
        moved += sum(note.int_value for note in event.debug_annotations if note.name_iid == name)
    assert ends == calls
    return calls, moved


def of_otlp(data: bytes) -> Totals:
    spans = [
        span
        for line in data.splitlines()
        for resource in json.loads(line)["resourceSpans"]
        for span in resource["scopeSpans"][0]["spans"]
    ]
    facts = [fact for span in spans for fact in span["attributes"]]
    sizes = [fact["value"]["intValue"] for fact in facts if fact["key"] == "iostrata.bytes"]
    return len({span["spanId"] for span in spans}), sum(map(int, sizes))


def of_strace(data: bytes) -> Totals:
    lines = data.decode("ascii").splitlines()
    form = re.compile(r"\d+ \d+\.\d{9} \w+\(.*\) = (-1 |\d+).*<\d+\.\d{9}>")
    found = [form.fullmatch(line) for line in lines]
    assert all(found)
    moving = [match for match in found if match and " openat(" not in match[0]]
    return len(lines), sum(max(0, int(match[1])) for match in moving)


def of_csv(data: bytes) -> Totals:
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))
    return len(rows), sum(int(row["bytes"]) for row in rows)


def of_speedscope(data: bytes) -> Totals:
    profiles = json.loads(data)["profiles"]
    return sum(len(p["events"]) // 2 for p in profiles if p["type"] == "evented"), None


def test_every_format_has_every_call(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    # GIVEN a run of which every call was recorded individually
    file = tmp_path / "data"
    iostrata("record", "--run", "r", "--", *java(program, file))
    (known,) = json.loads(iostrata("query", SUMS, "--format", "json").stdout)
    assert known["calls"] >= 2 * CALLS + 1
    readers = [of_perfetto, of_otlp, of_strace, of_csv, of_speedscope]
    for read in readers:
        # WHEN its calls of Java are exported
        name = read.__name__.removeprefix("of_")
        done = iostrata("export", name, "-o", "made", "--layer", "java")
        calls, moved = read((tmp_path / "made").read_bytes())
        # THEN the file has all calls and bytes, and says so
        assert calls == known["calls"]
        assert re.match(rf"iostrata: {calls:,} ".replace(",", " "), done.stderr)
        assert "not in it" not in done.stderr
        assert moved in (known["bytes"], None)
