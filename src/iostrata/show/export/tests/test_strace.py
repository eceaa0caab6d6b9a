"""strace-like lines, and that what is in a name can neither end nor forge one."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from iostrata.show.export.strace import _escaped
from iostrata.show.export.tests.runs import CALLS, HOSTILE, call, export, make


def lines(store: Path, **chosen: object) -> list[str]:
    """Without the 1,700,000,000 s at which made runs start."""
    written, data = export(store, "strace", **chosen)
    found = data.decode("ascii").splitlines()
    assert written == len(found)
    return [line.replace(" 17000000", " ", 1) for line in found]


def test_a_line_per_call_in_the_order_of_time(tmp_path: Path) -> None:
    make(tmp_path)
    found = lines(tmp_path)
    assert found == [
        '100 00.000000000 fs_write("/a", 4096) = 4096 <0.100000000>',
        '100 00.010000000 hdfs_write("/a", 4096) = 4096 <0.080000000>',
        '100 00.015000000 sendto(3<socket:[node2:9866]>, ""..., 4200, 0, NULL, 0) = 4200'
        " <0.005000000>",
        '101 00.020000000 datanode_receive_block("/a", 4096) = 4096 <0.050000000>',
        '101 00.030000000 write(3</data/blk_77>, ""..., 4096) = 4096 <0.010000000>',
        '100 00.110000000 pread64(4</a>, ""..., 4096, 20) = 10 <0.001000000>',
        '100 00.120000000 openat(AT_FDCWD, "/none", ...) = -1 ENOENT'
        " (java.io.FileNotFoundException) <0.001000000>",
        '100 00.130000000 read(4</a>, ""..., 0 <unfinished ...>',
    ]
    assert len(found) == CALLS


def test_threads_of_all_hosts_have_numbers_of_their_own(tmp_path: Path) -> None:
    rows = [
        call("java.read", span, span, 1, host=host, proc=proc, pid=pid, tid=tid)
        for span, (host, proc, pid, tid) in enumerate(
            [("a", 1, 100, 1), ("a", 1, 100, 9), ("a", 2, 101, 1), ("b", 3, 100, 1)], 1
        )
    ]
    make(tmp_path, rows)
    assert [line.split()[0] for line in lines(tmp_path)] == ["100", "102", "101", "103"]


def test_numbers_of_files_are_given_again_after_a_close(tmp_path: Path) -> None:
    made = [("open", "/a"), ("open", "/b"), ("close", "/a"), ("open", "/c"), ("read", "/b")]
    make(
        tmp_path,
        [
            call(f"posix.{op}", span, span, 1, target=target)
            for span, (op, target) in enumerate(made)
        ],
    )
    assert [line.split(" ", 2)[2].removesuffix(" <0.001000000>") for line in lines(tmp_path)] == [
        'openat(AT_FDCWD, "/a", ...) = 3</a>',
        'openat(AT_FDCWD, "/b", ...) = 4</b>',
        "close(3</a>) = 0",
        'openat(AT_FDCWD, "/c", ...) = 3</c>',
        'read(4</b>, ""..., 0) = 0',
    ]


def test_errors_have_the_names_of_the_kernel(tmp_path: Path) -> None:
    errors = ["ENOSPC", "errno 4711", "java.nio.file.AccessDeniedException", "x.Y\n"]
    make(tmp_path, [call("java.sync", n, n, 1, error=error) for n, error in enumerate(errors)])
    assert [line.partition(" = ")[2].partition(" <")[0] for line in lines(tmp_path)] == [
        "-1 ENOSPC (ENOSPC)",
        "-1 EIO (errno 4711)",
        "-1 EACCES (java.nio.file.AccessDeniedException)",
        "-1 EIO (x.Y\\n)",
    ]


def test_what_names_hold_stays_within_them(tmp_path: Path) -> None:
    make(
        tmp_path,
        [
            call("java.read", 1, 0, 1, target=HOSTILE),
            {**call("hdfs.stat", 2, 1, 1, target=HOSTILE), "op": "my op()"},
        ],
    )
    escaped = r"a \"quoted\", \074b\076\\path\074/b\076\n\033[31m\t\303\244"
    escaped += r"\360\237\222\245\000"
    assert lines(tmp_path) == [
        f'100 00.000000000 read(3<{escaped}>, ""..., 0) = 0 <0.001000000>',
        f'100 00.001000000 hdfs_my_op__("{escaped}") = 0 <0.001000000>',
    ]


@given(st.text())
def test_escaped_names_are_plain_and_say_all(text: str) -> None:
    shown = _escaped(text)
    assert shown.isascii()
    assert re.fullmatch(r'(?:[ -!#-;=?-\[\]-~]|\\["\\ntr]|\\[0-7]{3})*', shown)
    codes = {"n": "\n", "t": "\t", "r": "\r"}
    read = re.sub(
        r"\\([0-7]{3}|.)",
        lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else codes.get(m[1], m[1]),
        shown,
    )
    assert read.encode("latin-1") == text.encode("utf-8", "replace")
