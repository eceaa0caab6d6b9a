"""A registry: things of one kind by their names, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from iostrata.errors import InternalError, UserError


class Named(Protocol):
    """Whatever has a name."""

    @property
    def name(self) -> str: ...


_T = TypeVar("_T", bound=Named)


class Registry(dict[str, _T]):
    """`kind` is what people call one of them."""

    def __init__(self, kind: str, things: Iterable[_T]) -> None:
        super().__init__()
        self.kind = kind
        for thing in things:
            if thing.name in self:
                raise InternalError(f"two of the {kind}s are called {thing.name}")
            self[thing.name] = thing

    def named(self, name: str) -> _T:
        """The thing of that name; raises UserError, which says what names there are."""
        if name not in self:
            raise UserError(f"no {self.kind} is called {name!r}", f"one of {', '.join(self)}")
        return self[name]
