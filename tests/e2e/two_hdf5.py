"""Writes and reads datasets by two HDF5s in one process, each of its module: two_hdf5.py FOLDER.

Prints what was read, and at last how many bytes it has moved by h5py.
"""

import json
import sys
from pathlib import Path

import h5py
import netCDF4
import numpy as np

folder = Path(sys.argv[1])
rows, columns = 200, 50
data = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
moved = {"read": [0, 0], "write": [0, 0]}


def note(way: str, values: np.ndarray) -> None:
    moved[way][0] += 1
    moved[way][1] += values.nbytes


def by_netcdf(name: str) -> float:
    with netCDF4.Dataset(folder / name, "w") as file:
        file.createDimension("row", rows)
        file.createDimension("column", columns)
        file.createVariable("values", "f4", ("row", "column"))[:] = data
    with netCDF4.Dataset(folder / name) as file:
        return float(file["values"][:].sum())


print(by_netcdf("first.nc"))
with h5py.File(folder / "a.h5", "w") as file:
    whole = file.create_dataset("group/whole", (rows, columns), dtype="f4")
    whole[...] = data
    note("write", data)
    print(by_netcdf("within.nc"))
    parts = file.create_dataset("parts", (rows, columns), dtype="f8", chunks=(10, columns))
    for row in range(0, rows, 20):
        parts[row : row + 20] = data[row : row + 20]  # four bytes in memory, eight in the file
        note("write", data[row : row + 20])
with h5py.File(folder / "a.h5", "r") as file:
    whole = file["group/whole"][...]
    note("read", whole)
    part = file["parts"][5:15, 10:20]
    note("read", part)
    print(whole.sum(), part.sum())
    try:
        file["absent"]
    except KeyError as error:
        print(error)
try:
    h5py.File(folder / "absent.h5", "r")
except OSError as error:
    print(str(error).replace(str(folder), ""))
print(json.dumps(moved))
