"""What a recorded command finds in its environment."""

from __future__ import annotations

import re
from pathlib import Path

from iostrata.errors import UserError

# An outer recording's agent: two of them would weave everything twice.
_OURS = re.compile(
    r"""(?:"-javaagent:[^"]*iostrata-agent[^"]*"|-javaagent:\S*iostrata-agent\S*)\s*"""
)


def agent_option(jar: Path, directory: Path, run: str) -> str:
    """The JVM option that loads the agent, quoted for JAVA_TOOL_OPTIONS where needed."""
    for path in (jar, directory):
        if re.search(r"""[,"'\n=]""", str(path)):
            raise UserError(
                f"{str(path)!r} cannot stand in a JVM option",
                "choose a path without commas, quotes and equal signs",
            )
    option = f"-javaagent:{jar}=dir={directory},run={run}"
    return f'"{option}"' if re.search(r"\s", option) else option


def with_agent(environment: dict[str, str], option: str) -> dict[str, str]:
    """The environment with the option appended to what JAVA_TOOL_OPTIONS says already."""
    before = _OURS.sub("", environment.get("JAVA_TOOL_OPTIONS", "")).strip()
    return {**environment, "JAVA_TOOL_OPTIONS": f"{before} {option}".strip()}
