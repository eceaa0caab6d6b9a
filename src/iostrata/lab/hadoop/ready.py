"""When the lab's Hadoop can take work: asked over its own HTTP, without a JVM of ours."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import quote

TIMEOUT = 5.0  # seconds for one request
NAMENODE_INFO = "Hadoop:service=NameNode,name=NameNodeInfo"


def request(port: int, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
    """One HTTP exchange with 127.0.0.1:`port`: status, headers in lower case, body.

    Raises OSError or http.client.HTTPException while the server is not there.
    """
    # Not urllib: it would send loopback requests to a proxy named by the environment.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return response.status, headers, response.read()
    finally:
        connection.close()


def answer(port: int, path: str) -> dict[str, Any]:
    """The JSON object at `path`; empty while nobody answers with one."""
    try:
        status, _, body = request(port, "GET", path)
        return dict(json.loads(body)) if status == 200 else {}
    except (OSError, http.client.HTTPException, ValueError):
        return {}


def _namenode_info(port: int) -> dict[str, Any]:
    beans = answer(port, f"/jmx?qry={NAMENODE_INFO}").get("beans", [])
    return dict(beans[0]) if beans else {}


def datanodes(port: int) -> list[str] | None:
    """HOST:PORT of each DataNode that the NameNode holds for live; None if it does not answer."""
    info = _namenode_info(port)
    if not info:
        return None
    return sorted(node["xferaddr"] for node in json.loads(info["LiveNodes"]).values())


def hdfs_lacks(port: int, datanodes: int) -> str:
    """What HDFS still lacks, in words; empty when it is ready. `port` is the NameNode's http."""
    info = _namenode_info(port)
    if not info:
        return "the NameNode does not answer"
    live = json.loads(info["LiveNodes"])
    # A DataNode is live from its registration, but takes blocks only after the first heartbeat
    # has told its capacity.
    usable = sum(1 for node in live.values() if node["capacity"] > 0)
    if usable < datanodes:
        return f"{usable} of {datanodes} DataNodes registered"
    return f"safe mode: {info['Safemode']}" if info["Safemode"] else ""


def yarn_lacks(port: int) -> str:
    """What YARN still lacks, in words; empty when it is ready. `port` is the RM's http."""
    # Not JMX: the ResourceManager's metrics there are up to 10 s old.
    nodes = answer(port, "/ws/v1/cluster/nodes?states=RUNNING").get("nodes", None)
    if nodes is None:
        return "the ResourceManager does not answer"
    usable = [node for node in (nodes or {}).get("node", []) if node["availMemoryMB"] > 0]
    return "" if usable else "no NodeManager with memory registered"


def webhdfs(port: int, method: str, path: str, operation: str) -> bytes:
    """One WebHDFS operation through the NameNode's http port; follows the way to a DataNode.

    Raises OSError with HTTP's status and Hadoop's text when it is refused.
    """
    target = f"/webhdfs/v1{quote(path)}?op={operation}&user.name=hdfs"
    status, headers, body = request(port, method, target)
    if status == 307:
        authority, _, rest = headers["location"].removeprefix("http://").partition("/")
        status, headers, body = request(int(authority.rpartition(":")[2]), method, f"/{rest}")
    if status == 404:
        raise FileNotFoundError(path)
    if status != 200:
        raise OSError(f"{method} {target}: HTTP {status}: {body.decode(errors='replace')[:300]}")
    return body


def make_folders(port: int, folders: list[str]) -> None:
    """Make HDFS folders into which every user may write."""
    for folder in folders:
        webhdfs(port, "PUT", folder, "MKDIRS&permission=1777")
