"""Reads and writes without a place of their own: places.py FOLDER. Prints, as JSON, of each the
place where it began, which the kernel says; null where others may have moved it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
said: list[list[object]] = []


def does(op: str, fd: int, size: int, known: bool = True) -> None:
    # not by lseek(), which would tell it
    info = Path(f"/proc/self/fdinfo/{fd}").read_text()
    at = int(info.split()[1]) if known else None
    moved = os.read(fd, size) if op == "read" else os.write(fd, b"x" * size)
    assert moved
    said.append([op, Path(f"/proc/self/fd/{fd}").readlink().name, at])


plain = os.open(folder / "plain", os.O_CREAT | os.O_RDWR)
does("write", plain, 100)
does("write", plain, 50)
os.lseek(plain, 10, os.SEEK_SET)
does("read", plain, 5)
os.pread(plain, 20, 60)
said.append(["read", "plain", 60])
does("read", plain, 5)
os.lseek(plain, -7, os.SEEK_END)
does("write", plain, 7)
os.writev(plain, [b"ab", b"cd"])
said.append(["write", "plain", 150])
does("write", plain, 1)
os.close(plain)

# A descriptor's number stands for another file; what is appended goes to the end.
again = os.open(folder / "again", os.O_CREAT | os.O_RDWR)
does("write", again, 30)
end = os.open(folder / "end", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
does("write", end, 3, known=False)
does("write", end, 3, known=False)

# Two descriptors of one file; a child that has them; a child of vfork that makes one its output.
copy = os.dup(again)
does("write", copy, 1, known=False)
does("write", again, 1, known=False)
mine = os.open(folder / "mine", os.O_CREAT | os.O_RDWR)
does("write", mine, 4)
child = os.fork()
if child == 0:
    os.write(mine, b"child")
    os._exit(0)
os.waitpid(child, 0)
does("write", mine, 1, known=False)
later = os.open(folder / "later", os.O_CREAT | os.O_RDWR)
does("write", later, 4)
subprocess.run(["echo", "a"], stdout=later, check=True)
does("write", later, 1, known=False)

# What sends a file moves along it.
sent = os.open(folder / "plain", os.O_RDONLY)
does("read", sent, 10)
to = os.open(folder / "to", os.O_CREAT | os.O_WRONLY)
os.sendfile(to, sent, None, 20)
does("read", sent, 10, known=False)
does("write", to, 10, known=False)
print(json.dumps(said))
