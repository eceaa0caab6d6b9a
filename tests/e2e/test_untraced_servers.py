"""A client with an agent on servers that have none: its header is nothing to them."""

from __future__ import annotations

import os

import pytest
from tests.e2e.labs import UNTRACED, Labs
from tests.e2e.trees import Tree

from iostrata_lab import clusters

pytestmark = pytest.mark.cluster

SIZE = 300_000


def test_a_traced_client_on_servers_without_an_agent(labs: Labs) -> None:
    plain = labs.at(*UNTRACED)
    plain.environment |= clusters.find(plain.name).environment()
    data = plain.folder / "local"
    data.write_bytes(os.urandom(SIZE))
    put = ("hadoop", "fs", "-put", str(data), "/traced")
    assert plain.iostrata("record", "--run", "plain", "--", *put).returncode == 0
    assert len(Tree(plain.run("plain")).named("client", "hdfs", "connect")) == 1
    assert int(plain.hadoop("hadoop", "fs", "-du", "/traced").split()[0]) == SIZE
