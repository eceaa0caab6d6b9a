"""Points as people write them in TOML, checked and compiled into rows of strings.

Ours (java/points/*.toml, by schema/generate.py, which has the standard library only) and those of
users (`record --points FILE`) go through the same checks; users may say less.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

POINT_FIELDS = (
    "id", "layer", "op", "class", "method", "desc", "mode", "scope", "begin",
    "bytes", "asked", "offset", "target", "context", "effect", "since", "until", "through",
)  # fmt: skip
NOTES = ("unverified",)  # for readers of the list of points, not for the agent
MODES = ("call", "counted", "record", "effect", "before", "replace", "own")
REQUIRED = ("layer", "op", "class", "method", "desc")
USER_FIELDS = (*REQUIRED, "mode", "begin", "bytes", "asked", "offset", "target")
USER_MODES = ("call", "counted", "record")
# What the agent itself calls before it knows that it was called by itself; in UserPoints.java, too.
RESERVED = ("java.lang.", "java.util.", "java.nio.", "jdk.internal.", "sun.misc.", "io.iostrata.")
# `byte` is what a one-byte read returned: 1 unless it returned -1. `of(OP)` sums calls inside,
# `delta(this.FIELD)` is by how much the field has grown, `collected(this)` what MapOutputBuffer's
# fields say, NAME(value) what an extractor says.
NUMBER = re.compile(r"ret|byte|of\(\w+\)|arg[1-9]|this\.[\w$]+|-?\d+")
VERSION = re.compile(r"(jdk |spark |hbase )?\d+(\.\d+)*")  # of Hadoop unless it says which
# A name is taken whole (`++`), or each `ret` in it could be a value of its own, too: 2^n ways.
EXTRACTOR = re.compile(r"\w+\((?:(?:ret|this|arg[1-9]|this\.[\w$]++)(?:, )?)*\)")
WOVEN = r"delta\(this\.\w+\)|collected\(this\)"
MEASURED = re.compile(rf"{NUMBER.pattern}|{WOVEN}|(?!delta\(|of\(|collected\(){EXTRACTOR.pattern}")
_NAME = r"[A-Za-z_$][\w$]*"
_CLASS = re.compile(rf"{_NAME}(\.{_NAME})*")
_METHOD = re.compile(rf"{_NAME}|<init>")
_TYPE = re.compile(rf"\[*(?:[BCDFIJSZ]|L{_NAME}(?:/{_NAME})*;)")
_OP = re.compile(r"[a-z][a-z0-9_]{0,31}")
_LONGEST = 200  # characters of a wrong value that are shown
_COUNTABLE = "IJSBC[L"  # first characters of types that become a number: also sizes


class FaultyPointError(Exception):
    """One thing that is wrong with one point; `field` is where."""

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field


class PointError(Exception):
    """A file that cannot be compiled; the text names file, place and reason."""


@dataclass(frozen=True)
class Rules:
    """What a point may say: layers, extractors by name with the field they are for, last id."""

    layers: Collection[str]
    extractors: Mapping[str, str]
    last_id: int


def compile_point(point: Mapping[str, Any], rules: Rules) -> dict[str, str]:
    """The row of one point, all fields as text; raises FaultyPointError."""
    unknown = sorted(set(point) - {*POINT_FIELDS, *NOTES})
    if unknown:
        raise FaultyPointError(f"unknown field {', '.join(unknown)}", unknown[0])
    for field in ("id", *REQUIRED):
        if field not in point:
            raise FaultyPointError(f"{field} is missing")
    for field, value in point.items():
        kind = int if field == "id" else bool if field in ("scope", "begin") else str
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            if field in ("since", "until"):
                continue  # said below, with what it should be
            raise FaultyPointError(f"{field} = {_shown(value)} is no {kind.__name__}", field)
        if kind is str and re.search(r"[\t\r\n]", str(value)):
            raise FaultyPointError(f"{field} = {_shown(value)} is more than a word", field)
    if point["layer"] not in rules.layers:
        raise FaultyPointError(
            f"layer {point['layer']!r} is none of {', '.join(rules.layers)}", "layer"
        )
    if not 0 < point["id"] <= rules.last_id:
        raise FaultyPointError(f"id must lie in 1..{rules.last_id}", "id")
    if point.get("mode", "call") not in MODES:
        raise FaultyPointError(
            f"mode {_shown(point['mode'])} is none of {', '.join(MODES)}", "mode"
        )
    _check_syntax(point)
    _check_values(point, rules)
    row = {name: str(point.get(name, "")) for name in (*POINT_FIELDS, *NOTES)}
    row["mode"] = row["mode"] or "call"
    for field in ("scope", "begin"):
        row[field] = "1" if point.get(field) else "0"
    return row


def _shown(value: object) -> str:
    """The begin of a value of any type, as one would write it."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python writes no number of so many digits
        return "a value too large to show"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _check_syntax(point: Mapping[str, Any]) -> None:
    """The form of each field."""
    for field in ("bytes", "asked", "offset"):
        known = NUMBER if field != "bytes" else MEASURED
        if field in point and not known.fullmatch(point[field]):
            given = f"{field} = {point[field]!r}"
            raise FaultyPointError(f"{given} is not ret, byte, of(OP), argN or this.FIELD", field)
    for field in ("target", "context", "effect"):
        if field in point and not EXTRACTOR.fullmatch(point[field]):
            raise FaultyPointError(
                f"{field} = {point[field]!r} is not NAME(argN, this.FIELD)", field
            )
    if "through" in point:
        # Where the call throws woven code has `this` and no argument.
        if not re.fullmatch(r"this\.[\w$]+", point["through"]):
            raise FaultyPointError(f"through = {point['through']!r} is not this.FIELD", "through")
        if point.get("mode") != "counted":
            raise FaultyPointError("through is for points with mode = 'counted'", "through")
    for field in ("since", "until"):
        given = point.get(field, "0")
        if not isinstance(given, str) or not VERSION.fullmatch(given):
            raise FaultyPointError(
                f"{field} = {_shown(given)} is not a version: 3.4 or jdk 11", field
            )
    for field, form, what in (
        ("op", _OP, "a word in small letters"),
        ("class", _CLASS, "a class as a program names it: package.Outer$Inner"),
        ("method", _METHOD, "the name of a method"),
    ):
        if not form.fullmatch(point[field]):
            raise FaultyPointError(f"{field} = {point[field]!r} is not {what}", field)


