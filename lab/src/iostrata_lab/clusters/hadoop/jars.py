"""Jars of Hadoop, or of another pom: fetched once by Maven into a cache outside the repository."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop.versions import DEFAULT, Version

POM = Path(__file__).with_name("pom.xml")
COMPLETE = "COMPLETE"  # holds the pom the jars were fetched for


def cache() -> Path:
    """`$IOSTRATA_CACHE`, else `~/.cache/iostrata`."""
    named = os.environ.get("IOSTRATA_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "iostrata"


def pom(version: Version) -> str:
    """pom.xml, which is written for the default version, for another one."""
    text = POM.read_text("utf-8")
    for name, default, value in (
        ("hadoop.version", DEFAULT.name, version.name),
        ("hadoop.examples.version", DEFAULT.examples, version.examples),
    ):
        before, after = f"<{name}>{default}</{name}>", f"<{name}>{value}</{name}>"
        if before not in text:
            raise LabError(f"{POM} has no {before}", "install iostrata again")
        text = text.replace(before, after)
    return text


def complete(folder: Path, text: str) -> bool:
    """True if `folder` holds every jar of a pom."""
    try:
        return (folder / COMPLETE).read_text("utf-8") == text
    except OSError:
        return False


def fetch(progress: Callable[[str], None], version: Version = DEFAULT) -> Path:
    """The folder of Hadoop's jars, as `fetch_pom`; some 190, 110 MB."""
    return fetch_pom(f"Hadoop {version.name}", pom(version), progress)


def fetch_pom(name: str, text: str, progress: Callable[[str], None]) -> Path:
    """The folder of the jars that a pom depends on, by a name with its version (`HBase 2.6.4`); the
    first call downloads them.

    Raises LabError if Maven is missing or fails. Any number of processes may call it at once.
    """
    home = cache() / name.lower().replace(" ", "-")
    folder = home / "lib"
    if complete(home, text):
        return folder
    home.parent.mkdir(parents=True, exist_ok=True)
    with _locked(home.parent / f"{home.name}.lock"):
        if complete(home, text):
            return folder
        progress(f"fetching {name} from Maven Central (some 110 MB, only once)")
        with tempfile.TemporaryDirectory(prefix=f"{home.name}-", dir=home.parent) as temporary:
            fresh = Path(temporary) / "fresh"
            _copy_dependencies(Path(temporary), fresh / "lib", name, text)
            (fresh / COMPLETE).write_text(text, "utf-8")
            fresh.chmod(0o755)
            shutil.rmtree(home, ignore_errors=True)
            fresh.rename(home)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _copy_dependencies(work: Path, target: Path, name: str, text: str) -> None:
    # Maven gets a pom of its own: it writes beside it, and the package may be read-only.
    path = work / "pom.xml"
    path.write_text(text, "utf-8")
    argv = ["mvn", "-B", "-q", "-f", str(path), "dependency:copy-dependencies"]
    argv += [f"-DoutputDirectory={target}", "-DincludeScope=runtime"]
    try:
        result = subprocess.run(
            argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    except FileNotFoundError as error:
        raise LabError("Maven (mvn) is not on the PATH", "apt-get install maven") from error
    if result.returncode != 0:
        last = "\n".join(result.stdout.splitlines()[-20:])
        raise LabError(
            f"Maven could not fetch {name} (exit code {result.returncode})",
            "see Maven's last lines below; is the network up, is ~/.m2/settings.xml right?",
            last,
        )
    for jar in target.iterdir():
        jar.chmod(0o644)
