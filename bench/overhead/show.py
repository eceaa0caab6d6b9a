"""What was found, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iostrata.text import columns

Row = dict[str, Any]


def show(part: str, found: Any) -> None:
    """Prints the findings of a part."""
    tables: dict[str, Callable[[Any], None]] = {
        "toggle": _toggle,
        "starts": _starts,
        "tasks": _tasks,
        "jobs": _jobs,
        "account": _account,
        "ab": _ab,
        "datanodes": _datanodes,
    }
    tables[part](found)


def interval(found: Row | None, unit: str = "%", digits: int = 2) -> str:
    """`+1.20 % (+0.80 to +1.60)`; `unit` % for shares."""
    if found is None or found["estimate"] is None:
        return "–"
    scale = 100 if unit == "%" else 1
    text = f"{found['estimate'] * scale:+.{digits}f} {unit}"
    if found["low"] is None:
        return text
    return f"{text} ({found['low'] * scale:+.{digits}f} to {found['high'] * scale:+.{digits}f})"


def _table(header: list[str], rows: list[list[str]]) -> None:
    if rows:
        print("\n".join(columns(header, rows, range(2, len(header)))))


def _word(found: Row | None) -> str:
    return f"{found['word']}: {found['why']}" if found else "–"


def _seen(found: Row) -> str:
    value = found["detectable"]
    return "–" if value is None else f"{value:.2%}"


def _toggle(found: list[Row]) -> None:
    header = ["process", "mode", "pairs", "CPU added (95 %)", "bootstrap", "would see", "ns/call"]
    rows = [
        [
            row["subject"],
            row["mode"],
            str(row["added"]["n"]),
            interval(row["added"]),
            interval(row["added_bootstrap"]),
            _seen(row["added"]),
            f"{row['ns_per_call']:.0f}" if row.get("ns_per_call") is not None else "–",
        ]
        for row in found
    ]
    _table(header, rows)


def _starts(found: Row) -> None:
    print(f"a JVM of Hadoop starts with {interval(found['start_s'], 's', 3)} of CPU more")
    print(f"`iostrata record` takes {interval(found['recorder_s'], 's', 3)} of CPU itself")


def _tasks(found: list[Row]) -> None:
    header = ["mode", "MB", "CPU s untraced", "CPU s added (95 %)", "share (95 %)"]
    rows = [
        [
            row["mode"],
            str(row["megabytes"]),
            f"{row['plain_s']['estimate']:.1f}",
            interval(row["added_s"], "s"),
            interval(row["added"], digits=1),
        ]
        for row in found
    ]
    _table(header, rows)


def _jobs(found: list[Row]) -> None:
    header = ["job", "mode", "fixed CPU s", "CPU s per GB"]
    rows = []
    for row in found:
        fixed, slope = ("–", "–")
        if row["cost"]:
            each = row["cost"]["slope"]
            each = {k: v * 1000 if isinstance(v, float) else v for k, v in each.items()}
            fixed, slope = interval(row["cost"]["fixed"], "s"), interval(each, "s")
        rows.append([row["job"], row["mode"], fixed, slope])
    _table(header, rows)
    header = ["job", "mode", "MB", "CPU s untraced", "added (95 %)", "B/event", "trace/data"]
    rows = [
        [
            row["job"],
            row["mode"],
            f"{size['megabytes']:.0f}",
            f"{size['plain_cpu_s']:.1f}",
            interval(size["added"]),
            f"{size['bytes_per_event']:.2f}",
            f"{size['share_of_data']:.2%}",
        ]
        for row in found
        for size in row["sizes"]
        if size["plain_cpu_s"] is not None
    ]
    _table(header, rows)


def _account(found: list[Row]) -> None:
    header = ["job", "mode", "MB", "calls s", "starts s", "collector s", "recorder s", "share"]
    rows = []
    for row in found:
        part = row["parts"]
        calls = part["detail_s"] + part["summed_s"] + part["hot_s"]
        seconds = (calls, part["starts_s"], part["collector_s"], part["recorder_s"])
        share = {"estimate": row["share"], "low": row["share_low"], "high": row["share_high"]}
        line = [row["job"], row["mode"], f"{row['megabytes']:.0f}"]
        rows.append([*line, *(f"{value:.2f}" for value in seconds), interval(share)])
    _table(header, rows)
    for row in found:
        print(f"{row['job']} {row['megabytes']:.0f} MB, {row['mode']}: {_word(row['verdict'])}")
    for note in sorted({note for row in found for note in row["notes"]}):
        print(f"note: {note}")


def _ab(found: list[Row]) -> None:
    header = ["job", "mode", "MB", "pairs", "added (95 %)", "bootstrap", "would see"]
    rows = [
        [
            row["job"],
            row["mode"],
            f"{row['megabytes']:.0f}",
            str(row["added"]["n"]),
            interval(row["added"]),
            interval(row["added_bootstrap"]),
            _seen(row["added"]),
        ]
        for row in found
    ]
    _table(header, rows)
    for row in found:
        for words, key in (("the job itself", "job_wall"), ("its command", "command_wall")):
            wall = row[key]
            if wall["plain_s"]:
                seconds = f"{wall['plain_s']:.1f} s untraced, {wall['traced_s']:.1f} s traced"
                print(f"{row['job']}, {row['mode']}, {words}: {seconds}: {interval(wall['added'])}")
    for row in found:
        print(f"{row['job']}, {row['mode']}, at most {row['bar']:.0%}: {_word(row['verdict'])}")
    for row in found:
        _by_threads(row)


def _by_threads(row: Row) -> None:
    print(f"\n{row['job']}, {row['mode']}: CPU s of a run by group of threads")
    rows = [
        [name, "", f"{of['plain_s']:.2f}", f"{of['traced_s']:.2f}", interval(of["added_s"], "s")]
        for name, of in row["by_threads"].items()
    ]
    _table(["threads", "", "untraced", "traced", "added (95 %)"], rows)


def _datanodes(found: Row) -> None:
    header = ["DataNodes", "mode", "pairs", "added (95 %)"]
    rows = [
        [str(row["datanodes"]), row["mode"], str(row["added"]["n"]), interval(row["added"])]
        for row in found["by_datanodes"]
    ]
    _table(header, rows)
    print(f"for each doubling: {interval(found['per_doubling'])}; {_word(found['verdict'])}")
