"""The storages of the study: each a lab, profiled and used past the caches of all its machines."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from iostrata.errors import UserError
from iostrata.predict import fitting, measuring
from iostrata.predict.model import StorageModel, read_model
from iostrata.predict.samples import SampleFile, read_facts, read_samples
from iostrata.predict.spec import read_spec
from iostrata.records import builtins
from iostrata_lab import clusters
from iostrata_lab.clusters.brakes import rate_text
from iostrata_lab.clusters.mounted import mount_point
from iostrata_lab.predict.programs import PredictedProgram
from iostrata_lab.recording import bring_up_storage, take_down
from iostrata_lab.studies.runner import Say
from iostrata_lab.workload.parameters import BYTES, Parameter, Value

PARAMETERS = (
    Parameter("nodes", "servers of the distributed storage", 3, low=1, high=16),
    Parameter("disk", "bytes/s of the disk of each", 50_000_000, BYTES, low=1_000_000),
    Parameter("sample", "seconds of a sample of a profile, at most", 20.0, low=0.1, high=3600),
    Parameter("size", "bytes of the largest files that are profiled", 256 << 20, BYTES,
              low=32 << 20, scaled=True),
)  # fmt: skip
_DIRTY = 32 << 20
# What is profiled, but for sizes: an eighth of the largest, and that.
DIMENSIONS: Mapping[str, Sequence[str | int]] = {
    "access": ["sequential", "50-50"],
    "request": ["16KiB", "128KiB"],
    "clients": [1, 4],
    "cache": ["dropped", "direct"],
}
_SPEC = """\
name = "{name}"
folder = "{folder}"
[dimensions]
operation = ["read"]
size = [{small}, {large}]
{dimensions}
[measure]
repetitions = [2, 3]
sample = "{sample:g} s"
others = 1
before = '''{before}'''
"""


@dataclass(frozen=True)
class PredictedStorage:
    """`kind`: what S5 calls it, local or distributed; its disks are `times` as fast as is said;
    `price`: of a GB and an hour, in any currency; `dimensions`: what is profiled.
    """

    name: str
    kind: str
    times: int = 1
    price: float = 1.0
    dimensions: Mapping[str, Sequence[str | int]] = field(default_factory=lambda: DIMENSIONS)

    @property
    def lab(self) -> str:
        return f"study-predict-{self.name}"

    def nodes(self, values: Mapping[str, Value]) -> int:
        return 1 if self.kind == "local" else int(values["nodes"])

    def disk(self, values: Mapping[str, Value]) -> int:
        """Bytes a second."""
        return self.times * int(values["disk"])


STORAGES = (
    PredictedStorage("disk", "local"),
    PredictedStorage("fast-disk", "local", times=2, price=1.5),
    PredictedStorage("moosefs", "distributed", price=2.5),
)


class RunningStorage:
    """A storage that is up, and reached by this machine in `folder`."""

    def __init__(self, storage: PredictedStorage, lab: clusters.Lab, folder: Path) -> None:
        self.storage, self._lab, self.folder = storage, lab, folder

    def model(self, profiles: Path, values: Mapping[str, Value], say: Say) -> StorageModel:
        """Profiles what is not profiled yet, and fits a model to it."""
        folder = profiles / self.storage.name
        written = folder / "model.json"
        if written.is_file():
            return read_model(written)
        profiles.mkdir(parents=True, exist_ok=True)
        text = _SPEC.format(
            name=self.storage.name,
            folder=self.folder,
            small=int(values["size"]) // 8,
            large=int(values["size"]),
            dimensions="\n".join(
                f"{name} = {[*of]}" for name, of in self.storage.dimensions.items()
            ),
            sample=float(values["sample"]),
            before=self._before(values),
        )
        path = profiles / f"{self.storage.name}.toml"
        path.write_text(text)
        spec = read_spec(path)
        file = SampleFile(folder, measuring.facts_of(spec))
        file.open()

        def progress(text: str, done: int, most: int) -> None:
            say(f"profile of {self.storage.name}, sample {done + 1} of {most} at most: {text}")

        with measuring.load_for(spec) as load:
            measuring.measure(spec, file, load, progress)
        file.table()
        found = fitting.fit(read_facts(folder), read_samples(folder))
        written.write_text(json.dumps(builtins(found), indent=1) + "\n")
        return found

    def _before(self, values: Mapping[str, Value]) -> str:
        """Setting the brake of a disk again empties what its node holds of it."""
        brake = [sys.executable, "-m", "iostrata", "lab", "brake", "--name", self._lab.name]
        brake += ["--disk", rate_text(self.storage.disk(values))]
        return " && ".join(shlex.join([*brake, node.name]) for node in self._lab.nodes())

    def keep(self, source: Path) -> None:
        """Copies data to it, in place of what was there."""
        target = self.folder / source.name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
        os.sync()

    def took(self, program: PredictedProgram, own: Path) -> float:
        """Seconds of a program, all of whose data are in no memory when it begins."""
        for node in self._lab.nodes():
            self._lab.brake(node.name, lambda brake: brake)
        data = self.folder / program.data
        for path in [data, *data.rglob("*")]:
            if path.is_file():
                _forget(path)
        begin = time.monotonic()
        program.run(self.folder, own)
        return time.monotonic() - begin


def _forget(path: Path) -> None:
    """Its pages leave the memory of this machine."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


@contextmanager
def running(
    storage: PredictedStorage, kept: Path, values: Mapping[str, Value]
) -> Iterator[RunningStorage]:
    """The storage, until it is no longer needed."""
    nodes = storage.nodes(values)
    brake = clusters.Brake(disk=storage.disk(values), dirty=_DIRTY)
    brakes = {f"node-{number}": brake for number in range(1, nodes + 1)}
    topology = clusters.Topology(nodes, brakes=brakes)
    start = partial(clusters.up_moosefs, copies=1, topology=topology)
    lab = bring_up_storage(storage.lab, start, False)
    try:
        with _reached(storage, lab, kept / f"on-{storage.name}") as folder:
            yield RunningStorage(storage, lab, folder)
    finally:
        take_down(storage.lab)


@contextmanager
def _reached(storage: PredictedStorage, lab: clusters.Lab, folder: Path) -> Iterator[Path]:
    """Where this machine gets to a storage, by the same path each time: the mount of a file system,
    or the disk of its node, mounted here, too, since a database does not start in a folder of
    another mount namespace.
    """
    if storage.kind != "local":
        yield mount_point(lab.root)
        return
    device = Path(f"/sys/dev/block/{lab.nodes()[0].device}").resolve().name
    folder.mkdir(exist_ok=True)
    with mounted(folder, f"/dev/{device}"):
        yield folder


@contextmanager
def mounted(folder: Path, *words: str) -> Iterator[None]:
    """`mount WORDS FOLDER`, until it is no longer needed; raises UserError where that fails."""
    _run("mount", *words, str(folder))
    try:
        yield
    finally:
        unmount(folder)


def unmount(folder: Path) -> None:
    _run("umount", str(folder))


def _run(*words: str) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"{' '.join(words)} failed: {done.stderr.strip()}")
