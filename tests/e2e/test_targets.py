"""What is known of each file, on a program that nobody planned for: Lucene, beside strace."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.e2e.conftest import Iostrata

import iostrata as api
from iostrata.analyse.only_summed import OnlySummed, only_summed
from iostrata.analyse.targets import Target, targets

LUCENE = "org.apache.lucene:lucene-core:9.12.0"
CALL = re.compile(r"^(\w+)\(\d+<([^>]*)>.* = (\d+)$")
OP = {"read": "read", "pread64": "read", "write": "write", "pwrite64": "write"}
STRACE = ("strace", "-ff", "-y", "-qq", "-s", "0", "-e", f"trace={','.join(OP)}")


@pytest.fixture(scope="module")
def class_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Lucene, and a program that makes an index and reads documents of it."""
    folder = tmp_path_factory.mktemp("lucene")
    fetch = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={LUCENE}"]
    subprocess.run([*fetch, f"-DoutputDirectory={folder}"], check=True)
    path = f"{folder}/*"
    source = Path(__file__).with_name("Searches.java")
    subprocess.run(["javac", "-cp", path, "-d", str(folder), str(source)], check=True)
    return f"{path}:{folder}"


def seen_by_strace(folder: Path, below: str) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Calls of each file below a folder, and bytes by file and operation."""
    calls: Counter[str] = Counter()
    moved: Counter[tuple[str, str]] = Counter()
    for file in folder.iterdir():
        for line in file.read_text("utf-8", "replace").splitlines():
            call = CALL.match(line)
            if call and call[2].startswith(below):
                calls[call[2]] += 1
                moved[call[2], OP[call[1]]] += int(call[3])
    return calls, moved


def test_each_file_of_lucene_has_all_its_bytes(
    class_path: str, iostrata: Iostrata, tmp_path: Path
) -> None:
    """Many reads are in sums only at the default, of files that come and go with each merge."""
    # GIVEN an index of 2,000 documents of which some are read at random
    traces, index = tmp_path / "strace", tmp_path / "index"
    traces.mkdir()
    program = ("java", "-cp", class_path, "Searches", str(index), "2000", "4000")
    done = iostrata(
        "record", "--run", "r", "--budget", "1%", "--", *STRACE, "-o", f"{traces}/t", *program
    )
    assert done.returncode == 0, done.stderr
    calls, moved = seen_by_strace(traces, str(index))
    # THEN some calls are in sums only, and yet each file has what strace saw
    with api.open("r", store=tmp_path / "store") as run:
        known = run.ask(targets(), Target)
        (summed,) = run.ask(only_summed(layers=("java",)), OnlySummed)
    assert summed.calls > 1000
    found = {row.target: row for row in known if row.layer == "java"}
    assert len(calls) > 30
    assert {file: found[file].bytes_read for file in calls} == {
        file: moved[file, "read"] for file in calls
    }
    assert {file: found[file].bytes_written for file in calls} == {
        file: moved[file, "write"] for file in calls
    }
    heaviest = max(calls, key=lambda file: calls[file])
    # opens, closes and syncs are calls, too
    assert calls[heaviest] <= (found[heaviest].calls or 0) <= calls[heaviest] + 20
    # AND the summary leads with it
    text = iostrata("summary", "r", "--full").stdout
    assert heaviest.rsplit("/", 1)[-1] in text
