"""The lab's directory: what is where, and whose it is."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path


def log(root: Path, role: str) -> Path:
    """Both outputs of a daemon, from its shell to its last line."""
    return root / "logs" / f"{role}.log"


def keep_log(root: Path, role: str) -> Path:
    """A copy of a log beside the lab's directory, to outlive a start that failed."""
    kept = root.parent / f"{root.name}.{role}.log"
    shutil.copyfile(log(root, role), kept)
    return kept


def forget_logs(root: Path) -> None:
    """Remove what `keep_log` kept."""
    for path in root.parent.glob(f"{root.name}.*.log"):
        path.unlink(missing_ok=True)


def data(root: Path, role: str) -> Path:
    return root / "data" / role


def make(root: Path) -> None:
    """The folders of a lab's new directory, into which its system puts its own."""
    for name in ("bin", "conf", "data", "logs"):
        make_folder(root / name, None, 0o755)
    make_folder(root / "data" / "tmp", None, 0o1777)


def make_folder(path: Path, uid: int | None, mode: int) -> None:
    """A new folder of that mode whatever the umask, of that user if one is given."""
    path.mkdir()
    path.chmod(mode)
    if uid is not None:
        os.chown(path, uid, -1)


def make_file(path: Path, text: str, mode: int) -> None:
    """A file of that mode, whatever the umask."""
    path.write_text(text)
    path.chmod(mode)


def link(jars: Path, target: Path) -> None:
    """Put the jars into `target` as hard links, or as copies on another file system."""
    target.mkdir(mode=0o755)
    for jar in jars.glob("*.jar"):
        try:
            os.link(jar, target / jar.name)
        except OSError:
            shutil.copyfile(jar, target / jar.name)
    target.chmod(0o755)


def remove(root: Path) -> None:
    """Remove the lab's directory, if there is one."""
    for _ in range(50):
        shutil.rmtree(root, ignore_errors=True)
        if not root.exists():
            return
        # Something killed a moment ago had a last file to write.
        time.sleep(0.1)
    shutil.rmtree(root)
