"""What a path says about its file: the categories that LocalName.java gives in a traced JVM."""

from __future__ import annotations

import re
from functools import lru_cache

from iostrata.records import Record

_BLOCK = re.compile(r"blk_(-?\d{1,18})(?:_\d+\.meta)?")
_LOG = re.compile(r".*\.log(\..*)?")
_TASK_LOGS = ("syslog", "stdout", "stderr")


class CallTarget(Record, frozen=True):
    """What a call was on: `category` of schema/events.toml; `peer`, of a socket, the other end."""

    name: str
    category: str
    block: int | None = None
    peer: str = ""


@lru_cache(maxsize=1 << 16)
def of_path(path: str) -> CallTarget:
    """The target that is the file of that name."""
    file = path.rpartition("/")[2]
    block = _BLOCK.fullmatch(file)
    if block:
        category = "blk_meta" if file.endswith(".meta") else "blk"
        return CallTarget(path, category, int(block[1]))
    return CallTarget(path, _category(path, file))


def _category(path: str, file: str) -> str:
    for category, suffixes in _SUFFIXES.items():
        if file.endswith(suffixes):
            return category
    if file == "modules":
        return "classes"
    if _LOG.fullmatch(file) or ("/userlogs/" in path and file in _TASK_LOGS):
        return "log"
    if _SPILL.fullmatch(file):
        return "spill"
    return "namenode" if file.startswith(("fsimage", "edits_")) else "file"


# What a map writes, as of java/agent's LocalName.
_SPILL = re.compile(r"(spill.*|attempt_.*_spill_.*|file)\.out")
_SUFFIXES = {
    "jars": (".jar", ".zip"),
    "classes": (".class",),
    "properties": (".properties",),
    "xml": (".xml",),
}