def types_of(descriptor: str) -> list[str]:
    """Types of a descriptor: what is returned, then the arguments; raises FaultyPointError."""
    arguments, closed, returned = descriptor.removeprefix("(").partition(")")
    types = [match[0] for match in _TYPE.finditer(arguments)]
    whole = descriptor.startswith("(") and closed and "".join(types) == arguments
    if not whole or not (returned == "V" or _TYPE.fullmatch(returned)):
        raise FaultyPointError(
            f"desc = {descriptor!r} is no descriptor of the JVM: ([BII)V", "desc"
        )
    return [returned, *types]


def _check_values(point: Mapping[str, Any], rules: Rules) -> None:
    """Arguments and results that fields name: they exist, and are of a type that serves."""
    types = types_of(point["desc"])
    for field in ("bytes", "asked", "offset"):
        text = point.get(field, "")
        if field == "bytes" and EXTRACTOR.fullmatch(text) and not NUMBER.fullmatch(text):
            _check_extractor(field, text, types, rules)
            continue
        if field != "bytes" and (text in ("ret", "byte") or text.startswith("of(")):
            raise FaultyPointError(
                f"{field} = {text!r} is known only when the method has returned", field
            )
        found = _type(field, text, types)
        if found and found[0] not in _COUNTABLE:
            raise FaultyPointError(
                f"{field} = {text!r} is of type {found}, not a number or a size", field
            )
        if text == "byte" and types[0] != "I":
            raise FaultyPointError(
                f"{field} = 'byte' needs a method that returns I, not {types[0]}", field
            )
    for field in ("target", "context", "effect"):
        if field in point:
            _check_extractor(field, point[field], types, rules)


def _check_extractor(field: str, text: str, types: Sequence[str], rules: Rules) -> None:
    name, _, rest = text.partition("(")
    if re.fullmatch(WOVEN, text):
        return
    fit = [known for known, of in rules.extractors.items() if of == field]
    if name not in fit:
        raise FaultyPointError(
            f"{field} = {text!r}: no such extractor, there are {', '.join(fit)}", field
        )
    for place, value in enumerate(part.strip() for part in rest.removesuffix(")").split(",")):
        if value == "ret" and (place or field in ("target", "context")):
            reason = "is known only when the method has returned"
            raise FaultyPointError(f"{field} = {text!r}: ret {reason}", field)
        found = _type(field, value, types)
        if found and found[0] not in "[L":
            raise FaultyPointError(
                f"{field} = {text!r}: {value} is of type {found}, not an object", field
            )


