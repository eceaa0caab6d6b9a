"""Small files that claim or hold more than any run: one line, and memory that has bounds."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from iostrata.store.facts import RecordedFacts, read_facts
from iostrata.store.footers import MOST_FOOTER, MOST_PARTS, wrong_footer
from iostrata.store.live import live_files
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, process, row_of_sum

PART = "events/host=node/part-000001.parquet"
MOST = 600  # MB of a command, with all that Python needs
# In a process of its own: whoever makes a bomb has held it in memory. A text of zeros, in a page.
_BOMB = """
import sys
import pyarrow as pa, pyarrow.parquet as pq
path, codec = sys.argv[1:]
rows = pq.read_table(path)
place = rows.column_names.index("op")
zeros = pa.array(["\\0" * 650_000_000], pa.string())
rows = rows.slice(0, 1).set_column(place, rows.schema.field(place), zeros)
pq.write_table(rows, path, compression=codec, use_dictionary=False, write_statistics=False)
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    make_run(tmp_path, "r", [row_of_sum("java", "read")], [process("client", 1)])
    return tmp_path


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The part of such a run with a bomb in the column `op`, by the codec of its pages."""
    made = {}
    for codec in ("zstd", "gzip"):
        store = tmp_path_factory.mktemp(codec)
        made[codec] = make_run(store, "r", [row_of_sum("java", "read")]) / PART
        subprocess.run([sys.executable, "-c", _BOMB, str(made[codec]), codec], check=True)
        assert made[codec].stat().st_size < 2_000_000
    return made


def peak(store: Path, *command: str) -> tuple[int, int, list[str]]:
    """Exit code, MB at most, and lines of standard error of a command that reads the store."""
    asked = (
        "import resource, subprocess, sys;"
        "code = subprocess.run([sys.executable, '-m', 'iostrata', *sys.argv[1:]]).returncode;"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    )
    environ = {k: v for k, v in os.environ.items() if k != "IOSTRATA_MEMORY"}
    done = subprocess.run(
        [sys.executable, "-c", asked, *command],
        env=environ | {"IOSTRATA_STORE": str(store)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, most = map(int, done.stdout.splitlines()[-1].split())
    return code, most, done.stderr.splitlines()


def lying(path: Path) -> None:
    """The footer says that the column with the bomb is small: heads of pages say what it is."""
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8]
    size = max(
        pq.read_metadata(path).row_group(0).column(place).total_uncompressed_size
        for place in range(pq.read_metadata(path).num_columns)
    )
    said = varint(2 * size)
    assert said in footer
    footer = footer.replace(said, b"\xc8\x81\x80\x80\x00"[: len(said)])
    path.write_bytes(content[: -8 - length] + footer + content[-8:])
    assert pq.read_metadata(path).num_rows == 1


def varint(number: int) -> bytes:
    """As Thrift writes sizes, but for the sign."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


@pytest.mark.parametrize(
    ("codec", "lies", "command"),
    [
        ("zstd", False, ("summary", "r")),
        ("zstd", True, ("summary", "r")),
        ("gzip", True, ("report", "r", "--json")),
        ("zstd", True, ("calltree", "r")),
    ],
)
def test_a_page_that_unpacks_to_a_gigabyte(
    store: Path, bombs: dict[str, Path], codec: str, lies: bool, command: tuple[str, ...]
) -> None:
    shutil.copy(bombs[codec], store / "r" / PART)
    if lies:
        lying(store / "r" / PART)
    # WHEN a command reads all that the column has
    code, most, lines = peak(store, *command)
    # THEN
    assert (code, len(lines)) == (2, 1), lines
    assert most < MOST, f"{most} MB"


def listing(count: int, element: bytes) -> bytes:
    """A footer whose list of row groups has so many equal elements."""
    return b"\x49\xfc" + varint(count) + element * count + b"\0"


