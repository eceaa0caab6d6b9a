"""Perfetto's trace, read back with the classes of its own package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent

from iostrata.show.export.tests.runs import CALLS, DATANODE, HOSTILE, MS, call, export, make
from iostrata.store.tests.made import START


class Read:
    """A trace as its viewer understands it: names, where tracks are, and slices that ended."""

    def __init__(self, data: bytes) -> None:
        self.trace = Trace.FromString(data)
        self.tracks: dict[int, Any] = {}
        self.slices: list[dict[str, Any]] = []
        self.counters: dict[str, list[tuple[int, float]]] = {}
        interned: dict[tuple[int, str, int], str] = {}
        above: dict[int, list[dict[str, Any]]] = {}
        for packet in self.trace.packet:
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.sequence_flags & TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
                sequence = packet.trusted_packet_sequence_id
                interned = {key: name for key, name in interned.items() if key[0] != sequence}
            self._intern(packet, interned)
            if packet.HasField("track_event"):
                self._event(packet, interned, above.setdefault(packet.track_event.track_uuid, []))
        assert not any(above.values())

    def _intern(self, packet: Any, interned: dict[tuple[int, str, int], str]) -> None:
        for kind, entries in packet.interned_data.ListFields():
            for entry in entries:
                name = entry.str.decode() if kind.name.endswith("values") else entry.name
                interned[packet.trusted_packet_sequence_id, kind.name, entry.iid] = name

    def _event(self, packet: Any, interned: dict[Any, str], above: list[dict[str, Any]]) -> None:
        event, at = packet.track_event, (packet.timestamp - START) / MS
        if event.type == TrackEvent.TYPE_COUNTER:
            values = self.counters.setdefault(self.place(event.track_uuid), [])
            values.append((round(at), event.double_counter_value))
            return
        if event.type == TrackEvent.TYPE_SLICE_END:
            above.pop()["end"] = at
            return

        def named(kind: str, iid: int) -> str:
            return interned[packet.trusted_packet_sequence_id, kind, iid]

        facts = {
            named("debug_annotation_names", note.name_iid): note.int_value
            if note.HasField("int_value")
            else named("debug_annotation_string_values", note.string_value_iid)
            for note in event.debug_annotations
        }
        made = {"name": named("event_names", event.name_iid), "begin": at, "facts": facts}
        made |= {"where": self.place(event.track_uuid), "depth": len(above)}
        made |= {"begins": list(event.flow_ids), "ends": list(event.terminating_flow_ids)}
        assert facts["layer"] == named("event_categories", event.category_iids[0])
        above.append(made)
        self.slices.append(made)

    def place(self, uuid: int) -> str:
        """Host, process, thread."""
        track = self.tracks[uuid]
        up = f"{self.place(track.parent_uuid)} > " if track.parent_uuid else ""
        return up + str(track.name)

    def lines(self) -> list[str]:
        """Slices by their begin."""
        shown = sorted(self.slices, key=lambda made: made["begin"])
        return [
            f"{made['where']}: {made['begin']:g}-{made['end']:g} "
            f"{'  ' * made['depth']}{made['name']}"
            for made in shown
        ]


def test_slices_nest_on_tracks_of_hosts_processes_and_threads(tmp_path: Path) -> None:
    make(tmp_path)
    written, data = export(tmp_path, "perfetto")
    read = Read(data)
    assert read.lines() == [
        "node1 > map 100 > main: 0-100 fs.write",
        "node1 > map 100 > main: 10-90   hdfs.write",
        "node1 > map 100 > main: 15-20     java.send",
        "node2 > DataNode 100 > DataXceiver: 20-70 datanode.receive_block",
        "node2 > DataNode 100 > DataXceiver: 30-40   java.write",
        "node1 > map 100 > pauses of the JVM: 40-45 jvm.gc_pause",
        "node1 > map 100 > main: 110-111 java.read",
        "node1 > map 100 > main: 120-121 java.open",
        "node1 > map 100 > main: 130-150 java.read",
    ]
    assert written == len(read.slices) == CALLS + 1


def test_a_slice_says_what_is_known_of_its_call(tmp_path: Path) -> None:
    make(tmp_path)
    read = Read(export(tmp_path, "perfetto", layers=("java", "datanode"))[1])
    facts = {made["name"]: made["facts"] for made in read.slices}
    job = {"job": "job_1_0001"}
    assert facts["datanode.receive_block"] == {
        "layer": "datanode",
        "op": "receive_block",
        "target": "/a",
        "category": "file",
        "block": 77,
        "bytes": 4096,
        **job,
        "waited": 4 * MS,
    }
    assert facts["java.open"] == {
        "layer": "java",
        "op": "open",
        "target": "/none",
        "category": "file",
        "bytes": 0,
        "error": "java.io.FileNotFoundException",
        **job,
        "phase": "map",
        "task": "attempt_1_0001_m_000000_0",
    }
    reads = [made["facts"] for made in read.slices if made["name"] == "java.read"]
    assert [(fact.get("asked"), fact.get("offset"), fact.get("inner")) for fact in reads] == [
        (4096, 20, "true"),
        (None, None, None),
    ]
    assert reads[1]["unfinished"] == "true"


def test_causes_of_other_threads_are_flows(tmp_path: Path) -> None:
    # GIVEN a call that causes two on another host, one of which causes one in a thread beside it
    block = {**DATANODE, "parent": 1, "parent_proc": 1}
    rows = [
        call("hdfs.write", 1, 0, 9),
        call("datanode.receive_block", 2, 1, 1, **block),
        call("datanode.receive_block", 3, 3, 1, **block),
        call("datanode.ack", 4, 5, 1, **{**DATANODE, "tid": 8, "parent": 3}),
        call("java.write", 5, 3, 1, **{**DATANODE, "parent": 3}),
    ]
    make(tmp_path, rows)
    read = Read(export(tmp_path, "perfetto")[1])
    begun = {flow: made for made in read.slices for flow in made["begins"]}
    flows = [
        f"{begun[flow]['name']} {begun[flow]['begin']:g} > {made['name']} {made['begin']:g}"
        for made in read.slices
        for flow in made["ends"]
    ]
    assert flows == [
        "hdfs.write 0 > datanode.receive_block 1",
        "hdfs.write 0 > datanode.receive_block 3",
        "datanode.receive_block 3 > datanode.ack 5",
    ]
    assert len(begun) == 3


def test_calls_that_overlap_stand_on_sibling_tracks(tmp_path: Path) -> None:
    make(tmp_path, [call("java.read", 1, 0, 10), call("java.write", 2, 5, 10)])
    assert Read(export(tmp_path, "perfetto")[1]).lines() == [
        "node1 > map 100 > main: 0-10 java.read",
        "node1 > map 100 > main (2): 5-15 java.write",
    ]


def test_hosts_have_counters(tmp_path: Path) -> None:
    make(tmp_path)
    counters = Read(export(tmp_path, "perfetto")[1]).counters
    assert counters["node1 > cpu_user"] == [(0, 50.0), (1000, 0.0)]
    assert counters["node1 > disk_read"] == [(0, 512.0), (1000, 0.0)]
    assert counters["node1 > mem_used"] == [(1000, 1000.0), (2000, 2000.0)]
    assert len(counters) == 11


def test_what_names_hold_is_data(tmp_path: Path) -> None:
    make(tmp_path, [call("java.read", 1, 0, 1, target=HOSTILE, thread=HOSTILE, host=HOSTILE)])
    (made,) = Read(export(tmp_path, "perfetto")[1]).slices
    assert made["facts"]["target"] == HOSTILE
    assert made["where"] == f"{HOSTILE} > map 100 > {HOSTILE}"
