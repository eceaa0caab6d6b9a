"""A lab that runs Hadoop, and what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iostrata_lab.clusters import processes
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import history, ready
from iostrata_lab.clusters.hadoop.history import JobFiles, JobHistory
from iostrata_lab.clusters.hadoop.ready import WebHdfs
from iostrata_lab.clusters.lab import Lab
from iostrata_lab.clusters.mounted import mount_point
from iostrata_lab.clusters.state import State


def webhdfs(known: State) -> WebHdfs:
    """The HDFS of a lab, over HTTP."""
    addresses = {node.name: node.address for node in known.nodes}
    return WebHdfs(known.at("namenode-http"), addresses)


@dataclass(frozen=True)
class MountedFiles:
    """A mounted file system, as jobs see it."""

    point: Path

    def names(self, folder: str) -> list[str]:
        return sorted(path.name for path in (self.point / folder.strip("/")).iterdir())

    def read(self, path: str) -> bytes:
        return (self.point / path.strip("/")).read_bytes()


class HadoopLab(Lab):
    """A running lab with HDFS or another file system, and maybe YARN; or what is left of one."""

    @property
    def hdfs(self) -> WebHdfs:
        """Its HDFS, over HTTP."""
        return webhdfs(self.state)

    @property
    def has_hdfs(self) -> bool:
        return not self.state.over_mount

    @property
    def job_files(self) -> JobFiles:
        """Where jobs write their histories."""
        return self.hdfs if self.has_hdfs else MountedFiles(mount_point(self.root))

    @property
    def conf_dir(self) -> Path:
        return self.root / "conf"

    @property
    def examples_jar(self) -> Path:
        """hadoop-mapreduce-examples, for `hadoop jar`."""
        return next(Path(self.state.lib).glob("hadoop-mapreduce-examples-*.jar"))

    def job_history(self, job_id: str, timeout: float = 30.0) -> JobHistory:
        """Hadoop's own counters of an ended job; `timeout` in seconds, for its last writes."""
        return history.parse(history.fetch(self.job_files, job_id, timeout))

    def attempts(self, job_id: str, timeout: float = 30.0) -> list[str]:
        """The attempts of an ended job that were started, by its history; `timeout` as above."""
        return history.started(history.fetch(self.job_files, job_id, timeout))

    def configuration(self, job_id: str, timeout: float = 30.0) -> bytes:
        """The XML of all that was set for an ended job; it may hold secrets."""
        return history.fetch_configuration(self.job_files, job_id, timeout)

    def datanodes(self) -> list[tuple[str, str, str, int | None]]:
        """The DataNodes that the NameNode lists: address, rack, node, and the process if known.

        The node is empty for one of this machine. Raises LabError when the NameNode does not
        answer.
        """
        listed = ready.datanodes(self.state.at("namenode-http"))
        if listed is None:
            raise LabError("the NameNode does not answer", f"see {self.log_path('namenode')}")
        known = [daemon for daemon in self.state.daemons if daemon.role.startswith("datanode")]
        pids = {(d.node, port): d.pid for d in known for port in processes.listening(d.pid)}
        names = {node.address: node.name for node in self.state.nodes}
        found = []
        for address, rack in listed:
            host, _, port = address.rpartition(":")
            node = names.get(host, "")
            found.append((address, rack, node, pids.get((node, int(port)))))
        return found
