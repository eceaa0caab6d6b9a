"""Where the agent's jar and the native binary are.

Looked for in this order: IOSTRATA_AGENT and IOSTRATA_NATIVE, the folder `_native` of the
installed package, the build folders of the checkout.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from iostrata.errors import UserError

_PACKAGE = Path(__file__).resolve().parent.parent
_CHECKOUT = _PACKAGE.parent.parent


def agent_jar() -> Path:
    """The agent's jar; raises UserError when there is none."""
    return _find(
        "IOSTRATA_AGENT",
        _PACKAGE / "_native/iostrata-agent.jar",
        _CHECKOUT / "java/agent/target/iostrata-agent.jar",
    )


def stage_agent(directory: Path) -> Path:
    """A copy of the jar in the directory of a collector, whose life it shares.

    A JVM maps the jar it loads: one that is built or installed again in place crashes every JVM
    that has it (SIGBUS in libzip). The copy is also within reach of every user of the directory.
    """
    copy = staged_agent(directory)
    draft = copy.with_suffix(f".{os.getpid()}.tmp")
    try:
        shutil.copyfile(agent_jar(), draft)
        draft.chmod(0o644)
        draft.rename(copy)
    except OSError as error:
        raise UserError(f"{copy} cannot be written: {error.strerror}", "iostrata doctor") from error
    return copy


def staged_agent(directory: Path) -> Path:
    """Where `stage_agent` puts the copy."""
    return directory / "iostrata-agent.jar"


def agent_for(directory: Path) -> Path:
    """The jar for a process of this directory: the copy there, else the installed one."""
    copy = staged_agent(directory)
    try:
        trusted = copy.stat().st_uid in (0, os.getuid())
    except OSError:
        trusted = False
    return copy if trusted else agent_jar()


def native_binary() -> Path:
    """`iostrata-native`; raises UserError when there is none that may be run."""
    found = _find(
        "IOSTRATA_NATIVE",
        _PACKAGE / "_native/iostrata-native",
        _CHECKOUT / "target/release/iostrata-native",
    )
    if not os.access(found, os.X_OK):
        raise UserError(f"{found} may not be run", f"chmod +x {found}")
    return found


def _find(variable: str, *places: Path) -> Path:
    named = os.environ.get(variable)
    if named:
        if not Path(named).is_file():
            raise UserError(f"{variable}={named}: no such file", f"unset {variable} or correct it")
        return Path(named).absolute()
    for place in places:
        if place.is_file():
            return place
    raise UserError(f"{places[-1].name} is not there", "build it: make build")
