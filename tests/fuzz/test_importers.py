"""A trace of another tool becomes a run, or one line says why not: whatever is in it."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tests.fuzz.cases import EDGES, ODD_JSON, damaged, fuzz, refusal

from iostrata.analyse.summary import summary
from iostrata.importers.formats import import_files
from iostrata.importers.tests.test_darshan import SAMPLES, sample
from iostrata.importers.tests.test_dftracer import PARENT
from iostrata.importers.tests.test_strace import LINES
from iostrata.show.summary import summary_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

Trace = tuple[str, bytes]
_CALLS = ("read", "write", "openat", "clone", "fork", "execve", "mmap", "dup2", "sendfile", "close")
# Pieces of lines, many times one after the other: for patterns that go back again and again.
_PIECES = st.sampled_from(
    [
        '"',
        "<",
        ">",
        "> ()",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\\",
        "\\x4",
        ", ",
        "/*",
        "3</a>",
        "=",
        "a",
    ]
)
_REPEATED = st.lists(st.tuples(_PIECES, st.integers(1, 2000)), max_size=4).map(
    lambda parts: "".join(piece * times for piece, times in parts)
)
_ARGUMENT = st.one_of(
    EDGES.map(str),
    _REPEATED,
    st.sampled_from(["3</d/f>", "AT_FDCWD", '"/a"', "CLONE_THREAD|SIGCHLD"]),
)


@st.composite
def _strace_line(draw: Any) -> str:
    pid = draw(
        st.one_of(st.just(""), EDGES.map(lambda n: f"{n} "), st.integers(1, 9).map("{} ".format))
    )
    at = draw(st.one_of(st.just("10.5"), EDGES.map(lambda n: f"{n}.{abs(n)}")))
    arguments = ", ".join(draw(st.lists(_ARGUMENT, max_size=4)))
    result = draw(
        st.one_of(EDGES.map(str), st.sampled_from(["?", "-1 ENOENT (no)", "3</x>"]), _REPEATED)
    )
    call = f"{draw(st.sampled_from(_CALLS))}({arguments}) = {result} <0.1>"
    whole = draw(st.sampled_from(["{}", "{}", "{} <unfinished ...>", "<... read resumed>{}"]))
    other = st.sampled_from(["+++ exited with 0 +++", "--- SIGCHLD ---", "+++ superseded by 9 +++"])
    return f"{pid}{at} {draw(st.one_of(st.just(whole.format(call)), other))}"


@st.composite
def _dftracer_line(draw: Any) -> str:
    event: dict[str, str] = {
        "ph": '"X"', "cat": '"POSIX"', "name": '"read"', "pid": "1", "tid": "1", "ts": "5",
        "dur": "2", "args": '{"ret": 5, "fhash": "1", "hhash": "1"}',
    }  # fmt: skip
    for key in draw(st.lists(st.sampled_from([*event, "x"]), max_size=2)):
        event[key] = draw(st.one_of(ODD_JSON, EDGES.map(str)))
    inner = ("ret", "count", "size", "offset", "flags", "mode", "fhash", "whence", "cmd_hash")
    args = [
        f'"{key}": {draw(ODD_JSON)}' for key in draw(st.lists(st.sampled_from(inner), max_size=3))
    ]
    if args:
        event["args"] = "{" + ", ".join(args) + "}"
    names = ('"lseek64"', '"fread"', '"open"', '"close"', '"start"', '"end"', '"FH"', '"CM"')
    event["name"] = draw(st.one_of(st.just(event["name"]), st.sampled_from(names)))
    event["ph"] = draw(st.one_of(st.just(event["ph"]), st.sampled_from(['"M"', "1", "4"])))
    return "{" + ", ".join(f'"{key}": {value}' for key, value in event.items()) + "}"


def _lines(format_name: str, head: str, line: st.SearchStrategy[str]) -> st.SearchStrategy[Trace]:
    """A valid head, then lines of which each may come many times."""
    text = st.lists(st.tuples(line, st.sampled_from([1, 1, 1, 500])), max_size=6).map(
        lambda lines: head + "".join(f"{text}\n" * times for text, times in lines)
    )
    content = text.map(lambda text: text.encode("utf-8", "surrogatepass"))
    content = st.one_of(content, content, content.flatmap(damaged))
    packed = content.map(gzip.compress)
    bomb = st.tuples(content, st.sampled_from([b"\n", b"\0", b"a"]), st.integers(1, 20)).map(
        lambda parts: gzip.compress(parts[0] + parts[1] * (parts[2] << 20), 1)
    )
    some = st.one_of(*[content] * 8, packed, packed, packed.flatmap(damaged), bomb)
    return st.tuples(st.just(format_name), some)


def test_importers(tmp_path: Path) -> None:
    store, file = tmp_path / "store", tmp_path / "trace.7"
    log = sample(next(iter(SAMPLES)))
    head = "".join(gzip.decompress(PARENT.read_bytes()).decode().splitlines(keepends=True)[:30])

    def check(trace: Trace) -> None:
        format_name, content = trace
        file.write_bytes(content)
        wrong = refusal(lambda: import_files([file], format_name, store, "r"))
        if wrong is not None:
            assert not list(store.glob("*")), f"{wrong}, and it leaves something"
            return
        run = find_run(store, "r")
        assert run.damage == ()
        with OpenedRun(run) as opened:
            assert opened.incomplete == [] or run.state == "incomplete", opened.incomplete
            (rows,) = opened.rows("SELECT count(*) AS n FROM events")
            assert summary_lines(summary(opened))
        assert rows["n"] == run.events
        shutil.rmtree(run.path)

    darshan = st.tuples(st.just("darshan"), damaged(log.read_bytes()))
    traces = [
        _lines("strace", LINES, _strace_line()),
        _lines("dftracer", head, _dftracer_line()),
    ]
    fuzz(st.one_of(*traces, *traces, *traces, darshan), check)
