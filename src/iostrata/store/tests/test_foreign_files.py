from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.regular import read_regular
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, row_of_sum


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "file") == read_regular(tmp_path / "link") == b"abc"


def test_what_has_no_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(b"abcd")
    with pytest.raises(OSError, match="it is no regular file"):
        read_regular(tmp_path / "fifo")
    with pytest.raises(OSError, match="it is no regular file"):
        read_regular(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)
    with pytest.raises(OSError, match="it has more than 0 MiB"):
        read_regular(tmp_path / "large", most=3)


def test_a_fifo_in_a_run_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    # GIVEN a run whose only part, and one whose facts, were replaced by a FIFO
    run_dir = make_run(tmp_path, "r", [row_of_sum("java", "read")])
    part = run_dir / "events/host=node/part-000001.parquet"
    part.unlink()
    os.mkfifo(part)
    other = make_run(tmp_path, "s", [row_of_sum("java", "read")])
    (other / "run.json").unlink()
    os.mkfifo(other / "run.json")
    # THEN
    with pytest.raises(UserError) as caught:
        OpenedRun(find_run(tmp_path, "r"))
    assert caught.value.message == f"{part} cannot be read: it is no regular file"
    assert caught.value.remedy == "move it away"
    assert find_run(tmp_path, "s").damage == ("run.json cannot be read: it is no regular file",)