def _type(field: str, value: str, types: Sequence[str]) -> str:
    """Type of `ret` or `argN`; empty for what the descriptor does not tell."""
    if value == "ret":
        if types[0] == "V":
            raise FaultyPointError(f"{field} names ret, and the method returns nothing", field)
        return types[0]
    if not re.fullmatch(r"arg[1-9]", value):
        return ""
    number = int(value[3:])
    if number >= len(types):
        raise FaultyPointError(f"{field} names {value}, and the method has {len(types) - 1}", field)
    return types[number]


def points_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Tab-separated, one point a line, the first line names the fields: what agents read."""
    lines = ["\t".join(POINT_FIELDS)]
    lines += ["\t".join(row[name] for name in POINT_FIELDS) for row in rows]
    return "\n".join(lines) + "\n"


def compile_user_file(
    text: str, name: str, rules: Rules, ours: Collection[tuple[str, str, str]], most: int
) -> list[dict[str, str]]:
    """The rows of a user's file, their ids 1, 2, …: each process gives them others.

    `ours` are (class, method, descriptor) that are traced anyway. Raises PointError:
    `FILE:LINE: reason`.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = found[1] if found else str(text.count("\n") + 1)
        reason = re.sub(r" \(at .*\)", "", str(error))
        raise PointError(f"{name}:{line}: {reason}") from error
    except RecursionError as error:
        raise PointError(f"{name}:1: its values are nested too deeply") from error
    except ValueError as error:  # Python's int
        raise PointError(f"{name}:1: it has a number with too many digits") from error
    points = document.pop("point", [])
    if document:
        raise PointError(f"{name}:1: {sorted(document)[0]} is not [[point]]")
    if not isinstance(points, list) or not points:
        raise PointError(f"{name}:1: it has no [[point]]")
    rows: list[dict[str, str]] = []
    seen: dict[tuple[str, str, str], int] = {}
    for index, point in enumerate(points):
        try:
            if index == most:
                raise FaultyPointError(f"there are {len(points)} points, at most {most}")
            row = _compile_of_user(point, index, rules)
            key = (row["class"], row["method"], row["desc"])
            if key in seen:
                first = _line(text, seen[key], "")
                raise FaultyPointError(
                    f"{key[0]}#{key[1]}{key[2]} stands in line {first} already", "class"
                )
            if key in ours:
                raise FaultyPointError(f"{key[0]}#{key[1]}{key[2]} is traced anyway", "class")
        except FaultyPointError as fault:
            line = _line(text, index, fault.field)
            raise PointError(f"{name}:{line}: {fault.reason}") from fault
        seen[key] = index
        rows.append(row)
    return rows


def _compile_of_user(point: Mapping[str, Any], index: int, rules: Rules) -> dict[str, str]:
    """Users name methods and values; who calls belong to, and what they return, is not theirs."""
    if not isinstance(point, dict):
        raise FaultyPointError("point is not [[point]]")
    for field in point:
        if field in (*POINT_FIELDS, *NOTES) and field not in USER_FIELDS:
            given = "each process gives it" if field == "id" else "it is for our own points"
            raise FaultyPointError(f"{field} cannot be said here: {given}", field)
    if point.get("mode", "call") not in USER_MODES:
        raise FaultyPointError(
            f"mode {_shown(point['mode'])} is none of {', '.join(USER_MODES)}", "mode"
        )
    row = compile_point({**point, "id": index + 1}, rules)
    if row["class"].startswith(RESERVED):
        raise FaultyPointError(f"class {row['class']} is used by the tracer itself", "class")
    if row["method"] == "<init>":
        raise FaultyPointError(
            "a constructor cannot be timed: its object is not there yet", "method"
        )
    if row["bytes"].startswith("of("):
        raise FaultyPointError(f"bytes = {row['bytes']!r} is for our own points", "bytes")
    return row


def _line(text: str, index: int, field: str) -> int:
    """Line, from 1, of a field of the point at `index`, else of the point."""
    begin = -1
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*\[\[\s*point\s*\]\]", line):
            if index < 0:
                break  # the next point: the field is not there
            begin = number if index == 0 else begin
            index -= 1
        elif index < 0 and field and re.match(rf"\s*\"?{re.escape(field)}\"?\s*=", line):
            return number
    return max(begin, 1)
