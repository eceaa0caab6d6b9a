"""What the machine must offer before a lab can start; each lack is one LabError."""

from __future__ import annotations

import os
import pwd
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from iostrata import jdks
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop.conf import AgentOptions
from iostrata_lab.clusters.hadoop.versions import DEFAULT, Version

OTHERS_MAY_ENTER = 0o001


def java_home(named: Path | None, hadoop: Version = DEFAULT) -> Path:
    """The JDK to run on: `named`, else $JAVA_HOME, else the `java` on the PATH."""
    found = named
    if found is None and os.environ.get("JAVA_HOME"):
        found = Path(os.environ["JAVA_HOME"])
    if found is None and (java := shutil.which("java")):
        found = Path(java).resolve().parent.parent
    remedy = "apt-get install openjdk-17-jdk-headless, or name one: JAVA_HOME=/path/of/it"
    if found is None or not (found / "bin" / "java").exists():
        raise LabError(f"no Java {hadoop.java} at {found or 'JAVA_HOME or on the PATH'}", remedy)
    version = java_version(found)
    if version and version < hadoop.java:
        raise LabError(
            f"Java {version} at {found}: Hadoop {hadoop.name} needs {hadoop.java}", remedy
        )
    return found.absolute()


def java_version(home: Path) -> int:
    """The major version of a JDK, 0 if it does not say: early releases of 8 have no such file."""
    told = jdks.version(home)
    return told[0] if told else 0


def check_hosts_file(jdk: Path) -> None:
    """The names of nodes are in a file that only Java 9 and newer read (jdk.net.hosts.file)."""
    if java_version(jdk) < 9:
        raise LabError(
            f"nodes have names that the Java 8 at {jdk} cannot learn", "use Java 11 or 17"
        )


def check_agent(agent: AgentOptions) -> None:
    """The jar must exist, and no blank may be in paths that go into lists of options."""
    if not agent.jar.is_file():
        raise LabError(f"no agent jar at {agent.jar}", "build it: make setup")
    check_words(agent.jar, agent.dir)


def check_words(*paths: Path) -> None:
    """Hadoop's scripts split options at blanks, whatever the quotes."""
    for path in paths:
        if re.search(r"[\s\"'\\$`,]", str(path)):
            raise LabError(
                f"{path} holds a blank, a comma or a quote, which Hadoop's scripts cannot pass on",
                "use a path without",
            )


def check_user(uid: int) -> None:
    """`uid` must have a name: UnixLoginModule fails for a nameless one."""
    if uid != os.geteuid() and os.geteuid() != 0:
        raise LabError(f"only root can run a process as uid {uid}", "use sudo, or one user")
    try:
        pwd.getpwuid(uid)
    except KeyError as error:
        raise LabError(
            f"uid {uid} has no name in /etc/passwd, and Java cannot log in without one",
            f"useradd --system --uid {uid} NAME",
        ) from error


def check_users(users: Mapping[str, int]) -> None:
    """The keys are hdfs and yarn; each uid can be used."""
    for group, uid in users.items():
        if group not in ("hdfs", "yarn"):
            raise LabError(f"daemon_users has {group!r}", "its keys are 'hdfs' and 'yarn'")
        check_user(uid)


def closed(path: Path) -> Path | None:
    """The first directory on the way to `path` that other users may not enter."""
    for part in (*reversed(path.absolute().parents), path.absolute()):
        if part.is_dir() and not part.stat().st_mode & OTHERS_MAY_ENTER:
            return part
    return None


OPEN_HOME = "IOSTRATA_LAB_HOME=/var/lib/iostrata/labs, or another folder open to all"


def check_open(path: Path, remedy: str = OPEN_HOME) -> None:
    """Other users' processes must get to `path`, by default a lab's directory."""
    barrier = closed(path)
    if barrier is not None:
        raise LabError(f"other users may not enter {barrier}, so they cannot use {path}", remedy)
