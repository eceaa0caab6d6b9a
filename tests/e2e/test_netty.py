"""Netty's native transport, which moves bytes past java.nio: all of them, and who had them."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import Between, Iostrata, Verifies
from tests.e2e.truth import Run

from iostrata_lab.clusters.hadoop import jars

HERE = Path(__file__).parent
MIB = 1 << 20
SIZE, FILE, PIPE = MIB, 3 * MIB + 1, 16 << 10
# The first point of each copy; those of HBase's are as many as those of Netty's own.
FIRST = {"": 671, "org.apache.hbase.thirdparty.": 684}
# Of Socket with and without addresses of buffers, FileDescriptor likewise, and what both do.
RECV, RECV_ADDRESS, SEND, SEND_ADDRESS = range(4)
READ, READ_ADDRESS, WRITE, WRITE_ADDRESS, WRITEV, WRITEV_ADDRESSES = range(4, 10)
SEND_FILE, ACCEPT, CONNECT = range(10, 13)


def echo(folder: Path, prefix: str, *options: str) -> list[str]:
    """The command that runs NettyEcho with classes whose packages begin with the prefix."""
    pom = (HERE / "netty-pom.xml").read_text()
    lib = f"{jars.fetch_pom('Netty 4.1.118', pom, print)}/*"
    program = (HERE / "NettyEcho.java").read_text()
    source = folder / "NettyEcho.java"
    source.write_text(program.replace("import io.netty.", f"import {prefix}io.netty."))
    subprocess.run(["javac", "-cp", lib, "-d", str(folder), str(source)], check=True)
    (folder / "file").write_bytes(bytes(FILE))
    java = ("java", "-Xmx128m", *options, "-cp", f"{folder}:{lib}", "NettyEcho")
    return [*java, str(SIZE), str(folder / "file")]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the library is of x86_64")
@pytest.mark.parametrize("prefix", FIRST)
@pytest.mark.parametrize("has_addresses", [True, False])
@pytest.mark.one_of("prefix")
def test_each_byte_of_the_native_transport_has_its_peer(
    prefix: str, has_addresses: bool, tmp_path: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    options = [] if has_addresses else [f"-D{prefix}io.netty.noUnsafe=true"]
    done = iostrata("record", "--run", "r", "--", *echo(tmp_path, prefix, *options))
    assert done.returncode == 0, done.stderr
    server = f"127.0.0.1:{done.stdout.split()[-1]}"
    run = Run(tmp_path / "store", "r")
    # THEN both ends have what was sent to either; the file went past what the client sends
    first = FIRST[prefix]
    moved = run.rows(
        "SELECT op, target, sum(bytes)::BIGINT FROM events WHERE kind = 'call' AND layer = 'java' "
        f"AND point BETWEEN {first} AND {first + CONNECT} GROUP BY ALL HAVING sum(bytes) > 0"
    )
    total, piped = 4 * SIZE + FILE, (3 if has_addresses else 2) * PIPE
    assert {(op, target): size for op, target, size in moved} == {
        ("receive", "127.0.0.1"): total,
        ("receive", server): total,
        ("receive", ""): piped,
        ("send", "127.0.0.1"): total,
        ("send", server): total - FILE,
        ("send", ""): piped,
        ("transfer", str(tmp_path / "file")): FILE,
    }
    # AND nothing of it is missing in the kernel's account, which lacks recv() and send()
    (share,) = json.loads(iostrata("summary", "r", "--json").stdout)["traced_shares"]
    assert (share["native"], share["missing_written"] < MIB) == ([], True)
    assert share["traced_written"] <= share["io_written"]
    assert "Netty's native transport" not in iostrata("summary", "r").stdout
    often = Between(1)
    own = (RECV_ADDRESS, SEND_ADDRESS) if has_addresses else (RECV, SEND)
    piping = {READ: 2, WRITE: 1, WRITEV: 1} | (
        {READ_ADDRESS: 1, WRITE_ADDRESS: 1} if has_addresses else {}
    )
    expected = dict.fromkeys((*own, WRITEV_ADDRESSES, SEND_FILE), often) | piping
    verifies(run, {first + point: want for point, want in expected.items()})
