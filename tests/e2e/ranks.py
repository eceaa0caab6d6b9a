"""Ranks that write a file together, and read what others wrote: ranks.py FILE BLOCKS SIZE.

Each writes into FILE.RANK.json how many calls of MPI-IO it made and how many bytes they moved: what
they print comes in pieces.
"""

import json
import sys
from pathlib import Path

from mpi4py import MPI

path, blocks, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
file = MPI.File.Open(world, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
for block in range(blocks):
    file.Write_at((block * ranks + rank) * size, bytes([rank]) * size)
file.Sync()
world.Barrier()
other = (rank + 1) % ranks
read = bytearray(size)
for block in range(blocks):
    file.Read_at((block * ranks + other) * size, read)
    assert read == bytes([other]) * size
file.Close()
moved = [blocks, blocks * size]
Path(f"{path}.{rank}.json").write_text(json.dumps({"write": moved, "read": moved}))
