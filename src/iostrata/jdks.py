"""The JDKs of this machine, wherever a distribution or its user has put them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

_ALTERNATIVES = Path("/var/lib/dpkg/alternatives/java"), Path("/var/lib/alternatives/java")
_USUAL = (Path("/usr/lib/jvm"), Path("/usr/java"), Path("/opt/java"), Path("/Library/Java"))
_OF_USER = (".sdkman/candidates/java", ".jdks", ".asdf/installs/java")


def homes() -> list[Path]:
    """The home of each Java, once: of JAVA_HOME, the PATH, update-alternatives, the usual folders.

    Those beside one that was found are found, too.
    """
    named = list(dict.fromkeys(_named()))
    beside = [path for home in named for path in sorted(home.parent.glob("*"))]
    usual = [path for folder in _folders() for path in sorted(folder.glob("*"))]
    found = (path.resolve() for path in (*named, *beside, *usual))
    return [home for home in dict.fromkeys(found) if (home / "bin/java").is_file()]


def _named() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"]).resolve()
    if on_path := shutil.which("java"):
        yield _home_of(Path(on_path))
    for file in filter(Path.is_file, _ALTERNATIVES):
        for line in file.read_text("utf-8", errors="replace").splitlines():
            if line.startswith("/") and line.endswith("/bin/java"):
                yield _home_of(Path(line))


def _folders() -> Iterator[Path]:
    yield from _USUAL
    yield from (Path.home() / folder for folder in _OF_USER)


def _home_of(java: Path) -> Path:
    return java.resolve().parent.parent


def version(home: Path) -> tuple[int, str] | None:
    """Major number and full text, from the `release` file: starting a JVM costs more.

    None if it does not say: early releases of Java 8 have no such file.
    """
    try:
        text = (home / "release").read_text("utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    if match is None:
        return None
    parts = re.findall(r"\d+", match[1])
    return (int(parts[1]) if parts[0] == "1" and len(parts) > 1 else int(parts[0]), match[1])


def newest_of(major: int) -> Path | None:
    """The home of a Java of that major version; None if there is none."""
    found = [
        ([int(number) for number in re.findall(r"\d+", told[1])], home)
        for home in homes()
        if (told := version(home)) and told[0] == major
    ]
    return max(found)[1] if found else None
