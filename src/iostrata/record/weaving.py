"""Fills the cache of woven classes ahead of time, by a JVM that does nothing else."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from iostrata.artifacts import agent_jar, native_loader
from iostrata.errors import InternalError, UserError
from iostrata.record.classpath import ClassPath
from iostrata.records import Record
from iostrata.schema.points import POINTS


class WovenClass(Record, frozen=True):
    """A class of the cache: was it `new` or `known`, how many of its points it has and lacks."""

    state: str
    name: str
    found: int
    missing: int


class WovenCache(Record, frozen=True):
    """Where the cache is, for which java, and the classes that it has now."""

    cache: str
    java: str
    classes: list[WovenClass]

    @property
    def failed(self) -> list[WovenClass]:
        """Those that could not be kept."""
        return [each for each in self.classes if each.state == "failed"]


def weave(paths: Iterable[ClassPath], cache: Path | None, java: Path) -> WovenCache:
    """Weaves what has points in `paths` and in the JDK of `java`.

    `cache`: a folder, None for the user's own. Raises UserError.
    """
    with tempfile.TemporaryDirectory(prefix="iostrata-weave-") as scratch:
        folder = Path(scratch)
        classes = folder / "classes"
        _extract(paths, classes)
        jar = agent_jar()
        options = [f"jar={jar}", f"dir={folder}"]
        options += [f"cache={cache.absolute()}"] if cache else []
        for option in options:
            if "," in option:
                raise UserError(f"{option}: a comma ends an option of the agent", "move it")
        agent = f"-agentpath:{native_loader()}={','.join(options)}"
        output = _java([str(java), agent, "-jar", str(jar), str(classes)])
    head, *rows = output.splitlines() or [""]
    where = head.removeprefix("cache\t")
    if where.startswith("none: "):
        raise UserError(f"no cache: {where.removeprefix('none: ')}", "name another: --cache DIR")
    cells = [row.split("\t") for row in rows]
    woven = [
        WovenClass(state, name.replace("/", "."), int(found), int(missing))
        for state, name, found, missing, *_ in cells
    ]
    return WovenCache(where, str(java), woven)


def _extract(paths: Iterable[ClassPath], target: Path) -> None:
    """Files of the classes that have points; the first that has one wins, as for java -cp."""
    target.mkdir()
    names = sorted({point.cls.replace(".", "/") + ".class" for point in POINTS})
    for path in paths:
        for name in names:
            content = path.find(name)
            file = target / name
            if content and not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content[0])


def _java(command: list[str]) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
    except OSError as error:
        raise UserError(f"{command[0]}: {error.strerror}", "name a java: --java PATH") from error
    refusal = " / ".join(line for line in ended.stderr.splitlines() if "not tracing" in line)
    if refusal:
        raise UserError(refusal.partition("not tracing: ")[2], "iostrata doctor")
    if ended.returncode or not ended.stdout.startswith("cache\t"):
        raise InternalError(
            f"filling the cache: exit code {ended.returncode}: {ended.stderr or ended.stdout}"
        )
    return ended.stdout
