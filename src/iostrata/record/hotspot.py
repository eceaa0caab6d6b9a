"""Loading an agent into a running JVM, by the attach protocol of HotSpot, without tools of a JDK.

The JVM is asked with a file `.attach_pidN` and SIGQUIT to listen on the socket `.java_pidN`, both
in its own /tmp; N is its pid in its own namespace. What is sent there is `1 load instrument false
JAR=OPTIONS` or `1 load LIBRARY true OPTIONS`, each word ended by a zero byte. Nothing is sent to a
process that is not a JVM or would die of the signal.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from iostrata.errors import UserError

LISTEN_TIMEOUT = 10.0
LOAD_TIMEOUT = 120.0  # the JVM weaves a few hundred classes meanwhile, on a machine that is busy
DISABLED = "-XX:+DisableAttachMechanism"
# sun.tools.attach and libinstrument
_BAD_JAR, _NOT_ON_PATH, _START_FAILED = 100, 101, 102


@dataclass(frozen=True)
class JvmProcess:
    """A JVM that can be attached to. `own_pid` is what it calls itself in its own namespace."""

    pid: int
    own_pid: int
    uid: int
    gid: int


def find_target(pid: int, proc: Path = Path("/proc")) -> JvmProcess:
    """The JVM of that pid; raises UserError when there is none that can be attached to."""
    place = proc / str(pid)
    try:
        status = _fields((place / "status").read_text("utf-8", "replace"))
    except OSError:
        raise UserError(f"pid {pid}: there is no such process", "iostrata doctor") from None
    uid, gid = int(status["Uid"].split()[1]), int(status["Gid"].split()[1])
    if os.geteuid() not in (0, uid):
        raise UserError(f"pid {pid} belongs to uid {uid}", f"be root or uid {uid}")
    try:
        maps = (place / "maps").read_text("utf-8", "replace")
    except OSError as error:
        raise UserError(
            f"pid {pid} cannot be looked into: {error.strerror}", "be root on its host"
        ) from error
    if "/libjvm.so" not in maps or "libj9vm" in maps:
        kind = "an OpenJ9 JVM" if "libj9vm" in maps else "no JVM"
        raise UserError(f"pid {pid} is {kind}", "only HotSpot JVMs can be attached to")
    if status["State"][0] in "Tt":
        raise UserError(f"pid {pid} is stopped", f"kill -CONT {pid}")
    # SIGQUIT kills a JVM that does not handle it: one with -Xrs, or one that is just starting.
    if not int(status["SigCgt"], 16) >> (signal.SIGQUIT - 1) & 1:
        raise UserError(
            f"pid {pid} does not handle SIGQUIT (-Xrs, or it has just started)",
            "start it again with the agent (iostrata prepare hadoop)",
        )
    if is_disabled(place):
        raise UserError(
            f"pid {pid} runs with {DISABLED}",
            "start it again without, or with the agent (iostrata prepare hadoop)",
        )
    own_pid = int(status.get("NSpid", str(pid)).split()[-1])
    return JvmProcess(pid, own_pid, uid, gid)


def is_disabled(place: Path) -> bool:
    """Whether the JVM says that it cannot be attached to: its options, or its performance data."""
    words = (place / "cmdline").read_bytes() + b"\0"
    with suppress(OSError):
        words += (place / "environ").read_bytes()
    if DISABLED.encode() in words:
        return True
    for data in (place / "root/tmp").glob(f"hsperfdata_*/{_own_pid(place)}"):
        with suppress(OSError):
            # The first character of sun.rt.jvmCapabilities: 1 when it listens.
            found = re.search(rb"sun\.rt\.jvmCapabilities\0+([01]{8,})", data.read_bytes())
            if found is not None:
                return found[1].startswith(b"0")
    return False


def _own_pid(place: Path) -> str:
    status = _fields((place / "status").read_text("utf-8", "replace"))
    return status.get("NSpid", place.name).split()[-1]


def _fields(status: str) -> dict[str, str]:
    lines = (line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {name: value.strip() for name, value in lines}


class Attachment:
    """The /tmp of a JVM, where both sides put files, held open from before rights are given up."""

    def __init__(self, target: JvmProcess) -> None:
        self.target = target
        path = f"/proc/{target.pid}/root/tmp"
        try:
            self._tmp = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise UserError(f"{path} cannot be opened: {error.strerror}") from error

    def close(self) -> None:
        os.close(self._tmp)

    def path(self, name: str) -> str:
        """A name in the JVM's /tmp, as this process reaches it."""
        return f"/proc/self/fd/{self._tmp}/{name}"

    def load(self, agent: Path, options: str) -> None:
        """Loads jar or library; returns when it has begun. Raises UserError with the reason."""
        if agent.suffix == ".so":
            answer = self._ask("load", str(agent), "true", options)
        else:
            answer = self._ask("load", "instrument", "false", f"{agent}={options}")
        code, _, rest = answer.partition("\n")
        # `return code: 0`; before JDK 9 the number alone
        result = re.fullmatch(r"(?:return code: )?(-?\d+)", rest.strip())
        if code == "0" and result and result[1] == "0":
            return
        failed = int(result[1]) if result else 0
        pid = self.target.pid
        if failed in (_BAD_JAR, _NOT_ON_PATH):
            raise UserError(
                f"pid {pid} cannot read the agent {agent}", "chmod a+r, or another --dir"
            )
        reason = " ".join(rest.split()) or f"code {code}"
        library = agent.suffix == ".so"
        raise UserError(
            f"pid {pid} did not load the agent: {reason}",
            "try IOSTRATA_LOADER=javaagent" if library else "see its standard error",
        )

    def _ask(self, *words: str) -> str:
        with as_user(self.target):
            self._listen()
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
                channel.settimeout(LOAD_TIMEOUT)
                try:
                    channel.connect(self.path(self._socket_name))
                    self._check_peer(channel)
                    channel.sendall(b"".join(word.encode() + b"\0" for word in ("1", *words)))
                    parts = []
                    while part := channel.recv(4096):
                        parts.append(part)
                except TimeoutError:
                    raise UserError(
                        f"pid {self.target.pid} did not answer within {LOAD_TIMEOUT:.0f} s",
                        "iostrata doctor tells what became of it",
                    ) from None
                except OSError as error:
                    raise UserError(
                        f"pid {self.target.pid} broke off: {error.strerror}", "see its log"
                    ) from error
        return b"".join(parts).decode("utf-8", "replace")

    @property
    def _socket_name(self) -> str:
        return f".java_pid{self.target.own_pid}"

    def _check_peer(self, channel: socket.socket) -> None:
        """Anybody may put a socket of that name into /tmp."""
        raw = channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, _ = struct.unpack("3i", raw)
        # 0: a process of a namespace that cannot be seen from here
        if uid != self.target.uid or pid not in (0, self.target.pid):
            raise UserError(
                f"the socket {self._socket_name} of pid {self.target.pid} belongs to pid {pid} "
                f"of uid {uid}",
                "remove it",
            )

    def _listen(self) -> None:
        """Makes the JVM listen unless it does."""
        if self._is_there():
            return
        trigger = self.path(f".attach_pid{self.target.own_pid}")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
        try:
            with suppress(FileExistsError):
                os.close(os.open(trigger, flags, 0o600))
            os.kill(self.target.pid, signal.SIGQUIT)
            deadline = time.monotonic() + LISTEN_TIMEOUT
            while not self._is_there():
                if time.monotonic() > deadline:
                    raise UserError(
                        f"pid {self.target.pid} did not listen within {LISTEN_TIMEOUT:.0f} s",
                        "it may be stopped, or forbid to be attached to",
                    )
                time.sleep(0.02)
        except OSError as error:
            raise UserError(
                f"pid {self.target.pid} cannot be asked: {error.strerror}", "see its /tmp"
            ) from error
        finally:
            with suppress(OSError):
                os.unlink(trigger)  # noqa: PTH108

    def _is_there(self) -> bool:
        try:
            return os.stat(self.path(self._socket_name)).st_uid == self.target.uid  # noqa: PTH116
        except OSError:
            return False

    @contextmanager
    def answer_file(self) -> Iterator[tuple[str, str]]:
        """An empty file that the JVM's user may write: its name for the JVM, and its path here."""
        name = f".iostrata-{os.getpid()}-{time.monotonic_ns():x}"
        with as_user(self.target):
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
            os.close(os.open(self.path(name), flags, 0o600))
        try:
            yield f"/tmp/{name}", self.path(name)
        finally:
            with suppress(OSError):
                os.unlink(self.path(name))  # noqa: PTH108


@contextmanager
def as_user(target: JvmProcess) -> Iterator[None]:
    """Root becomes the JVM's user: older JVMs believe only that one, and files get its owner."""
    if os.geteuid() != 0 or target.uid == 0:
        yield
        return
    groups, gid = os.getgroups(), os.getegid()
    os.setgroups([])
    os.setegid(target.gid)
    os.seteuid(target.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(gid)
        os.setgroups(groups)
