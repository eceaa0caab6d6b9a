"""What is in a Darshan log as lines of JSON: `python -m iostrata.importers.darshan_dump LOG`.

A process of its own, because the C library of Darshan reads a damaged log until it crashes. Lines:

    {"job": {…}}                        also `exe`, its command
    {"names": {id: name}}               of files
    {"module", "partial", "counters", "fcounters"}   the names of its counters
    {"of": module, "id", "rank", "c": […], "f": […]}  a record of them
    {"of": module, "id", "rank", "host", "way", "segments": [[offset, bytes, start, end], …]}
    {"trouble": text}
    {"end": true}                       the last, where all went well

Times are seconds since the begin of the job.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from typing import Any

from darshan.backend import cffi_backend as backend

Line = dict[str, Any]

# With the structure of a record; those of other modules are only named.
COUNTED = {
    "POSIX": "struct darshan_posix_file",
    "STDIO": "struct darshan_stdio_file",
    "MPI-IO": "struct darshan_mpiio_file",
    "H5F": "struct darshan_hdf5_file",
    "H5D": "struct darshan_hdf5_dataset",
    "PNETCDF_FILE": "struct darshan_pnetcdf_file",
    "PNETCDF_VAR": "struct darshan_pnetcdf_var",
}
TRACED = ("DXT_POSIX", "DXT_MPIIO")
_BATCH = 10_000


def dump(path: str) -> Iterator[Line]:
    """The lines of a log."""
    log = backend.log_open(path)
    if log["handle"] == backend.ffi.NULL:
        yield {"trouble": "the library of Darshan cannot open it"}
        return
    job = backend.log_get_job(log)
    yield {"job": job | {"exe": backend.log_get_exe(log)}}
    names = list(backend.log_get_name_records(log).items())
    for begin in range(0, len(names), _BATCH):
        yield {"names": {str(key): name for key, name in names[begin : begin + _BATCH]}}
    for module, facts in backend.log_get_modules(log).items():
        counted = module in COUNTED
        yield {
            "module": module,
            "partial": facts["partial_flag"],
            "counters": backend.counter_names(module) if counted else [],
            "fcounters": backend.fcounter_names(module) if counted else [],
        }
        if counted or module in TRACED:
            for record in _records(log, module, facts["idx"]):
                yield from _counters(module, record) if counted else _segments(module, record)
    yield {"end": True}


def _records(log: Any, module: str, index: int) -> Iterator[Any]:
    """Buffers of records, each valid until the next is asked for."""
    while True:
        buffer = backend.ffi.new("void **")
        code = backend.libdutil.darshan_log_get_record(log["handle"], index, buffer)
        if code < 1:
            break
        yield buffer[0]
        backend.libdutil.darshan_free(buffer[0])
    if code < 0:
        raise ValueError(f"records of {module} end with an error of the library ({code})")


def _counters(module: str, buffer: Any) -> Iterator[Line]:
    record = backend.ffi.cast(f"{COUNTED[module]} *", buffer)[0]
    integers, doubles = (backend.ffi.buffer(x) for x in (record.counters, record.fcounters))
    yield {
        "of": module,
        "id": str(record.base_rec.id),
        "rank": record.base_rec.rank,
        "c": struct.unpack(f"={len(integers) // 8}q", integers),
        "f": struct.unpack(f"={len(doubles) // 8}d", doubles),
    }


def _segments(module: str, buffer: Any) -> Iterator[Line]:
    """Writes come first in a record, then reads."""
    ffi = backend.ffi
    record = ffi.cast("struct dxt_file_record *", buffer)[0]
    whose = {
        "of": module,
        "id": str(record.base_rec.id),
        "rank": record.base_rec.rank,
        "host": ffi.string(record.hostname).decode("utf-8", "backslashreplace"),
    }
    size, position = ffi.sizeof("segment_info"), ffi.sizeof("struct dxt_file_record")
    layout = f"=qqdd{size - 32}x"
    for way, count in (("write", record.write_count), ("read", record.read_count)):
        for begin in range(0, count, _BATCH):
            some = min(_BATCH, count - begin)
            bytes_of = ffi.buffer(ffi.cast("char *", buffer) + position + begin * size, some * size)
            yield whose | {"way": way, "segments": list(struct.iter_unpack(layout, bytes_of))}
        position += count * size


def main() -> None:
    """Prints the lines of the log that is the only argument."""
    try:
        for line in dump(sys.argv[1]):
            print(json.dumps(line))
    except (ValueError, OverflowError, AttributeError) as error:
        print(json.dumps({"trouble": str(error)}))


if __name__ == "__main__":
    main()
