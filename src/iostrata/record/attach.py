"""The agent into running JVMs and out of them again."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from iostrata.artifacts import agent_for, agent_jar
from iostrata.errors import UserError
from iostrata.record.collector import Collector, key_values, run_key
from iostrata.record.hotspot import Attachment, JvmProcess, find_target
from iostrata.record.jvms import has_live_agent
from iostrata.records import Record
from iostrata.schema.points import POINTS


class AgentChange(Record, frozen=True):
    """What became of one JVM.

    `line` is the agent's own word, `points` are those woven now (`Class#method`), `classes` how
    many loaded classes were changed, `failed` names those that could not be. `error` says why the
    JVM was left as it is, and `remedy` what to do.
    """

    pid: int
    line: str = ""
    points: list[str] = []  # noqa: RUF012
    classes: int = 0
    failed: str = ""
    error: str = ""
    remedy: str = ""


def attach(pid: int, collector: Collector, run: str = "") -> AgentChange:
    """Attaches the agent to a JVM, to record for this collector; raises UserError.

    `run` is the one that all its calls belong to; without, only what it does for recorded jobs
    and clients belongs to theirs.
    """
    target = find_target(pid)
    if has_live_agent(pid):
        raise UserError(f"pid {pid} has an agent already", f"iostrata detach {pid}")
    if target.uid != collector.uid and collector.uid != 0:
        raise UserError(
            f"pid {pid} belongs to uid {target.uid}, the collector of {collector.dir} to uid "
            f"{collector.uid}",
            "use one of root",
        )
    agent = agent_for(collector.dir)
    _check_option(collector.dir, agent)
    _check_seen(target, agent)
    _check_seen(target, collector.dir)
    options = [f"dir={collector.dir}"]
    if run:
        options.append(f"run={run_key(collector, run)}")
    if target.own_pid != pid:
        options.append(f"pid={pid}")  # the collector knows it by the pid that we see
    answer = _load(target, agent, ",".join(options))
    named = {str(point.id): f"{point.cls}#{point.method}" for point in POINTS}
    woven = [named.get(number, number) for number in answer.get("woven", "").split(",") if number]
    return _outcome(pid, answer, woven)


def detach(pid: int) -> AgentChange:
    """Ends the agent of a JVM; one without an agent is left alone. Raises UserError."""
    target = find_target(pid)
    if not has_live_agent(pid):
        return AgentChange(pid, "no agent is attached")
    jar = _jar_of(target)
    return _outcome(pid, _load(target, jar, "detach"), [])


def _outcome(pid: int, answer: dict[str, str], points: list[str]) -> AgentChange:
    classes = int(answer.get("classes", "0"))
    return AgentChange(pid, answer.get("line", ""), points, classes, answer.get("failed", ""))


def _jar_of(target: JvmProcess) -> Path:
    """The jar that the JVM has loaded, if it is still there: another adds one more to it."""
    links = (entry.readlink() for entry in Path(f"/proc/{target.pid}/fd").iterdir())
    try:
        for link in links:
            inside = Path(f"/proc/{target.pid}/root{link}")
            if link.name == "iostrata-agent.jar" and inside.is_file():
                return link
    except OSError:
        pass  # a descriptor that was just closed
    jar = agent_jar()
    _check_seen(target, jar)
    return jar


def _check_option(*paths: Path) -> None:
    for path in paths:
        if set(str(path)) & set(",=\n"):
            raise UserError(
                f"{str(path)!r} cannot stand in an agent's option",
                "choose a path without commas and equal signs",
            )


def _check_seen(target: JvmProcess, path: Path) -> None:
    """Raises UserError unless the JVM sees the same file under that name."""
    inside = Path(f"/proc/{target.pid}/root{path}")
    try:
        same = path.samefile(inside)
    except OSError:
        same = False
    if not same:
        raise UserError(
            f"pid {target.pid} does not see {path}: it has a file system of its own",
            f"mount {path} into its container",
        )


def _load(target: JvmProcess, agent: Path, options: str) -> dict[str, str]:
    """Loads the agent; the key=value lines it answered. Raises UserError when it refuses."""
    with closing(Attachment(target)) as attachment, attachment.answer_file() as (name, path):
        attachment.load(agent, f"{options},answer={name}")
        answer = key_values(Path(path))
    if not answer:
        raise UserError(f"pid {target.pid}: the agent did not answer", "see its standard error")
    if "refused" in answer:
        raise UserError(f"pid {target.pid}: {answer['refused']}", "see its standard error")
    return answer
