"""Perfetto's protobuf trace: a track per thread, under its process and host; causes are flows.

Tracks have names of ours and no pids, which are the same on two hosts or given again. What a thread
writes is a packet sequence of its own, so that the names it interned are forgotten with it.
"""

from __future__ import annotations

from itertools import groupby
from typing import BinaryIO

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    BUILTIN_CLOCK_BOOTTIME,
    BUILTIN_CLOCK_REALTIME,
    CounterDescriptor,
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

from iostrata.show.export.nesting import Edge, threads
from iostrata.show.export.source import Call, HostSecond, Source, identity

_PACKETS = 1000
_Unit = CounterDescriptor.Unit
# Of a host: name, unit, and what is shown of a row of `system`. Shares are of all cores.
_CPU = ("cpu_user", "cpu_system", "cpu_iowait")
_RATES = ("disk_read", "disk_written", "net_received", "net_sent", "net_loopback")
_LEVELS = ("mem_used", "space_used")


def write(source: Source, out: BinaryIO) -> int:
    """Writes the trace; how many slices are in it."""
    packets = _Packets(out)
    _clocks(packets, source.start)
    slices = 0
    for sequence, edges in enumerate(threads(source), 2):
        thread = _SliceThread(packets, sequence)
        for edge in edges:
            thread.add(edge)
            slices += edge.opens
    for host, rows in groupby(source.system(), lambda row: row.host or ""):
        _counters(packets, host, list(rows))
    packets.flush()
    return slices


class _Packets:
    """Writes packets, some at a time."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._trace = Trace()
        self._known: set[int] = set()

    def add(self, sequence: int = 1) -> TracePacket:
        """A new packet, to be filled before the next one is added."""
        if len(self._trace.packet) >= _PACKETS:
            self.flush()
        packet = self._trace.packet.add()
        packet.trusted_packet_sequence_id = sequence
        return packet

    def track(self, uuid: int, name: str, parent: int = 0) -> TrackDescriptor:
        """A new track under `parent`; tracks of one name stay apart."""
        track = self.add().track_descriptor
        track.uuid, track.name = uuid, name
        if parent:
            track.parent_uuid = parent
        track.child_ordering = TrackDescriptor.CHRONOLOGICAL
        track.sibling_merge_behavior = TrackDescriptor.SIBLING_MERGE_BEHAVIOR_NONE
        return track

    def place(self, uuid: int, name: str, parent: int = 0) -> int:
        """The track of a host or a process, which is made once; its `uuid`."""
        if uuid not in self._known:
            self._known.add(uuid)
            self.track(uuid, name, parent)
        return uuid

    def host(self, name: str) -> int:
        """The track of a host; its uuid."""
        return self.place(identity("host", name), name or "host")

    def flush(self) -> None:
        """Writes what was added."""
        self._out.write(self._trace.SerializeToString())
        self._trace = Trace()  # a cleared one keeps its memory


class _SliceThread:
    """The slices of one thread, each lane a track."""

    def __init__(self, packets: _Packets, sequence: int) -> None:
        self._packets = packets
        self._sequence = sequence
        self._lanes: list[int] = []
        self._interned: dict[tuple[str, str], int] = {}

    def add(self, edge: Edge) -> None:
        """Begins or ends a slice."""
        call = edge.call
        if edge.lane == len(self._lanes):
            self._lanes.append(self._lane(call, edge.lane))
        packet = self._packets.add(self._sequence)
        packet.timestamp = edge.at
        event = packet.track_event
        event.track_uuid = self._lanes[edge.lane]
        if not edge.opens:
            event.type = TrackEvent.TYPE_SLICE_END
            return
        event.type = TrackEvent.TYPE_SLICE_BEGIN
        packet.sequence_flags = TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        if not self._interned:
            packet.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        event.name_iid = self._iid(packet, "event_names", call.name)
        event.category_iids.append(self._iid(packet, "event_categories", call.layer))
        for name, value in (("layer", call.layer), ("op", call.op), *call.facts()):
            note = event.debug_annotations.add()
            note.name_iid = self._iid(packet, "debug_annotation_names", name)
            if isinstance(value, int):
                note.int_value = value
            else:
                note.string_value_iid = self._iid(packet, "debug_annotation_string_values", value)
        # A flow has one begin and one end: what causes three calls begins three.
        event.flow_ids.extend(identity(proc, span) for proc, span in call.effects or ())
        if call.caused:
            event.terminating_flow_ids.append(identity(call.proc, call.span))

    def _iid(self, packet: TracePacket, kind: str, text: str) -> int:
        key = (kind, text)
        iid = self._interned.get(key)
        if iid is not None:
            return iid
        iid = self._interned[key] = len(self._interned) + 1
        entry = getattr(packet.interned_data, kind).add()
        entry.iid = iid
        if kind == "debug_annotation_string_values":
            entry.str = text.encode("utf-8", "replace")
        else:
            entry.name = text
        return iid

    def _lane(self, call: Call, lane: int) -> int:
        host, name = self._packets.host(call.host), f"{call.role or 'process'} {call.pid}"
        process = self._packets.place(identity(call.host, call.proc), name, host)
        uuid = identity(call.host, call.proc, call.tid, lane)
        name = call.thread if lane == 0 else f"{call.thread} ({lane + 1})"
        self._packets.track(uuid, name, process)
        return uuid


def _clocks(packets: _Packets, start: int) -> None:
    """Times are ns since the epoch: the clock of the trace is that of the wall."""
    snapshot = packets.add().clock_snapshot
    for clock in (BUILTIN_CLOCK_BOOTTIME, BUILTIN_CLOCK_REALTIME):
        reading = snapshot.clocks.add()
        reading.clock_id, reading.timestamp = clock, start
    snapshot.primary_trace_clock = BUILTIN_CLOCK_BOOTTIME


def _counters(packets: _Packets, host: str, rows: list[HostSecond]) -> None:
    """A track per history of a host: what passed from the begin of a second, levels at its end."""
    parent = packets.host(host)
    for name in (*_CPU, "disk_busy", *_RATES, *_LEVELS):
        uuid = identity("counter", host, name)
        counter = packets.track(uuid, name, parent).counter
        if name in _LEVELS:
            counter.unit = _Unit.UNIT_SIZE_BYTES
        else:
            counter.unit_name = "B/s" if name in _RATES else "%"
        for row in rows:
            packet = packets.add()
            packet.timestamp = row.time + (row.interval if name in _LEVELS else 0)
            event = packet.track_event
            event.type, event.track_uuid = TrackEvent.TYPE_COUNTER, uuid
            event.double_counter_value = _value(row, name)


def _value(row: HostSecond, name: str) -> float:
    value: int = getattr(row, name)
    if name in _LEVELS:
        return float(value)
    passed = row.interval * (row.cores if name in _CPU else 1)
    return value / passed * (1e9 if name in _RATES else 100) if passed else 0.0
