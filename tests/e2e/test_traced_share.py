"""What share of the bytes of a process was traced, by the kernel's own account."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Iostrata
from tests.e2e.jdks import java_home

MIB = 1 << 20
WRITTEN = 32 * MIB


def moved(how: str, tmp_path: Path, program: Path, iostrata: Iostrata, jdk: str = "17") -> Any:
    """The share of the program's process, and the line about it on the first screen."""
    java = str(java_home(jdk) / "bin/java")
    done = iostrata("record", "--run", "r", "--", java, "-cp", str(program), "Moves", how,
                    str(tmp_path / "file"))  # fmt: skip
    assert done.returncode == 0
    (share,) = json.loads(iostrata("summary", "r", "--json").stdout)["traced_shares"]
    screen = iostrata("summary", "r").stdout
    return share, re.findall(r"^.* are not traced: .*$", screen, re.MULTILINE)


@pytest.mark.parametrize("jdk", ["17", "25"])
def test_streams_are_traced_whole(
    jdk: str, tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    share, lines = moved("stream", tmp_path, program, iostrata, jdk)
    assert share["io_written"] >= WRITTEN
    assert share["io_read"] >= WRITTEN
    assert share["traced_written"] >= WRITTEN
    assert share["missing"] < MIB
    assert lines == []


def test_a_mapped_file_is_named(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    share, lines = moved("mapped", tmp_path, program, iostrata)
    assert share["disk_written"] >= WRITTEN
    assert share["mapped"] >= WRITTEN * 0.9
    assert [line.rpartition(": ")[2] for line in lines] == ["mapped files"]


def test_a_native_child_is_named(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    share, lines = moved("child", tmp_path, program, iostrata)
    assert share["io_written"] >= WRITTEN
    (line,) = lines
    assert re.fullmatch(
        r"6\d\.\d MiB of 6\d\.\d MiB \(\d+ %\) by client pid \d+ are not traced: native children",
        line,
    )
