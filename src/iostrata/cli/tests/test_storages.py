"""Models of storages as a change of a run: which rates they are asked for, and what they lack."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

from iostrata.cli.storages import other_storage
from iostrata.errors import UserError
from iostrata.predict.model import TREE, ModelQuality, StorageModel, Tree
from iostrata.replay.alternative import changed
from iostrata.replay.tests.twins import MB, sort

QUALITY = ModelQuality(8, 8, 2, 1, 1, 0.0, 0.0, 0.0, 0.9)


def saved(folder: Path, name: str, read: float, write: float, clients: int = 4) -> str:
    """The file of a model with a rate (bytes/s) for each operation, whatever the size."""
    rates = [0.0, math.log(read), math.log(write)]
    tree = Tree([0, 0, 0], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], rates, [8, 4, 4])
    dimensions: dict[str, list[str | int]] = {
        "operation": ["read", "write"], "clients": [1, clients], "size": [1 << 20, 1 << 30],
    }  # fmt: skip
    features = ["operation is write", "clients", "size"]
    model = StorageModel(name, dimensions, features, tree, None, TREE, 0.1, {TREE: QUALITY})
    path = folder / f"{name}.json"
    path.write_bytes(msgspec.json.encode(model))
    return str(path)


def test_disks_are_as_much_faster_as_models_say(tmp_path: Path) -> None:
    disk, ssd = saved(tmp_path, "disk", 50e6, 40e6), saved(tmp_path, "ssd", 500e6, 120e6)
    change = other_storage(ssd, disk, ["size=64MiB"])
    assert change.says == "ssd in place of disk"
    found = changed(sort(disk=20 * MB), [change])  # which only writes
    rates = [disk.rate for disk in found.cluster.disks.values()]
    assert rates == pytest.approx([60 * MB, 60 * MB])


def test_what_is_asked_wrongly_is_one_line(tmp_path: Path) -> None:
    disk, ssd = saved(tmp_path, "disk", 5e6, 4e6), saved(tmp_path, "ssd", 5e7, 1e7, clients=1)
    with pytest.raises(UserError, match="--storage and --instead-of need each other"):
        other_storage(ssd, "", [])
    with pytest.raises(UserError, match=r"nothing\.json: No such file"):
        other_storage(str(tmp_path / "nothing.json"), disk, [])
    with pytest.raises(UserError, match="size not given"):
        changed(sort(), [other_storage(disk, disk, [])])
    # two attempts at once on a host, and the other profile had one client
    with pytest.raises(UserError, match="beyond the profile of ssd: clients 2"):
        changed(sort(), [other_storage(ssd, disk, ["size=64MiB"])])
    still = msgspec.structs.replace(sort().cluster, disks={})
    with pytest.raises(UserError, match="no disk held this run back"):
        changed(msgspec.structs.replace(sort(), cluster=still),
                [other_storage(ssd, disk, ["size=64MiB"])])  # fmt: skip
