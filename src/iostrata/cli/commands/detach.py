"""iostrata detach"""

from __future__ import annotations

from iostrata.cli.arguments import JsonOption, command
from iostrata.cli.commands.attach import PidsArgument, for_each
from iostrata.record.attach import detach as detach_one


@command("iostrata detach 4711", "iostrata detach $(pgrep -f DataNode) --json")
def detach(pids: PidsArgument, json: JsonOption = False) -> None:
    """Takes the agent out of running JVMs, which go on running.

    Every traced method gets its own bytes back, and the collector publishes what was recorded.
    An agent that was started with the JVM ends as well. A JVM without an agent is no error.
    """
    for_each(pids, detach_one, json)
