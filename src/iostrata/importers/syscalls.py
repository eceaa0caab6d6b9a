"""One line of `strace -f -ttt -T -y`: whose, when, which call, its arguments and its result.

    [PID] SECONDS.FRACTION NAME(ARGUMENT, …) = RESULT [ERRNO (text)] [<SECONDS>]

Also what strace puts between: halves of calls (`<unfinished ...>`, `<... NAME resumed>`), signals
(`--- … ---`), ends (`+++ exited with 0 +++`) and words of its own (`strace: …`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"(?:\[pid +(\d{1,10})\] +|(\d{1,10}) +)?(?:(\d{1,12})\.(\d{1,9}) )?(.*)", re.S)
_NAME = re.compile(r"([a-z_][a-z0-9_]{0,63})\(")
_RESUMED = re.compile(r"<\.\.\. ([a-z_][a-z0-9_]{0,63}) resumed>(?: =>)? ?")
_UNFINISHED = re.compile(r" *<unfinished \.\.\.>$")
_END = re.compile(r"\+\+\+ (?:exited with (\d+)|killed by (\w+)(?: \(core dumped\))?) \+\+\+$")
_RESULT = re.compile(
    r"\s*= (?:(-?\d{1,19})|(0x[0-9a-f]{1,16})|(\?))"
    r"(<.{0,16384}?>(?:\(deleted\))?)?(?: ([A-Z][A-Z0-9_]{0,31}) \(.{0,256}?\)| \(.{0,256}?\))?"
    r"(?: <(\d{1,9})\.(\d{1,9})>| <detached \.\.\.>)?\s*$",
    re.S,
)
# What arguments consist of; a name of a descriptor may hold brackets, commas and, in one more
# layer, what kind of device it is.
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"(?:\.\.\.)?'
    r"|<(?:[A-Za-z0-9-]{1,16}:\[(?:[^\[\]]|\[[^\[\]]{0,64}\]){0,512}\]"
    r"|(?:[^<>\"\\]|\\.|<[^<>]{0,64}>){0,16384})>(?:\(deleted\))?"
    r"|/\*.{0,256}?\*/|[(\[{]|[)\]}]|,|[^\"<(\[{)\]},/]+|.",
    re.S,
)
_FD = re.compile(r"\s*(?:[a-z_]+=)?(-?\d{1,9}|AT_FDCWD)(?:<(.*)>)?(\(deleted\))?\s*", re.S)
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{1,2}|[0-7]{1,3}|.)", re.S)
_ESCAPED = bytes.maketrans(b"ntrvfab", b"\n\t\r\v\f\a\b")
_SECOND = 10**9


@dataclass(frozen=True)
class Line:
    """`text` is what follows pid and time; `at` ns since the epoch, None where it is not said."""

    pid: int | None
    at: int | None
    text: str


@dataclass(frozen=True)
class Result:
    """`value` is None for `?`; `path` the name of the descriptor that it is; `dur` in ns."""

    value: int | None
    path: str
    error: str
    dur: int | None


@dataclass(frozen=True)
class ProcessEnd:
    """How a thread ended: its exit code, or 128 and `signal` (a name)."""

    code: int | None
    signal: str


def line(text: str) -> Line:
    """Splits off pid and time."""
    match = _LINE.match(text)
    assert match is not None  # it matches anything
    pid = match[1] or match[2]
    at = _nanoseconds(match[3], match[4]) if match[3] else None
    return Line(int(pid) if pid else None, at, match[5])


def name_of(text: str) -> str:
    """The name of the call that a text begins with; empty for none."""
    match = _NAME.match(text)
    return match[1] if match else ""


def resumed(text: str) -> tuple[str, str] | None:
    """Name and rest of `<... NAME resumed>REST`."""
    match = _RESUMED.match(text)
    return (match[1], text[match.end() :]) if match else None


def unfinished(text: str) -> str | None:
    """The first half of a call, without the words that say that it is one."""
    match = _UNFINISHED.search(text)
    return text[: match.start()] if match else None


def ended(text: str) -> ProcessEnd | None:
    """The end of a thread."""
    match = _END.match(text)
    return ProcessEnd(int(match[1]) if match[1] else None, match[2] or "") if match else None


def split(text: str) -> tuple[list[str], Result] | None:
    """Arguments and result of `NAME(…) = …`; None where it is cut off or something else."""
    position = text.find("(") + 1
    begin, depth, arguments = position, 1, []
    while depth:
        token = _TOKEN.match(text, position)
        if token is None:
            return None
        position = token.end()
        first = token[0][0]
        if first in "([{":
            depth += 1
        elif first in ")]}":
            depth -= 1
        elif first == "," and depth == 1:
            arguments.append(text[begin : token.start()].strip())
            begin = position
    arguments.append(text[begin : position - 1].strip())
    match = _RESULT.match(text, position)
    return (arguments, _result(match)) if match else None


def _result(match: re.Match[str]) -> Result:
    value = int(match[1]) if match[1] else int(match[2], 16) if match[2] else None
    named = _FD.fullmatch(f"0{match[4]}") if match[4] else None
    dur = _nanoseconds(match[6], match[7]) if match[6] else None
    return Result(value, unescaped(named[2] or "") if named else "", match[5] or "", dur)


def descriptor(argument: str) -> tuple[int | None, str] | None:
    """Number and name of `3</path>`; None as number for AT_FDCWD; None for anything else."""
    match = _FD.fullmatch(argument)
    if match is None:
        return None
    return None if match[1] == "AT_FDCWD" else int(match[1]), unescaped(match[2] or "")


def string(argument: str) -> str | None:
    """What `"…"` says; None for anything else, and for what strace shortened."""
    if len(argument) < 2 or not argument.startswith('"') or not argument.endswith('"'):
        return None
    return unescaped(argument[1:-1])


def integer(argument: str) -> int | None:
    """A number, also in brackets (`[7]`, `[0] => [7]`: the first)."""
    match = re.match(r"\[?(-?\d{1,19})\b", argument)
    return int(match[1]) if match else None


def unescaped(text: str) -> str:
    """A string of C as text; bytes that are no UTF-8 stay escaped."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(_unescaped, text.encode("utf-8", "surrogatepass"))
    return raw.decode("utf-8", "backslashreplace")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1] == b"x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    if code.isdigit() and code[0] < ord("8"):
        return bytes([int(code, 8) & 0xFF])
    return code.translate(_ESCAPED)


def _nanoseconds(whole: str, fraction: str) -> int:
    return int(whole) * _SECOND + int(fraction.ljust(9, "0"))
