"""Where a workload writes: a folder of a cluster's HDFS, or one of a mounted file system."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from iostrata.errors import UserError
from iostrata.text import size
from iostrata_lab.clusters.mounted import VARIABLE, mounts
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.interface import Context, Workload

# Blocks that are being written are counted whole, in HDFS and by most file systems.
ROOM = 1.1


class WorkFolder(Protocol):
    """A file system in which a workload gets a folder of its own."""

    def check(self, workload: Workload, context: Context) -> None:
        """Raises UserError where it cannot work there."""

    def make(self, context: Context) -> None:
        """The folder, which `check` has found missing."""

    def undo(self, workload: Workload, context: Context) -> None:
        """Ends what still runs and removes what was written, as far as that can be reached."""

    def remove(self, context: Context) -> None:
        """The folder with all below it."""


def folder_of(workload: Workload, cluster: ClusterClient) -> WorkFolder:
    return HdfsFolder(cluster) if workload.on_cluster else MountedFolder()


@dataclass(frozen=True)
class HdfsFolder:
    """HDFS of a cluster, which also runs the jobs."""

    cluster: ClusterClient

    def check(self, workload: Workload, context: Context) -> None:
        has = self.cluster.facts
        if not has.datanodes:
            raise UserError("HDFS has no live DataNode", "start one")
        yarn = workload.yarn(context)
        if yarn and not has.nodemanagers:
            raise UserError("YARN has no live NodeManager", "start one")
        if yarn and has.memory < has.job:
            raise UserError(
                f"YARN has {size(has.memory)} for containers, a job needs {size(has.job)}",
                "give its nodes more: yarn.nodemanager.resource.memory-mb",
            )
        needed = int(workload.bytes(context) * has.replication * ROOM)
        if needed > has.free:
            raise UserError(
                f"{workload.name} needs {size(needed)} in HDFS with {has.replication} replicas, "
                f"{size(has.free)} are free",
                "ask for less: --scale, --set",
            )
        if self.cluster.exists(context.folder):
            raise UserError(f"{context.folder} is there already", "name another --folder")

    def make(self, context: Context) -> None:
        """Whoever writes to it first does."""

    def undo(self, workload: Workload, context: Context) -> None:
        if workload.yarn(context):
            with suppress(UserError):
                self.cluster.job("end", context.tag)
        with suppress(UserError):
            self.remove(context)

    def remove(self, context: Context) -> None:
        self.cluster.remove(context.folder)


class MountedFolder:
    """A file system that is mounted here."""

    def check(self, workload: Workload, context: Context) -> None:
        folder = Path(context.folder)
        parent = folder.parent
        if not parent.is_dir():
            raise UserError(f"{parent} is no folder", "name a --folder in one that is there")
        if os.path.lexists(folder):
            raise UserError(f"{folder} is there already", "name another --folder")
        has = os.statvfs(parent)
        if has.f_flag & os.ST_RDONLY:
            raise UserError(f"{parent} is mounted read-only", "name a --folder on another mount")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise UserError(f"{parent} may not be written to", "name another --folder")
        needed, free = int(workload.bytes(context) * ROOM), has.f_bavail * has.f_frsize
        if needed > free:
            raise UserError(
                f"{workload.name} needs {size(needed)} in {parent}, {size(free)} are free",
                "ask for less: --scale, --set",
            )

    def make(self, context: Context) -> None:
        Path(context.folder).mkdir()

    def undo(self, _: Workload, context: Context) -> None:
        self.remove(context)

    def remove(self, context: Context) -> None:
        shutil.rmtree(context.folder, ignore_errors=True)


def mount_of(cluster: ClusterClient) -> str:
    """Where its lab has mounted a file system; '' where it has none."""
    return cluster.environment.get(VARIABLE, "")


def mounted_at(folder: Path) -> str:
    """`ext4 at /mnt`: the file system of a folder, by the kernel's own list."""
    above = [one for one in mounts() if folder.is_relative_to(one.point)]
    if not above:
        return "unknown"
    found = max(reversed(above), key=lambda one: len(one.point))  # the last of those at one place
    of = f" of {found.source}" if found.kind.startswith("fuse") else ""  # it names the file system
    return f"{found.kind}{of} at {found.point}"
