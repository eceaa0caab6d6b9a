from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostrata.cli.files import whole_file
from iostrata.errors import UserError


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("as it was")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.writelines([b"half", 1])  # type: ignore[list-item]
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["as it was"]
    with whole_file(path) as file:
        file.write(b"new")
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["new"]


def test_a_pipe_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(path) as file:
        file.write(b"passed on")
    assert os.read(reader, 100) == b"passed on"
    os.close(reader)
    assert path.is_fifo()
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match="cannot be written: Is a directory"),
        whole_file(tmp_path),
    ):
        pass
