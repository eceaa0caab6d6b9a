"""Records: the named, frozen types that analyses return, and how rows and JSON become such.

A record's fields say their units by the types below, so a JSON schema made of it says them, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec

from iostrata.errors import InternalError

Ns = Annotated[int, msgspec.Meta(description="nanoseconds")]
EpochNs = Annotated[int, msgspec.Meta(description="nanoseconds since the epoch")]
Bytes = Annotated[int, msgspec.Meta(description="bytes")]
Count = Annotated[int, msgspec.Meta(description="a number of things")]
Share = Annotated[float, msgspec.Meta(description="a part of 1")]
Rate = Annotated[float, msgspec.Meta(description="bytes a second")]

_R = TypeVar("_R")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of an analysis, or a part of a document: `class Read(Record, frozen=True)`."""


def records(rows: Iterable[Mapping[str, Any]], kind: type[_R]) -> list[_R]:
    """Rows as records of `kind`; raises InternalError where a column is no field of it, or a value
    is not of the field's type.
    """
    try:
        return msgspec.convert(list(rows), list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise InternalError(f"rows are no {kind.__name__}: {error}") from error


def builtins(value: Any) -> Any:
    """A record, or anything that holds records, as dicts, lists and values of JSON."""
    return msgspec.to_builtins(value, enc_hook=_encoded)


def _encoded(value: Any) -> str:
    """What JSON has no type for, as a text: paths."""
    return str(value)
