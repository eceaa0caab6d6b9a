"""Other hosts that make the load of a profile, and how a command runs on one."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from iostrata.errors import UserError
from iostrata.predict import child

SSH = "ssh -o BatchMode=yes {host} {command}"
_PLACES = re.compile(r"\{(?:host|command)\}")
_PATIENCE = 60.0  # s, of a command that moves nothing


@dataclass(frozen=True)
class LoadHost:
    """A host by its name; `run`: a command line that runs another one there.

    `{host}` in it is the name, and `{command}` the other one as a shell reads it; without that, its
    words stand behind.
    """

    name: str
    run: str

    def command(self, *words: str) -> list[str]:
        """The command line that runs `words` on the host."""
        given = shlex.split(self.run)
        said = {"{host}": self.name, "{command}": shlex.join(words)}
        found = [_PLACES.sub(lambda place: said[place[0]], word) for word in given]
        return found if "{command}" in self.run else [*found, *words]

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a short command there; raises UserError where the host does not answer."""
        return child.run(self.command(*words), _PATIENCE, f"host {self.name} does not answer")

    def do(self, *words: str) -> str:
        """What a short command prints there; raises UserError where it fails."""
        done = self.ask(*words)
        if done.returncode:
            raise UserError(
                f"host {self.name} cannot run {words[0]}: {child.said(done)[-1]}",
                f"try: {shlex.join(self.command(*words))}",
            )
        return done.stdout


@dataclass(frozen=True)
class LoadHosts:
    """Hosts by their names, and how a command runs on each (`LoadHost`)."""

    names: tuple[str, ...] = ()
    run: str = SSH

    def __iter__(self) -> Iterator[LoadHost]:
        return (LoadHost(name, self.run) for name in self.names)

    def __bool__(self) -> bool:
        return bool(self.names)
