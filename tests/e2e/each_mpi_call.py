"""Ranks that make each call of MPI-IO: each_mpi_call.py FOLDER.

Each writes into FOLDER/said.RANK.json how many calls of each function it made, and how many bytes
they moved by what MPI says; and where in the file those with an offset began.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from mpi4py import MPI

SIZE = 4096
folder = Path(sys.argv[1])
world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
said: dict[str, list[int]] = defaultdict(lambda: [0, 0])
begins: list[int] = []


def note(function: str, moved: int = 0) -> None:
    said[f"MPI_File_{function}"][0] += 1
    said[f"MPI_File_{function}"][1] += moved


def each(file: MPI.File, function: str, *words: object) -> None:
    """A call with a status and one without, unless nothing is left to be read."""
    status = MPI.Status()
    getattr(file, function.capitalize())(*words, status)
    note(function, status.Get_count(MPI.BYTE))


def opened(name: str) -> MPI.File:
    note("open")
    return MPI.File.Open(world, str(folder / name), MPI.MODE_CREATE | MPI.MODE_RDWR)


def closed(file: MPI.File) -> None:
    file.Close()
    note("close")


own = bytes([rank]) * SIZE
room = bytearray(SIZE)

# By an offset, alone and together; without a status; past the end of the file.
file = opened("at")
for call in ("write_at", "write_at_all", "read_at", "read_at_all"):
    begins.append(rank * SIZE)
    each(file, call, rank * SIZE, own if call.startswith("write") else room)
begins.append(rank * SIZE)
file.Write_at(rank * SIZE, own)
note("write_at", SIZE)
file.Sync()
note("sync")
world.Barrier()
begins.append(ranks * SIZE - 100)
each(file, "read_at", ranks * SIZE - 100, room)
assert said["MPI_File_read_at"][1] == SIZE + 100
for call in ("iwrite_at", "iwrite_at_all", "iread_at", "iread_at_all"):
    begins.append(rank * SIZE)
    getattr(file, call.capitalize())(rank * SIZE, own if "write" in call else room).Wait()
    note(call, SIZE)
for way, data in (("write", own), ("read", room)):
    begins.append(rank * SIZE)
    getattr(file, f"{way.capitalize()}_at_all_begin")(rank * SIZE, data)
    note(f"{way}_at_all_begin", SIZE)
    getattr(file, f"{way.capitalize()}_at_all_end")(data)
    note(f"{way}_at_all_end")
closed(file)

# By a pointer of each rank, in a view: every so many integers are its own.
file = opened("view")
block = SIZE // ranks
mine = MPI.INT.Create_vector(ranks, block // 4, block // 4 * ranks).Commit()
file.Set_view(rank * block, MPI.INT, mine)
note("set_view")
for call in ("write", "write_all"):
    each(file, call, [own, SIZE // 4, MPI.INT])
file.Seek(0)
for call in ("read", "read_all"):
    each(file, call, [room, SIZE // 4, MPI.INT])
assert room == own
file.Seek(0)
for call in ("iwrite", "iwrite_all"):
    getattr(file, call.capitalize())([own, SIZE // 4, MPI.INT]).Wait()
    note(call, SIZE)
file.Seek(0)
for call in ("iread", "iread_all"):
    getattr(file, call.capitalize())([room, SIZE // 4, MPI.INT]).Wait()
    note(call, SIZE)
for way, data in (("write", own), ("read", room)):
    file.Seek(0)
    getattr(file, f"{way.capitalize()}_all_begin")([data, SIZE // 4, MPI.INT])
    note(f"{way}_all_begin", SIZE)
    getattr(file, f"{way.capitalize()}_all_end")([data, SIZE // 4, MPI.INT])
    note(f"{way}_all_end")
closed(file)

# By a pointer that all share.
file = opened("shared")
for call in ("write_shared", "write_ordered"):
    each(file, call, own)
file.Iwrite_shared(own).Wait()
note("iwrite_shared", SIZE)
file.Write_ordered_begin(own)
note("write_ordered_begin", SIZE)
file.Write_ordered_end(own)
note("write_ordered_end")
file.Seek_shared(0)
for call in ("read_shared", "read_ordered"):
    each(file, call, room)
file.Iread_shared(room).Wait()
note("iread_shared", SIZE)
file.Read_ordered_begin(room)
note("read_ordered_begin", SIZE)
file.Read_ordered_end(room)
note("read_ordered_end")
closed(file)

# What moves nothing, and what fails.
file = opened("size")
file.Set_size(ranks * SIZE)
note("set_size")
file.Preallocate(2 * ranks * SIZE)
note("preallocate")
closed(file)
world.Barrier()
if rank == 0:
    MPI.File.Delete(str(folder / "size"))
    note("delete")
try:
    MPI.File.Open(MPI.COMM_SELF, str(folder / "absent"), MPI.MODE_RDONLY)
except MPI.Exception:
    note("open")
(folder / f"said.{rank}.json").write_text(json.dumps({"functions": said, "begins": sorted(begins)}))
