"""When the lab's Hadoop can take work: asked over its own HTTP, without a JVM of ours."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

TIMEOUT = 5.0  # seconds for one request
NAMENODE_INFO = "Hadoop:service=NameNode,name=NameNodeInfo"


def request(at: str, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
    """One HTTP exchange with `at`, HOST:PORT: status, headers in lower case, body.

    Raises OSError or http.client.HTTPException while the server is not there.
    """
    # Not urllib: it would send the requests to a proxy named by the environment.
    connection = http.client.HTTPConnection(at, timeout=TIMEOUT)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return response.status, headers, response.read()
    finally:
        connection.close()


def answer(at: str, path: str) -> dict[str, Any]:
    """The JSON object at `path`; empty while nobody answers with one."""
    try:
        status, _, body = request(at, "GET", path)
        return dict(json.loads(body)) if status == 200 else {}
    except (OSError, http.client.HTTPException, ValueError):
        return {}


def _namenode_info(at: str) -> dict[str, Any]:
    beans = answer(at, f"/jmx?qry={NAMENODE_INFO}").get("beans", [])
    return dict(beans[0]) if beans else {}


def datanodes(at: str) -> list[tuple[str, str]] | None:
    """HOST:PORT and rack of each DataNode that the NameNode holds for live; None if it does not
    answer.
    """
    info = _namenode_info(at)
    if not info:
        return None
    live = json.loads(info["LiveNodes"]).values()
    return sorted((node["xferaddr"], node["location"]) for node in live)


def hdfs_lacks(at: str, datanodes: int) -> str:
    """What HDFS still lacks, in words; empty when it is ready. `at` is the NameNode's http."""
    info = _namenode_info(at)
    if not info:
        return "the NameNode does not answer"
    live = json.loads(info["LiveNodes"])
    # A DataNode is live from its registration, but takes blocks only after the first heartbeat
    # has told its capacity.
    usable = sum(1 for node in live.values() if node["capacity"] > 0)
    if usable < datanodes:
        return f"{usable} of {datanodes} DataNodes registered"
    return f"safe mode: {info['Safemode']}" if info["Safemode"] else ""


def yarn_lacks(at: str, managers: int) -> str:
    """What YARN still lacks, in words; empty when it is ready. `at` is the RM's http."""
    # Not JMX: the ResourceManager's metrics there are up to 10 s old.
    nodes = answer(at, "/ws/v1/cluster/nodes?states=RUNNING").get("nodes", None)
    if nodes is None:
        return "the ResourceManager does not answer"
    usable = [node for node in (nodes or {}).get("node", []) if node["availMemoryMB"] > 0]
    lacks = f"{len(usable)} of {managers} NodeManagers registered with memory"
    return lacks if len(usable) < managers else ""


@dataclass(frozen=True)
class WebHdfs:
    """HDFS over HTTP, without a JVM of ours."""

    at: str  # HOST:PORT of the NameNode's http
    addresses: Mapping[str, str]  # of DataNodes whose names this machine does not know

    def do(self, method: str, path: str, operation: str) -> bytes:
        """One operation; follows the way to a DataNode.

        Raises OSError with HTTP's status and Hadoop's text when it is refused.
        """
        target = f"/webhdfs/v1{quote(path)}?op={operation}&user.name=hdfs"
        status, headers, body = request(self.at, method, target)
        if status == 307:
            authority, _, rest = headers["location"].removeprefix("http://").partition("/")
            host, _, port = authority.rpartition(":")
            datanode = f"{self.addresses.get(host, host)}:{port}"
            status, headers, body = request(datanode, method, f"/{rest}")
        if status == 404:
            raise FileNotFoundError(path)
        if status != 200:
            said = body.decode(errors="replace")[:300]
            raise OSError(f"{method} {target}: HTTP {status}: {said}")
        return body

    def names(self, folder: str) -> list[str]:
        """Of what is in a folder."""
        body = json.loads(self.do("GET", folder, "LISTSTATUS"))
        return [entry["pathSuffix"] for entry in body["FileStatuses"]["FileStatus"]]

    def read(self, path: str) -> bytes:
        """All of a file."""
        return self.do("GET", path, "OPEN")

    def make_folders(self, folders: list[str]) -> None:
        """Make folders into which every user may write."""
        for folder in folders:
            self.do("PUT", folder, "MKDIRS&permission=1777")
