"""What a recorded command finds in its environment."""

from __future__ import annotations

import re
from pathlib import Path

from iostrata.errors import UserError

# An outer recording's agent: two of them would weave everything twice.
_OURS = re.compile(
    r"""(?:"-(?:javaagent|agentpath):[^"]*iostrata[-_](?:agent|loader)[^"]*\""""
    r"""|-(?:javaagent|agentpath):\S*iostrata[-_](?:agent|loader)\S*)\s*"""
)


def agent_option(agent: Path, directory: Path, run: str) -> str:
    """The JVM option that loads jar or native loader, quoted for JAVA_TOOL_OPTIONS if needed.

    The agent prints nothing where all is well: what was traced is in the recorder's closing line.
    """
    for path in (agent, directory):
        if re.search(r"""[,"'\n=]""", str(path)):
            raise UserError(
                f"{str(path)!r} cannot stand in a JVM option",
                "choose a path without commas, quotes and equal signs",
            )
    how = "agentpath" if agent.suffix == ".so" else "javaagent"
    option = f"-{how}:{agent}=dir={directory},run={run},quiet"
    return f'"{option}"' if re.search(r"\s", option) else option


def with_agent(environment: dict[str, str], option: str) -> dict[str, str]:
    """The environment with the option appended to what JAVA_TOOL_OPTIONS says already."""
    before = _OURS.sub("", environment.get("JAVA_TOOL_OPTIONS", "")).strip()
    return {**environment, "JAVA_TOOL_OPTIONS": f"{before} {option}".strip()}


def with_preload(
    environment: dict[str, str], library: Path, directory: Path, run: str
) -> dict[str, str]:
    """The environment in which programs load the library before the C library, after those that
    LD_PRELOAD names already. Raises UserError.
    """
    for path in (library, directory):
        if re.search(r"[\s:,]", str(path)):
            raise UserError(
                f"{str(path)!r} cannot stand in LD_PRELOAD",
                "choose a path without blanks, colons and commas",
            )
    others = [
        path
        for path in re.split(r"[\s:]+", environment.get("LD_PRELOAD", ""))
        if path and Path(path).name != library.name
    ]
    return {
        **environment,
        "LD_PRELOAD": ":".join([*others, str(library)]),
        "IOSTRATA_PRELOAD": f"dir={directory},run={run}",
    }