def test_a_footer_that_claims_more_than_it_has_is_no_footer(store: Path) -> None:
    """DuckDB makes room for all row groups before it reads one."""
    path = store / "r" / PART
    content = path.read_bytes()
    footer = listing(0, b"").replace(varint(0), varint(1 << 24), 1)
    path.write_bytes(content[:4] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    code, most, lines = peak(store, "summary", "r")
    said = f"claims a list of {1 << 24} values in {len(footer)} bytes"
    remedy = "copy it again, or move it away"
    assert (code, lines) == (2, [f"iostrata: {path} is damaged: its footer {said} · {remedy}"])
    assert most < MOST, f"{most} MB"


def test_as_many_row_groups_as_a_footer_may_list_take_bounded_memory(store: Path) -> None:
    path = store / "r" / PART
    content = path.read_bytes()
    footer = listing(MOST_PARTS, b"\x19\x0c\0")  # of no column each
    assert wrong_footer(footer, len(footer)) is None
    path.write_bytes(content[:4] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    code, most, lines = peak(store, "summary", "r")
    assert (code, len(lines)) == (2, 1), lines
    assert most < MOST, f"{most} MB"


def test_footers_are_right_or_wrong_in_words(store: Path) -> None:
    content = (store / "r" / PART).read_bytes()
    right = content[-8 - int.from_bytes(content[-8:-4], "little") : -8]
    assert wrong_footer(right, len(right)) is None
    assert wrong_footer(right[:-1], len(right) - 1) == "ends within a value"
    assert wrong_footer(b"", MOST_FOOTER + 1) == (
        f"has {MOST_FOOTER + 1} bytes, at most {MOST_FOOTER} are read"
    )
    assert wrong_footer(b"\x1c" * 100, 100) == "is nested more than 16 deep"
    assert wrong_footer(b"\x19" * 100, 100) == "is nested more than 16 deep"
    assert wrong_footer(b"\x1d", 1) == "has a value of the type 13, which is none"
    assert wrong_footer(b"\x16" + b"\xff" * 12, 13) == "has a number of more than 64 bits"
    many = listing(MOST_PARTS + 1, b"\0")
    assert wrong_footer(many, len(many)) == f"lists more than {MOST_PARTS} structures"


FACTS = {
    "of 100 MB": (
        b'{"x": "' + b" " * 100_000_000,
        "run.json cannot be read: it has more than 16 MiB",
    ),
    "nested deeply": (b"[" * 10**6, f"run.json is not of a run: {'[' * 40}… is no object"),
    "nested deeply within": (
        b'{"x": ' + b"[" * 10**6 + b"]" * 10**6 + b"}",
        "run.json is damaged: 2000007 bytes are no JSON",
    ),
    "with a name that is no UTF-8": (
        b'{"\xf3chema": 1}',
        "run.json is damaged: 13 bytes are no JSON",
    ),
    "with a value that is no UTF-8": (
        b'{"host": "\xf3"}',
        'run.json: host is "\\xf3", not a text',
    ),
    "with no number": (b'{"start": NaN}', "run.json is damaged: 14 bytes are no JSON"),
    "with a number too large": (
        b'{"start": ' + b"9" * 5000 + b"}",
        f"run.json: start is {'9' * 40}…, not a number that is not negative",
    ),
    "with control characters": (
        b'{"host": ["\\u001b[31m",\n\t1]}',
        'run.json: host is ["\\u001b[31m", 1], not a text',
    ),
    "that is a list": (b"[1,\n2]", "run.json is not of a run: [1, 2] is no object"),
}


@pytest.mark.parametrize("case", FACTS)
def test_facts_that_are_none_are_one_line(case: str, tmp_path: Path) -> None:
    content, line = FACTS[case]
    (tmp_path / "run.json").write_bytes(content)
    assert read_facts(tmp_path / "run.json", RecordedFacts) == (RecordedFacts(), [line])


def test_of_two_values_with_one_name_the_last_counts(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"host": "a", "start": 1, "host": "b"}')
    facts, faults = read_facts(tmp_path / "run.json", RecordedFacts)
    assert (facts.host, facts.start, faults) == ("b", 1, [])


@pytest.mark.parametrize("name", RecordedFacts.__struct_fields__)
@pytest.mark.parametrize("value", [None, -1, 1.5, "x", [[]], {"a": {}}, 10**30])
def test_a_value_of_another_type_is_right_or_named(
    name: str, value: object, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(json.dumps({name: value}))
    facts, faults = read_facts(tmp_path / "run.json", RecordedFacts)
    assert all(line.startswith(f"run.json: {name} is ") for line in faults)
    assert faults == [] or getattr(facts, name) == getattr(RecordedFacts(), name)


def test_facts_that_are_none_of_ours_take_no_memory(store: Path) -> None:
    many = ", ".join(["[]"] * 4_000_000)
    facts = json.loads((store / "r/run.json").read_text())
    text = json.dumps(facts)[:-1] + f', "unknown": [{many}]}}'
    (store / "r/run.json").write_text(text[: 16 << 20])
    code, most, lines = peak(store, "runs")
    assert code == 0, lines
    assert most < 300, f"{most} MB"


def test_a_live_file_that_is_no_json_is_left_out(store: Path) -> None:
    live = b'{"at": 1, "part": 1, "times": [], "open": [], "more_open": 0, "cells": [%s]}'
    cell = b'{"layer": "\xf3", "op": "", "job": "", "flags": 0, "count": 0, "bytes": 0}'
    for name, cells in (("right", b""), ("utf8", cell), ("deep", b"[" * 10**6 + b"]" * 10**6)):
        (store / f"r/live-{name}.json").write_bytes(live % cells)
    assert list(live_files(find_run(store, "r"))) == ["right"]


def test_peaks_are_measured() -> None:
    """What the tests above hold commands to would be seen."""
    bomb = "x = b'1' * 700_000_000"
    subprocess.run([sys.executable, "-c", bomb], check=True)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024 > MOST
