"""What is impossible together is refused; what is sent is what Java reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.progress import silent
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.interface import Context, Workload
from iostrata_lab.workload.parameters import values
from iostrata_lab.workload.requests import REQUESTS
from iostrata_lab.workload.requests.parameters import bytes_of, check, gaps_of, rate, words
from iostrata_lab.workload.requests.presets import SPOTIFY

JAVA = Path(__file__).parents[6] / "java/jobs/src/main/java/io/iostrata/jobs/requests"
KIB = 1024


def asked(*given: str, of: Workload = SPOTIFY) -> Context:
    chosen = values(of.parameters, given)
    return Context(chosen, 5, ClusterClient({}), "/tmp/here", Path(), silent, "tag")


@pytest.mark.parametrize("workload", REQUESTS, ids=lambda one: one.name)
def test_presets_are_possible_and_name_their_substitutes(workload: Workload) -> None:
    check(asked(of=workload))
    assert any("substitute" in source for source in workload.sources)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("fanout=10", "depth=3", "files=9"), "fanout=10 and depth=3 are 1000 folders for files=9"),
        (("read_size=2KB", "file_size=1KB"), "read_size=2.0 KiB of files with file_size=1.0 KiB"),
        (("arrivals=recorded",), "arrivals=recorded and gaps=FILE go together"),
        (("gaps=there.txt",), "arrivals=recorded and gaps=FILE go together"),
        (("alpha=0.0001", "duration=1"), "0.02 requests/s for 1 s are none"),
        (("find=saturation", "most=100"), "200 requests/s to begin with, most=100"),
        (("mix=write:1",), "mix: write:1 is no weight"),
        (("arrivals=recorded", "gaps=/no"), "gaps=/no: No such file or directory"),
    ],
)  # fmt: skip
def test_the_impossible_is_one_line(given: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError) as refused:
        check(asked(*given))
    assert refused.value.message == said


def test_reads_need_no_bytes_where_nothing_is_read() -> None:
    check(asked("mix=stat", "file_size=0"))
    with pytest.raises(UserError, match="of files with file_size=0"):
        check(asked("mix=stat:9,read:1", "file_size=0"))


def test_a_line_that_is_no_gap_is_named(tmp_path: Path) -> None:
    file = tmp_path / "gaps.txt"
    for wrong in ("soon", "-1", "nan", "inf", ""):
        file.write_text(f"0.5\n{wrong}\n1\n")
        with pytest.raises(UserError) as refused:
            gaps_of(str(file))
        assert refused.value.message == f"{file} line 2: {wrong!r} is no gap in seconds"
    file.write_text("0\n")
    with pytest.raises(UserError, match="no gap is longer than 0"):
        gaps_of(str(file))


def test_alpha_multiplies_the_base_or_what_was_recorded(tmp_path: Path) -> None:
    assert rate(asked("base=2000", "alpha=0.05")) == 100
    file = tmp_path / "gaps.txt"
    file.write_text("0.5\n0.25\n0.25\n")
    recorded = ("arrivals=recorded", f"gaps={file}", "alpha=2", "session=4")
    assert rate(asked(*recorded)) == 24


def test_bytes_are_those_of_the_files_and_of_twice_the_writes() -> None:
    sizes = ("files=10", "depth=0", "file_size=100KB", "write_size=1KB")
    assert bytes_of(asked(*sizes, "mix=stat")) == 10 * 100 * KIB
    writes = ("mix=create:1,append:1,stat:2", "base=100", "duration=9", "warmup=1")
    assert bytes_of(asked(*sizes, *writes)) == 10 * 100 * KIB + 2 * 500 * KIB
    highest = ("find=saturation", "most=1000", "trial=5")
    assert bytes_of(asked(*sizes, *writes, *highest)) == 10 * 100 * KIB + 2 * 2500 * KIB
    # a lognormal with a sigma of 1 has 1.31 of its mean as standard deviation
    spread = bytes_of(asked(*sizes, "mix=stat", "spread=1"))
    assert spread == pytest.approx(100 * KIB * (10 + 6 * 1.3108 * 10**0.5), rel=1e-4)


def test_java_is_sent_all_that_it_reads_and_no_more() -> None:
    source = (JAVA / "Settings.java").read_text()
    read = set(re.findall(r'\b(?:text|real|whole|reals)\("(\w+)"', source))
    sent = dict(word.split("=", 1) for word in words(asked()))
    assert set(sent) == read
    assert sent["phases"] == "0.789,9.07,34.5"
    assert sent["mix"] == "69.25,17.0,9.0,1.2,0.3,1.3,0.75"
    assert (sent["seed"], sent["folder"], sent["gaps"]) == ("5", "/tmp/here", "")


def test_java_is_sent_the_whole_path_of_gaps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"gaps={tmp_path}/gaps.txt" in words(asked("arrivals=recorded", "gaps=gaps.txt"))
