"""Numbers and names as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

# In place of an estimate from fewer requests than one needs.
FEW = "too few"
# Characters of one line; a name that a trace holds has 4,096 bytes at most.
LONGEST = 8192
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kmgt]?)(i?b)?", re.IGNORECASE)
_POWER = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size(count: int) -> str:
    """Bytes in binary units: `0 B`, `1.5 KiB`, `2.0 GiB`."""
    value = float(count)
    for unit in _UNITS:
        if abs(value) < 1024 or unit == _UNITS[-1]:
            break
        value /= 1024
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def bytes_of(text: str) -> int | None:
    """Bytes of a size like 64MB or 1.5 GiB, in powers of 1024; None of what is no size."""
    found = _SIZE.fullmatch(text)
    return int(float(found[1]) * (1 << _POWER[found[2].lower()])) if found else None


def seconds(nanoseconds: int) -> str:
    """A duration: `12 µs`, `3.4 ms`, `5.21 s`, `2 min 5 s`."""
    if nanoseconds < 1_000_000:
        return f"{nanoseconds / 1e3:.0f} µs"
    if nanoseconds < 1_000_000_000:
        return f"{nanoseconds / 1e6:.1f} ms"
    if nanoseconds < 120_000_000_000:
        return f"{nanoseconds / 1e9:.2f} s"
    whole = round(nanoseconds / 1e9)
    return f"{whole // 60} min {whole % 60} s"


def count(number: int) -> str:
    """A count with thin groups: `1 234 567`."""
    return f"{number:,}".replace(",", " ")


def plural(number: int, noun: str) -> str:
    """`1 process`, `2 processes`."""
    if number == 1:
        return f"1 {noun}"
    return f"{count(number)} {noun}{'es' if noun.endswith('s') else 's'}"


def near(value: int | None, bound: int | None, text: Callable[[int], str]) -> str:
    """The value, `~884 ±11 %` where it has a bound; FEW for None."""
    if value is None:
        return FEW
    if not bound:
        return text(value)
    return f"~{text(value)} {margin(bound / value)}"


def percent(share: float, places: int = 0, signed: bool = False) -> str:
    """A part of 1: `61 %`, `2.5 %` with one place, `+12 %` when signed."""
    return f"{100 * share:{'+' if signed else ''}.{places}f} %"


def margin(off: float) -> str:
    """`±11 %`, `±<1 %`; `off`: a share."""
    return "±<1 %" if off < 0.01 else f"±{percent(off)}"


def between(
    value: int | None, low: int | None, high: int | None, text: Callable[[int], str]
) -> str:
    """The value, `~1.2 ms (1.1 ms to 1.4 ms)` where its interval has a width; FEW for None."""
    if value is None:
        return FEW
    if low is None or high is None or low == high:
        return text(value)
    return f"~{text(value)} ({text(low)} to {text(high)})"


def storable(text: str) -> str:
    """The text with what UTF-8 has no bytes for, and zeros, escaped.

    Python has such characters where bytes of a command line or a name are no UTF-8, and where JSON
    of others escapes half a character.
    """
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def printable(text: str) -> str:
    """The text with every control and format character escaped, its middle left out if it is long.

    Names come from traced programs: an escape sequence in a path must not reach the terminal, nor
    a name that fills it for minutes.
    """
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]} … {len(text) - 2 * half:,} characters … {text[-half:]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def shortened(text: str, most: int) -> str:
    """The text in `most` characters, its middle left out where it is longer."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def columns(
    header: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()
) -> list[str]:
    """Aligned lines of text; `right` are the columns that hold numbers."""
    table = [list(header), *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    numbers = set(right)
    return [
        "  ".join(
            cell.rjust(width) if i in numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
