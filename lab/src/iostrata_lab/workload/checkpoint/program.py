"""A rank of a parallel program that saves its state, as IOR does it: run by mpiexec.

    mpiexec -n 4 python -m iostrata_lab.workload.checkpoint.program ORDER.json

Rank 0 writes what each rank did to the file `answer` of the order: a row for each checkpoint and
rank, times in s of MPI_Wtime since the first barrier.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from mpi4py import MPI

from iostrata_lab.workload.checkpoint.layout import content, offsets, path

WORLD = MPI.COMM_WORLD


class Posix:
    """The file of a rank, or of all, by the C library."""

    def __init__(self, name: str, writes: bool) -> None:
        flags = os.O_CREAT | os.O_WRONLY if writes else os.O_RDONLY
        self.fd = os.open(name, flags, 0o644)

    def write(self, at: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            written = os.pwrite(self.fd, view, at)
            view, at = view[written:], at + written

    def read(self, at: int, size: int) -> bytes:
        return os.pread(self.fd, size, at)

    def sync(self) -> None:
        os.fsync(self.fd)

    def close(self) -> None:
        os.close(self.fd)


class MpiIo:
    """The same by MPI-IO; with `collective`, all ranks write at once."""

    def __init__(self, name: str, writes: bool, alone: bool, collective: bool) -> None:
        mode = MPI.MODE_CREATE | MPI.MODE_WRONLY if writes else MPI.MODE_RDONLY
        self.file = MPI.File.Open(MPI.COMM_SELF if alone else WORLD, name, mode)
        self.collective = collective

    def write(self, at: int, data: bytes) -> None:
        call = self.file.Write_at_all if self.collective else self.file.Write_at
        call(at, data)

    def read(self, at: int, size: int) -> bytes:
        data = bytearray(size)
        call = self.file.Read_at_all if self.collective else self.file.Read_at
        call(at, data)
        return bytes(data)

    def sync(self) -> None:
        self.file.Sync()

    def close(self) -> None:
        self.file.Close()


def opened(order: dict[str, Any], number: int, rank: int, writes: bool) -> Posix | MpiIo:
    name, alone = path(order, number, rank), order["pattern"] == "n-n"
    if order["api"] == "posix":
        return Posix(name, writes)
    return MpiIo(name, writes, alone, order["collective"] and not alone)


def save(order: dict[str, Any], number: int, rank: int, ranks: int, begin: float) -> dict[str, Any]:
    """One checkpoint of one rank."""
    data, places = content(order, number, rank), offsets(order, rank, ranks)
    WORLD.Barrier()
    start = MPI.Wtime() - begin
    file = opened(order, number, rank, writes=True)
    is_open = MPI.Wtime() - begin
    for at in places:
        file.write(at, data)
    written = MPI.Wtime() - begin
    if order["fsync"]:
        file.sync()
    synced = MPI.Wtime() - begin
    file.close()
    return {
        "checkpoint": number,
        "rank": rank,
        "bytes": len(places) * len(data),
        "writes": len(places),
        "start": start,
        "open": is_open - start,
        "write": written - is_open,
        "sync": synced - written,
        "close": MPI.Wtime() - begin - synced,
        "end": MPI.Wtime() - begin,
    }


def restart(order: dict[str, Any], number: int, rank: int, ranks: int) -> float:
    """Reads what the next rank has saved, which is in no cache of a client's own; s it took."""
    other = (rank + 1) % ranks
    data = content(order, number, other)
    WORLD.Barrier()
    start = MPI.Wtime()
    file = opened(order, number, other, writes=False)
    wrong = sum(file.read(at, len(data)) != data for at in offsets(order, other, ranks))
    file.close()
    if wrong:
        raise RuntimeError(f"{wrong} transfers of rank {other} are not what it has written")
    return float(MPI.Wtime() - start)


def main() -> None:
    order = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    rank, ranks = WORLD.Get_rank(), WORLD.Get_size()
    if ranks != order["ranks"]:  # each is alone: mpiexec is of another MPI than mpi4py's
        sys.exit(f"Error: {ranks} of {order['ranks']} ranks: mpiexec is not that of mpi4py's MPI")
    WORLD.Barrier()
    begin = MPI.Wtime()
    rows = []
    for number in range(order["checkpoints"]):
        if number:
            time.sleep(order["pause"])
        rows.append(save(order, number, rank, ranks, begin))
        WORLD.Barrier()
        gone = number - order["kept"]
        if gone >= 0 and (order["pattern"] == "n-n" or rank == 0):
            Path(path(order, gone, rank)).unlink()
    read = None
    if order["restart"]:
        read = restart(order, order["checkpoints"] - 1, rank, ranks)
    everything = WORLD.gather((rows, read))
    if everything is not None:  # this is rank 0
        answer = {
            "rows": [row for own, _ in everything for row in own],
            "restarts": [took for _, took in everything if took is not None],
        }
        Path(order["answer"]).write_text(json.dumps(answer), "utf-8")


if __name__ == "__main__":
    main()
