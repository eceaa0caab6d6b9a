"""Where the agent's jar, its native loader, the library of native programs and the binary are.

Looked for in this order: IOSTRATA_AGENT, IOSTRATA_LOADER_LIBRARY, IOSTRATA_PRELOAD_LIBRARY and
IOSTRATA_NATIVE, the folder `_native` of the installed package, the build folders of the checkout.
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import shutil
from pathlib import Path

from iostrata.errors import UserError

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent
JAR = "iostrata-agent.jar"
TFS = "iostrata-tfs.jar"
LOAD = "iostrata-load.jar"
LIBRARY = "libiostrata_loader.so"
PRELOAD = "libiostrata_preload.so"


def agent_jar() -> Path:
    """The agent's jar; raises UserError when there is none."""
    return find_artifact(
        "IOSTRATA_AGENT",
        _PACKAGE / "_native/iostrata-agent.jar",
        _CHECKOUT / "java/agent/target/iostrata-agent.jar",
    )


def tfs_jar() -> Path:
    """The jar of tfs://, which works without an agent; raises UserError when there is none."""
    return find_artifact(
        "IOSTRATA_TFS", _PACKAGE / "_native" / TFS, _CHECKOUT / "java/tfs/target" / TFS
    )


def load_jar() -> Path:
    """The jar of the load that profiles make on Hadoop; raises UserError when there is none."""
    return find_artifact(
        "IOSTRATA_LOAD", _PACKAGE / "_native" / LOAD, _CHECKOUT / "java/load/target" / LOAD
    )


def native_loader() -> Path:
    """The native loader of the agent; raises UserError when there is none."""
    if "IOSTRATA_AGENT" in os.environ:  # a jar of one's own brings its library along
        return find_artifact("IOSTRATA_LOADER_LIBRARY", agent_jar().with_name(LIBRARY))
    return find_artifact(
        "IOSTRATA_LOADER_LIBRARY",
        _PACKAGE / "_native" / LIBRARY,
        _CHECKOUT / "target/release" / LIBRARY,
    )


def stage_agent(directory: Path) -> Path:
    """A copy of the agent in the directory of a collector, whose life it shares: what JVMs load.

    That is the native loader with the jar beside it; IOSTRATA_LOADER=javaagent chooses the jar,
    which loads the library itself. Where nothing may run from the directory: the installed agent.
    A JVM maps the jar it loads: one that is built or installed again in place crashes every JVM
    that has it (SIGBUS in libzip). The copy is also within reach of every user of the directory.
    """
    jar = _staged(agent_jar(), directory / JAR)
    library = _staged(native_loader(), directory / LIBRARY)
    if not _runs_from(directory):
        return installed_agent()
    _loadable(library)
    return jar if loader() == "javaagent" else library


def _runs_from(path: Path) -> bool:
    """False for /dev/shm of a container, which is mounted noexec as a rule."""
    return not os.statvfs(path).f_flag & os.ST_NOEXEC


def loader() -> str:
    """`native`, `javaagent`, or empty: whatever works. Raises UserError."""
    wanted = os.environ.get("IOSTRATA_LOADER", "")
    if wanted not in ("", "native", "javaagent"):
        raise UserError(f"IOSTRATA_LOADER={wanted}", "say native or javaagent, or unset it")
    return wanted


def _loadable(library: Path) -> Path:
    """A JVM that is told to load a library and cannot does not start: so it is tried here first."""
    if not _runs_from(library):
        raise UserError(
            f"{library} cannot be loaded: its file system is mounted noexec",
            f"copy it and {JAR} to a folder that is not, and set IOSTRATA_AGENT to the jar there",
        )
    try:
        loaded = ctypes.CDLL(str(library))
    except OSError as error:
        raise UserError(
            f"{library} cannot be loaded: {error}", "install iostrata for this system"
        ) from error
    _ctypes.dlclose(loaded._handle)  # what stays mapped keeps its file system from being unmounted
    return library


def _staged(file: Path, copy: Path) -> Path:
    draft = copy.with_suffix(f".{os.getpid()}.tmp")
    try:
        shutil.copyfile(file, draft)
        draft.chmod(0o644)
        draft.rename(copy)
    except OSError as error:
        raise UserError(f"{copy} cannot be written: {error.strerror}", "iostrata doctor") from error
    return copy


def agent_for(directory: Path) -> Path:
    """What a process of this directory loads: the copy there, else the installed jar."""
    if not _runs_from(directory):
        return installed_agent()
    names = (JAR,) if loader() == "javaagent" else (LIBRARY, JAR)
    for name in names:
        copy = directory / name
        try:
            if copy.stat().st_uid in (0, os.getuid()):
                return copy
        except OSError:
            continue
    return installed_agent()


def installed_agent() -> Path:
    """What JVMs load where nothing is staged; jar and library lie in one folder there."""
    jar = agent_jar()
    library = jar.with_name(LIBRARY)
    if not library.is_file():
        raise UserError(f"{library} is not there", "build it: make build")
    return jar if loader() == "javaagent" else _loadable(library)


def preload_library(directory: Path, stages: bool) -> Path:
    """What native programs load; if it `stages`, a copy in the directory of a collector, as of the
    agent. Raises UserError.
    """
    installed = find_artifact(
        "IOSTRATA_PRELOAD_LIBRARY",
        _PACKAGE / "_native" / PRELOAD,
        _CHECKOUT / "target/release" / PRELOAD,
    )
    copies = stages and _runs_from(directory)
    return _loadable(_staged(installed, directory / PRELOAD) if copies else installed)


def native_binary() -> Path:
    """`iostrata-native`; raises UserError when there is none that may be run."""
    found = find_artifact(
        "IOSTRATA_NATIVE",
        _PACKAGE / "_native/iostrata-native",
        _CHECKOUT / "target/release/iostrata-native",
    )
    if not _runs_from(found):
        raise UserError(
            f"{found} may not be run: its file system is mounted noexec",
            "copy it to a folder that is not, and set IOSTRATA_NATIVE to it",
        )
    if not os.access(found, os.X_OK):
        raise UserError(f"{found} may not be run", f"chmod +x {found}")
    return found


def find_artifact(variable: str, *places: Path) -> Path:
    """The file that an environment variable names, else the first place that has one.

    Raises UserError when there is none.
    """
    named = os.environ.get(variable)
    if named:
        if not Path(named).is_file():
            raise UserError(f"{variable}={named}: no such file", f"unset {variable} or correct it")
        return Path(named).absolute()
    for place in places:
        if place.is_file():
            return place
    raise UserError(f"{places[-1].name} is not there", "build it: make build")
