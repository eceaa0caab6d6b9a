"""What may be asked of a workload: names, ranges, units, and values checked against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostrata.errors import UserError
from iostrata.records import Record
from iostrata.text import bytes_of, size

Value = int | float | str | bool
BYTES = "bytes"
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class ParameterAnswer(Record, frozen=True):
    """A parameter as JSON has it; `unit` is '' where it has none."""

    name: str
    about: str
    default: Value
    unit: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    scaled: bool


@dataclass(frozen=True)
class Parameter:
    """One number, text or choice; its type is that of `default`.

    `unit` is `bytes` for sizes, which are read as 64MB; `low` and `high` are allowed themselves.
    With `scaled`, `--scale` multiplies it.
    """

    name: str
    about: str
    default: Value
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    scaled: bool = False

    @property
    def range(self) -> str:
        """What is allowed, for people."""
        if self.choices:
            return ", ".join(self.choices)
        if isinstance(self.default, bool):
            return "true, false"
        if self.low is None and self.high is None:
            return ""
        return f"{self._shown(self.low)} … {self._shown(self.high)}"

    def _shown(self, bound: float | None) -> str:
        if bound is None:
            return ""
        return size(int(bound)) if self.unit == BYTES else f"{bound:g}"

    def tells(self, value: Value) -> bool:
        """Whether a value says something of a workload: how large it is, or what is not usual."""
        return self.scaled or value != self.default

    def said(self, value: Value) -> str:
        """NAME=VALUE as `--set` takes it."""
        text = str(value).lower()
        if self.unit == BYTES and isinstance(value, int):
            rounded = size(value).replace(" ", "")
            text = rounded if self.read(rounded) == value else text
        return f"{self.name}={text}"

    def answer(self) -> ParameterAnswer:
        return ParameterAnswer(**vars(self))

    def read(self, text: str) -> Value:
        """The value that a text stands for; raises UserError for none, or one not allowed."""
        try:
            value = self._value(text.strip())
        except ValueError:
            raise self._wrong(text) from None
        return self.checked(value)

    def checked(self, value: Value) -> Value:
        """`value`, where it is allowed; raises UserError."""
        if self.choices and value not in self.choices:
            raise self._wrong(str(value))
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and not (self.low is None or float(value) >= self.low):
            raise self._wrong(str(value))
        if number and not (self.high is None or float(value) <= self.high):
            raise self._wrong(str(value))
        return value

    def _value(self, text: str) -> Value:
        if isinstance(self.default, bool):
            if text.lower() not in _TRUTH:
                raise ValueError(text)
            return _TRUTH[text.lower()]
        if self.unit == BYTES:
            return _bytes(text)
        if isinstance(self.default, int):
            return int(text)
        if isinstance(self.default, float):
            number = float(text)
            if number != number or number in (float("inf"), float("-inf")):
                raise ValueError(text)
            return number
        return text

    def _wrong(self, text: str) -> UserError:
        unit = f" {self.unit}" if self.unit and self.unit != BYTES else ""
        kinds = {int: "a whole number", float: "a number"}
        what = self.range or ("a size like 64MB" if self.unit == BYTES else "")
        what = what or kinds.get(type(self.default), "a text")
        return UserError(f"{self.name}={text} is not allowed", f"say {what}{unit}")


def _bytes(text: str) -> int:
    found = bytes_of(text)
    if found is None:
        raise ValueError(text)
    return found


def settings_of(path: Path) -> list[str]:
    """NAME=VALUE of each line of a file; empty lines and those that begin with # say nothing.

    Raises UserError for a file that cannot be read.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "name another --settings") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is no text", "say NAME=VALUE on each line") from None
    said = (line.strip() for line in lines)
    return [line for line in said if line and not line.startswith("#")]


def values(
    parameters: Sequence[Parameter], given: Sequence[str], scale: float = 1.0
) -> Mapping[str, Value]:
    """Each parameter's value: `given` as NAME=VALUE, else its default, times `scale` where that
    is meant for it. What is given is taken as it is. Raises UserError.
    """
    known = {parameter.name: parameter for parameter in parameters}
    found: dict[str, Value] = {}
    for one in given:
        name, equals, text = one.partition("=")
        if not equals or name not in known:
            names = ", ".join(known) or "none"
            raise UserError(f"no parameter {name}" if equals else f"{one}: no NAME=VALUE", names)
        found[name] = known[name].read(text)
    for parameter in parameters:
        if parameter.name not in found:
            found[parameter.name] = _default(parameter, scale)
    return {name: found[name] for name in known}


def _default(parameter: Parameter, scale: float) -> Value:
    value = parameter.default
    if not parameter.scaled or isinstance(value, str | bool):
        return value
    least = parameter.low if parameter.low is not None else 0.0
    scaled = max(least, value * scale)
    return parameter.checked(round(scaled) if isinstance(value, int) else scaled)
