"""speedscope's file, checked against its own schema (of its npm package, 1.25.0, MIT)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastjsonschema

from iostrata.show.export.tests.runs import CALLS, HOSTILE, MS, TASK, call, export, make

SCHEMA = json.loads(Path(__file__).with_name("speedscope-1.25.0.schema.json").read_text())
valid = fastjsonschema.compile(SCHEMA)


def read(store: Path, **chosen: Any) -> dict[str, Any]:
    """The file, which is valid, and whose events its viewer takes."""
    written, data = export(store, "speedscope", **chosen)
    file: dict[str, Any] = valid(json.loads(data))
    opened = 0
    for profile in file["profiles"]:
        if profile["type"] == "sampled":
            assert len(profile["samples"]) == len(profile["weights"])
            continue
        above, last = [], profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                above.append(event["frame"])
                opened += 1
            else:
                assert above.pop() == event["frame"]
        assert not above
    assert opened == written
    return file


def lines(file: dict[str, Any], profile: dict[str, Any]) -> list[str]:
    names = [frame["name"] for frame in file["shared"]["frames"]]
    if profile["type"] == "evented":
        return [
            f"{event['type']} {event['at'] / MS:g} {names[event['frame']]}"
            for event in profile["events"]
        ]
    return sorted(
        f"{' > '.join(names[frame] for frame in stack)}: {weight / MS:g}"
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True)
    )


def test_threads_are_time_lines(tmp_path: Path) -> None:
    make(tmp_path)
    file = read(tmp_path, end=0.05)
    profiles = {profile["name"]: lines(file, profile) for profile in file["profiles"][:2]}
    assert profiles == {
        f"{TASK} · map 100 on node1 · main": [
            *("O 0 fs.write", "O 10 hdfs.write", "O 15 java.send", "C 20 java.send"),
            *("C 90 hdfs.write", "C 100 fs.write"),
        ],
        "DataNode 100 on node2 · DataXceiver": [
            *("O 20 datanode.receive_block", "O 30 java.write", "C 40 java.write"),
            "C 70 datanode.receive_block",
        ],
    }


def test_merged_profiles_add_up_to_the_time_of_outermost_calls(tmp_path: Path) -> None:
    make(tmp_path)
    file = read(tmp_path)
    merged = {p["name"]: p for p in file["profiles"] if p["type"] == "sampled"}
    assert lines(file, merged["all threads, merged"]) == [
        "datanode.receive_block > java.write: 10",
        "datanode.receive_block: 40",
        "fs.write > hdfs.write > java.send: 5",
        "fs.write > hdfs.write: 75",
        "fs.write: 20",
        "java.open: 1",
        "java.read: 21",
    ]
    assert merged["all threads, merged"]["endValue"] == (100 + 50 + 1 + 1 + 20) * MS
    assert lines(file, merged[f"{TASK}, merged"]) == [
        "fs.write > hdfs.write > java.send: 5",
        "fs.write > hdfs.write: 75",
        "fs.write: 20",
        "java.open: 1",
        "java.read: 21",
    ]
    assert len(merged) == 2
    assert file["profiles"][file["activeProfileIndex"]]["name"] == "all threads, merged"
    assert sum(len(p["events"]) for p in file["profiles"] if p["type"] == "evented") == 2 * CALLS


def test_calls_that_overlap_are_time_lines_of_their_own(tmp_path: Path) -> None:
    make(tmp_path, [call("java.read", 1, 0, 10), call("java.write", 2, 5, 10, thread=HOSTILE)])
    file = read(tmp_path)
    assert [(p["name"].rpartition(" · ")[2], lines(file, p)) for p in file["profiles"][:2]] == [
        ("main", ["O 0 java.read", "C 10 java.read"]),
        (f"{HOSTILE} (2)", ["O 5 java.write", "C 15 java.write"]),
    ]
