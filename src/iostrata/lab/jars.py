"""Hadoop's jars: fetched once by Maven into a cache outside the repository."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from iostrata.lab.errors import LabError

VERSION = "3.5.0"  # hadoop.version of pom.xml, a test compares them
POM = Path(__file__).parent / "hadoop" / "pom.xml"
COMPLETE = "COMPLETE"  # holds the pom the jars were fetched for


def cache() -> Path:
    """`$IOSTRATA_CACHE`, else `~/.cache/iostrata`."""
    named = os.environ.get("IOSTRATA_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "iostrata"


def complete(folder: Path) -> bool:
    """True if `folder` holds every jar of the present pom."""
    try:
        return (folder / COMPLETE).read_bytes() == POM.read_bytes()
    except OSError:
        return False


def fetch(progress: Callable[[str], None]) -> Path:
    """The folder of Hadoop's jars; the first call downloads 194 of them, 114 MB.

    Raises LabError if Maven is missing or fails. Any number of processes may call it at once.
    """
    home = cache() / f"hadoop-{VERSION}"
    folder = home / "lib"
    if complete(home):
        return folder
    home.parent.mkdir(parents=True, exist_ok=True)
    with _locked(home.parent / f"hadoop-{VERSION}.lock"):
        if complete(home):
            return folder
        progress(f"fetching Hadoop {VERSION} from Maven Central (114 MB, only once)")
        with tempfile.TemporaryDirectory(prefix="hadoop-", dir=home.parent) as temporary:
            fresh = Path(temporary) / "fresh"
            _copy_dependencies(Path(temporary), fresh / "lib")
            shutil.copyfile(POM, fresh / COMPLETE)
            fresh.chmod(0o755)
            shutil.rmtree(home, ignore_errors=True)
            fresh.rename(home)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _copy_dependencies(work: Path, target: Path) -> None:
    # Maven gets a copy of the pom: it writes beside it, and the package may be read-only.
    pom = work / "pom.xml"
    shutil.copyfile(POM, pom)
    argv = ["mvn", "-B", "-q", "-f", str(pom), "dependency:copy-dependencies"]
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
            f"Maven could not fetch Hadoop {VERSION} (exit code {result.returncode})",
            "see Maven's last lines below; is the network up, is ~/.m2/settings.xml right?",
            last,
        )
    for jar in target.iterdir():
        jar.chmod(0o644)


def link(jars: Path, target: Path) -> None:
    """Put the jars into `target` as hard links, or as copies on another file system."""
    target.mkdir(mode=0o755)
    for jar in jars.glob("*.jar"):
        try:
            os.link(jar, target / jar.name)
        except OSError:
            shutil.copyfile(jar, target / jar.name)
    target.chmod(0o755)
