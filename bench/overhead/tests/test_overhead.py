"""What follows from measurements: toggles, fits, the number of DataNodes, the account's verdict."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.measure import workloads
from bench.overhead import account, clusters, modes, show, tasks, toggle
from bench.overhead.modes import Mode

Row = dict[str, Any]
BARE = Mode("bare", (), 0.03)  # needs no option, so this build has it


def window(on: bool, cpu: float, moved: int, number: int, pid: int = 7, warm: bool = False) -> Row:
    facts: Row = {"subject": "DataNode", "mode": "bare", "pid": pid, "warm_up": warm}
    return {**facts, "on": on, "cpu_s": cpu, "bytes": moved, "number": number, "seconds": 2.0}


def toggled(added: float, pairs: int) -> list[Row]:
    """Pairs in turned order; each costs 10 ns a byte, and `added` of it more with a run."""
    runs = [window(True, 9.9, 10**6, 0, warm=True), window(False, 1.0, 10**6, 0, warm=True)]
    for number in range(1, pairs + 1):
        moved = 10**8 + number * 10**6
        noise = 1 + 1e-4 * (-1) ** (number // 2)
        both = [
            window(True, moved * 1e-8 * (1 + added) * noise, moved, number),
            window(False, moved * 1e-8, moved, number),
        ]
        runs += both if number % 2 else both[::-1]
    calls = {"java": {"detail": 10**4, "summed": 0, "hot": 0}}
    runs.append({**window(True, 10, 10**8, 0), "counted": True, "calls": calls})
    return runs


def test_a_toggle_gives_the_share_and_the_cost_of_a_call() -> None:
    found = toggle.summed(toggled(0.02, 12), "DataNode", BARE)
    assert found is not None
    assert found["added"]["estimate"] == pytest.approx(0.02, abs=1e-4)
    assert found["added"]["n"] == 12
    assert found["verdict"]["word"] == "pass"
    # 0.2 ns of 10 a byte, 1e-4 calls a byte.
    assert found["ns_per_call"] == pytest.approx(2000, rel=0.02)
    assert toggle.summed(toggled(0.05, 12), "DataNode", BARE)["verdict"]["word"] == "fail"  # type: ignore[index]


def test_a_whole_task_costs_what_pairs_say(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        {"mode": "bare", "megabytes": size, "traced_s": plain * 1.1, "plain_s": plain}
        for size in (16, 128)
        for plain in (size / 4, size / 5)
    ]
    found = tasks.found(runs)
    assert [row["megabytes"] for row in found] == [16, 128]
    assert found[1]["added"]["estimate"] == pytest.approx(0.1)
    assert found[1]["added_s"]["estimate"] == pytest.approx(2.88)
    show.show("tasks", found)
    assert capsys.readouterr().out.splitlines()[-1] == (
        "bare  128            28.8  +2.88 s (-1.19 to +6.95)  +10.0 % (+10.0 to +10.0)"
    )


def test_a_toggle_of_few_pairs_proves_nothing() -> None:
    found = toggle.summed(toggled(0.0, 4), "DataNode", BARE)
    assert found is not None
    assert found["verdict"] == {
        "word": "inconclusive",
        "why": "4 pairs, at least 10 are needed",
    }
    assert toggle.summed(toggled(0.0, 1), "DataNode", BARE) is None


def test_windows_of_two_processes_are_no_pair() -> None:
    runs = [window(True, 1, 1, 1, pid=7), window(False, 1, 1, 1, pid=8)]
    assert toggle.windows(runs, "DataNode", "bare") == []


def test_a_window_reads_the_groups_cpu_and_javas_counter(tmp_path: Path) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (tmp_path / "cgroup.procs").write_text("7\n")
    counter, out = tmp_path / "counter", tmp_path / "out"
    words = [str(toggle.WINDOW_SCRIPT), str(tmp_path), str(counter), "0.01", str(out)]
    for value, expected in ((12345, 0), (-1, -1)):
        counter.write_bytes(struct.pack(">q", value))
        subprocess.run([sys.executable, *words], check=True)
        found = json.loads(out.read_text())
        assert (found["cpu_s"], found["bytes"]) == (0, expected)
        assert found["seconds"] >= 0.01
    counter.write_bytes(struct.pack(">q", 1))
    (tmp_path / "cgroup.procs").write_text("")
    subprocess.run([sys.executable, *words], check=True)
    assert json.loads(out.read_text())["bytes"] == -1


def run(job: workloads.Job, side: str, number: int, cpu: float, datanodes: int = 2) -> Row:
    layers = {"java": {"detail": 1_000_000, "summed": 0, "hot": 0}}
    trace = {"events": 1000, "bytes": 6000, "calls": layers, "jvms": 5, "problems": []}
    return {
        "job": job.name,
        "megabytes": round(job.megabytes, 3),
        "side": side,
        "mode": "bare",
        "datanodes": datanodes,
        "number": number,
        "warm_up": False,
        "cpu_s": cpu,
        "collector_cpu_s": 0.05,
        "trace": trace,
    }


def sized(pairs: int) -> tuple[list[workloads.Job], list[Row]]:
    """Two sizes; a traced run costs 0.2 s and 1 ms a MB more."""
    jobs = [workloads.terasort(64), workloads.terasort(256)]
    runs = []
    for job in jobs:
        for number in range(1, pairs + 1):
            plain = 20 + 0.1 * job.megabytes + 0.01 * (-1) ** (number // 2)
            runs.append(run(job, "plain", number, plain))
            runs.append(run(job, "traced", number, plain + 0.2 + 0.001 * job.megabytes))
    return jobs, runs


def test_fixed_and_proportional_cost() -> None:
    jobs, runs = sized(4)
    found = clusters.fitted(runs, jobs, BARE)
    assert found["cost"]["fixed"]["estimate"] == pytest.approx(0.2)
    assert found["cost"]["slope"]["estimate"] == pytest.approx(0.001)
    small = found["sizes"][0]
    assert small["bytes_per_event"] == 6
    assert small["share_of_data"] == pytest.approx(6000 / 64e6)
    assert small["verdict"]["why"] == "4 pairs, at least 10 are needed"


def test_wall_times_are_those_of_the_job_and_of_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    jobs, runs = sized(4)
    for one in runs:
        slower = 1.1 if one["side"] == "traced" else 1.0
        one |= {"wall_s": 40.0 * slower + 6 * (slower > 1), "job_s": 30.0 * slower}
    runs[0]["job_s"] = None  # its command named no job: the pair is left out
    found = clusters.compared(clusters.of(runs, jobs[0], BARE), jobs[0], BARE)
    assert found["job_wall"]["added"]["n"] == 3
    assert found["job_wall"]["added"]["estimate"] == pytest.approx(0.1)
    assert (found["command_wall"]["plain_s"], found["command_wall"]["traced_s"]) == (40, 50)
    show.show("ab", [found])
    assert "the job itself: 30.0 s untraced, 33.0 s traced: +10.00 %" in capsys.readouterr().out


def test_a_run_with_losses_never_passes() -> None:
    jobs, runs = sized(12)
    both = clusters.of(runs, jobs[0], BARE)
    assert clusters.compared(both, jobs[0], BARE)["verdict"]["word"] == "pass"
    both[3][0]["trace"]["problems"].append("5 calls dropped")
    found = clusters.compared(both, jobs[0], BARE)
    assert found["verdict"] == {"word": "inconclusive", "why": "5 calls dropped"}


def test_what_the_build_lacks_never_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modes, "options_missing", lambda _: ["--budget"])
    assert modes.RECORD.present == ("--level", "record")
    jobs, runs = sized(12)
    both = clusters.of([{**r, "mode": "record"} for r in runs], jobs[0], modes.RECORD)
    found = clusters.compared(both, jobs[0], modes.RECORD)
    assert found["verdict"] == {"word": "inconclusive", "why": "this build has no --budget"}


def test_all_modes_have_options_in_pairs() -> None:
    for mode in modes.ALL.values():
        assert all(word.startswith("--") for word in mode.options[::2])
        assert len(mode.options) % 2 == 0
    assert (modes.DEFAULT.bar, modes.RECORD.bar) == (0.01, 0.03)


def written(folder: Path, **parts: Any) -> None:
    for name, value in parts.items():
        (folder / f"overhead-{name}.json").write_text(json.dumps(value))


STARTS = {"found": {
    "start_s": {"estimate": 0.05, "low": 0.04, "high": 0.06},
    "recorder_s": {"estimate": 0.1, "low": 0.09, "high": 0.11},
}}  # fmt: skip


def test_the_account_is_the_sum_of_its_parts(tmp_path: Path) -> None:
    subject = toggle.summed(toggled(0.002, 12), "DataNode", BARE)  # 200 ns a call
    jobs, runs = sized(3)
    written(tmp_path, toggle={"found": [subject]}, starts=STARTS, jobs={"runs": runs})
    (small, large) = sorted(
        account.conclude(tmp_path, [BARE]).facts["found"], key=lambda row: row["megabytes"]
    )
    assert [job.megabytes for job in jobs] == [small["megabytes"], large["megabytes"]]
    # 1e6 calls x 200 ns, 5 starts x 50 ms, collector 50 ms, recorder 100 ms; of 26.4 s.
    assert small["added_s"] == pytest.approx(0.2 + 0.25 + 0.05 + 0.1, rel=0.05)
    assert small["share"] == pytest.approx(0.6 / 26.4, rel=0.05)
    assert small["share_low"] < small["share"] < small["share_high"]
    assert small["verdict"]["word"] == "pass"
    assert "no subject had calls of mode hot: taken for the dearest" in small["notes"]


def test_pairs_of_part_ab_are_in_the_account(tmp_path: Path) -> None:
    subject = toggle.summed(toggled(0.002, 12), "DataNode", BARE)
    jobs, runs = sized(3)
    dearer = [{**run, "cpu_s": run["cpu_s"] * 2} for run in runs]
    found = {}
    for name, parts in {"one": {"ab": runs}, "both": {"jobs": runs, "ab": dearer}}.items():
        folder = tmp_path / name
        folder.mkdir()
        whole = {key: {"runs": value} for key, value in parts.items()}
        written(folder, toggle={"found": [subject]}, starts=STARTS, **whole)
        rows = account.conclude(folder, [BARE]).facts["found"]
        found[name] = sorted(row["untraced_cpu_s"] for row in rows)
    assert len(found["one"]) == len(jobs)
    assert found["both"] == pytest.approx([1.5 * cpu for cpu in found["one"]], rel=0.05)


def test_an_account_lacks_no_part(tmp_path: Path) -> None:
    written(tmp_path, starts=STARTS)
    with pytest.raises(SystemExit, match="has no part toggle, jobs, which the account is made of"):
        account.conclude(tmp_path, [BARE])


def test_everything_found_can_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subject = toggle.summed(toggled(0.002, 12), "DataNode", BARE)
    jobs, runs = sized(3)
    written(tmp_path, toggle={"found": [subject]}, starts=STARTS, jobs={"runs": runs})
    show.show("toggle", [subject])
    show.show("starts", STARTS["found"])
    show.show("jobs", [clusters.fitted(runs, jobs, BARE), clusters.fitted([], jobs, BARE)])
    show.show("account", account.conclude(tmp_path, [BARE]).facts["found"])
    show.show("ab", [clusters.compared([], jobs[0], BARE)])
    show.show("datanodes", {"by_datanodes": [], "per_doubling": None, "verdict": None})
    said = capsys.readouterr().out
    assert "DataNode  bare     12  +0.20 % (+0.19 to +0.21)" in said
    assert "TeraSort  bare  +0.20 s (+0.20 to +0.20)  +1.00 s (+1.00 to +1.00)" in said
    assert "inconclusive: 0 pairs, at least 10 are needed" in said
