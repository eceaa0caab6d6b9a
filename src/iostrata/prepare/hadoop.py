"""The change of a Hadoop configuration that loads the agent, and its undo."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from iostrata.errors import UserError
from iostrata.prepare import properties
from iostrata.prepare.diff import unified
from iostrata.schema.roles import OPTIONS

ENV = "hadoop-env.sh"
YARN = "yarn-site.xml"
SITES = ("core-site.xml", "hdfs-site.xml", YARN, ENV)
ADMIN_ENV = "yarn.nodemanager.admin-env"
RECOVERY = "yarn.nodemanager.recovery.enabled"
VARIABLE = "JAVA_TOOL_OPTIONS"


class PrepareError(UserError):
    """What cannot be prepared and the way out."""


@dataclass(frozen=True)
class Role:
    """A daemon, its variables (the one in force first), and the file that may override them."""

    name: str
    variables: tuple[str, ...]
    late_file: str  # sourced after hadoop-env.sh by libexec/{hdfs,yarn}-config.sh
    restart: str


# Hadoop 3 lets an old name, if it is set, win over the new one (hadoop_deprecate_envvar).
ROLES = (
    Role("DataNode", ("HADOOP_DATANODE_OPTS", OPTIONS["DataNode"]), "hdfs-env.sh", "hdfs"),
    Role("NameNode", ("HADOOP_NAMENODE_OPTS", OPTIONS["NameNode"]), "hdfs-env.sh", "hdfs"),
    Role("NodeManager", (OPTIONS["NodeManager"],), "yarn-env.sh", "yarn"),
    Role("ResourceManager", (OPTIONS["ResourceManager"],), "yarn-env.sh", "yarn"),
)


@dataclass(frozen=True)
class Preparation:
    """What traces a cluster. `patch` and `undo` are for `patch -p1` in `conf_dir`."""

    conf_dir: Path
    patch: str
    undo: str
    restart: list[str]
    notes: list[str]

    def __str__(self) -> str:
        """All of it for a reader, who can also hand it to patch(1) as it is."""
        steps = [f"  {number}. {step}" for number, step in enumerate(self.restart, 1)]
        head = [
            f"Nothing has been changed. This traces the cluster configured in {self.conf_dir}:",
            f"  cd {self.conf_dir} && patch -p1 < THIS_TEXT",
            "and this takes it back, followed by the same restarts:",
            f"  cd {self.conf_dir} && patch -R -p1 < THIS_TEXT",
            *(f"Note: {note}" for note in self.notes),
            "Then, with the same configuration on every node:",
            *steps,
        ]
        return "\n".join(head) + "\n\n" + self.patch


def prepare(conf_dir: Path, agent_jar: Path, shm_dir: Path) -> Preparation:
    """Read a configuration directory and say what to change. Raises PrepareError.

    `agent_jar` may be the native loader, a library that has the jar beside it.
    """
    _check(conf_dir, agent_jar, shm_dir)
    native = agent_jar.suffix == ".so"
    how = "agentpath" if native else "javaagent"
    option = f"-{how}:{agent_jar}=dir={shm_dir}"
    before = {name: _read(conf_dir / name) for name in (ENV, YARN, "hdfs-env.sh", "yarn-env.sh")}
    if any(f"-{how}:" in line and str(agent_jar) in line for line in _code(before)):
        raise PrepareError(f"{conf_dir} is prepared already", "take it back: patch -R -p1")
    for name in ("core-site.xml", "hdfs-site.xml"):
        _document(conf_dir / name, _read(conf_dir / name) or b"<configuration></configuration>")
    yarn = before[YARN] is not None
    roles = [role for role in ROLES if yarn or role.restart == "hdfs"]
    after = dict(before)
    for role in roles:
        name, variable = _place(role, before)
        after[name] = _with_line(after[name], variable, option)
    if yarn:
        after[YARN] = _with_property(conf_dir / YARN, before[YARN] or b"", option)
    notes = [
        f"{agent_jar} must exist on every node, readable by the daemons and the containers.",
        "Never write a new jar over it while a JVM has it loaded: a JVM maps its jars and dies of "
        "SIGBUS. A new version goes into a folder of its own.",
        f"A job that sets {VARIABLE} itself finds a ':' behind its value: Hadoop joins them so.",
    ]
    if native:
        notes.append(
            "A JVM that cannot load the library does not start: musl instead of glibc, another "
            "processor, a noexec mount. IOSTRATA_LOADER=javaagent prints the portable option."
        )
    if before[YARN] is None:
        notes.append(f"{conf_dir} has no {YARN}: without it no container is traced.")
    elif not _recovers(conf_dir / YARN, before[YARN] or b""):
        notes.append(f"{RECOVERY} is not true: restarting a NodeManager ends its containers.")
    return Preparation(
        conf_dir=conf_dir,
        patch=_diffs(before, after),
        undo=_diffs(after, before),
        restart=_restarts(roles),
        notes=notes,
    )


def _check(conf_dir: Path, agent_jar: Path, shm_dir: Path) -> None:
    if not conf_dir.is_dir():
        raise PrepareError(f"{conf_dir} is not a directory", "name the one with core-site.xml")
    if not any((conf_dir / name).exists() for name in SITES):
        raise PrepareError(
            f"{conf_dir} holds no Hadoop configuration", f"need {' or '.join(SITES)}"
        )
    if not agent_jar.is_file():
        raise PrepareError(f"no agent jar at {agent_jar}", "build it: make build")
    for path in (agent_jar, shm_dir):
        if not path.is_absolute() or re.search(r"[\s\"'\\$`,*?\[]", str(path)):
            raise PrepareError(
                f"{path} cannot pass through Hadoop's scripts",
                "use an absolute path without blanks, commas and quotes",
            )


def _read(path: Path) -> bytes | None:
    try:
        raw = path.read_bytes()
        raw.decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PrepareError(f"{path}, line {line}: not UTF-8", "convert the file first") from error
    except OSError as error:
        raise PrepareError(f"{path} cannot be read: {error.strerror}", "check its mode") from error
    return raw


def _code(files: dict[str, bytes | None]) -> list[str]:
    lines = [line for raw in files.values() if raw for line in raw.decode().split("\n")]
    return [line for line in lines if not line.lstrip().startswith("#")]


def _assigns(raw: bytes | None, variable: str) -> bool:
    pattern = rf"(?m)^(?!\s*#).*\b{variable}=".encode()
    return raw is not None and re.search(pattern, raw) is not None


def _place(role: Role, files: dict[str, bytes | None]) -> tuple[str, str]:
    """The file and the variable of a role that have the last word."""
    for variable in role.variables:
        for name in (role.late_file, ENV):
            if _assigns(files[name], variable):
                return name, variable
    return ENV, role.variables[-1]


def _with_line(raw: bytes | None, variable: str, option: str) -> bytes:
    # The test is for scripts that start other scripts: each sources hadoop-env.sh again.
    line = (
        f'[[ "${{{variable}}}" == *"{option}"* ]] || export {variable}="${{{variable}}} {option}"\n'
    )
    old = raw or b""
    if old and not old.endswith(b"\n"):
        old += b"\n"
    return old + line.encode()


def _document(path: Path, raw: bytes) -> properties.Document:
    try:
        return properties.read(raw)
    except properties.BadXmlError as error:
        raise PrepareError(f"{path}, {error}", "correct the file") from error


def _with_property(path: Path, raw: bytes, option: str) -> bytes:
    document = _document(path, raw)
    own = document.find(f"{ADMIN_ENV}.{VARIABLE}")
    if own is not None:
        return properties.append(document, own, option)
    shared = document.find(ADMIN_ENV)
    listed = re.search(rf"(?:^|,)\s*{VARIABLE}=([^,]*)", shared.value) if shared else None
    # The property of one variable wins over the list, and may hold commas. The blank keeps the
    # option a word of its own: Hadoop puts a colon between a job's own value and this one.
    value = f"{listed[1].strip() if listed else ''} {option}"
    return properties.add(document, f"{ADMIN_ENV}.{VARIABLE}", value)


def _recovers(path: Path, raw: bytes) -> bool:
    recovery = _document(path, raw).find(RECOVERY)
    return recovery is not None and recovery.value.strip() == "true"


def _diffs(before: dict[str, bytes | None], after: dict[str, bytes | None]) -> str:
    rows = []
    for name in sorted(before):
        diff = unified(name, (before[name] or b"").decode(), (after[name] or b"").decode())
        if before[name] is None:
            diff = diff.replace(f"--- a/{name}", "--- /dev/null", 1)
        if after[name] is None:
            diff = diff.replace(f"+++ b/{name}", "+++ /dev/null", 1)
        rows.append(diff)
    return "".join(rows)


def _restarts(roles: list[Role]) -> list[str]:
    steps = []
    for role in roles:
        one = role.name in ("NameNode", "ResourceManager")
        daemon = role.name.lower()
        command = f"{role.restart} --daemon stop {daemon}; {role.restart} --daemon start {daemon}"
        how = "with high availability the standby first" if one else "one node after the other"
        steps.append(f"{role.name}s, {how}: {command}")
    steps.append("running jobs go on untraced; jobs submitted from now on can be recorded")
    return steps
