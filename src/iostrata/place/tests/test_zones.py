"""Zones of disks whose truth is known, and reads of a file."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.place import picture, reading
from iostrata.place.zones import ZoneMap, megabytes, zone_map

MB, MIB = 1_000_000, 1 << 20
PLACES = 48


def mapped(rates: list[float], noise: float = 0.01, passes: int = 3, seed: int = 1) -> ZoneMap:
    """Of a disk that is so fast at each of its places."""
    drawn = random.Random(seed)
    read = [[rate * MB * drawn.gauss(1, noise) for _ in range(passes)] for rate in rates]
    places = [at * 100 * MIB for at in range(len(rates))]
    return zone_map("disk", len(rates) * 100 * MIB, MIB, True, places, read)


def test_zones_begin_where_rates_change() -> None:
    """GIVEN a disk that is fast, then slower, and at its end half as fast"""
    found = mapped([200.0] * 16 + [150.0] * 16 + [100.0] * 16)
    assert [(zone.begin, zone.places) for zone in found.zones] == [
        (0, 16), (1600 * MIB, 16), (3200 * MIB, 16),
    ]  # fmt: skip
    assert [round(zone.rate / MB, -1) for zone in found.zones] == [200, 150, 100]
    assert found.zones[-1].end == found.size
    assert found.ratio == pytest.approx(2, rel=0.02)


def test_a_single_pass_tells_zones_by_their_neighbours() -> None:
    assert len(mapped([200.0] * 24 + [100.0] * 24, passes=1).zones) == 2


def test_a_flat_disk_has_no_zones() -> None:
    """Whatever its noise; of so many flat disks a few may look as if they had one."""
    wrong = [
        seed
        for seed in range(40)
        for noise in (0.001, 0.02, 0.1)
        if len(mapped([500.0] * PLACES, noise, seed=seed).zones) > 1
    ]
    assert len(wrong) <= 4, wrong


def test_steps_that_nobody_can_use_are_no_zones() -> None:
    assert len(mapped([200.0] * 24 + [198.0] * 24, noise=0.0001).zones) == 1


def test_rates_read_well() -> None:
    assert [megabytes(rate * MB) for rate in (0.5, 151.26, 12_437)] == ["0.5", "151", "12,437"]


def test_a_picture_has_each_place_and_zone() -> None:
    text = picture.svg(mapped([200.0] * 8 + [100.0] * 8))
    assert text.count("<circle") == 16 * 3
    assert text.count('stroke-width="2"') == 2


def test_a_file_is_read_and_stays_as_it_is(tmp_path: Path) -> None:
    image = tmp_path / "disk.img"
    image.write_bytes(bytes(range(256)) * (8 * MIB // 256))
    os.sync()  # some file systems count blocks when these are on the disk
    before = image.stat()
    with reading.opened(image) as disk:
        assert not disk.has_holes
        places = reading.places_of(disk.size, 4, MIB)
        steps: list[tuple[int, int]] = []
        found = reading.rates(disk, places, MIB, 2, lambda *at: steps.append(at))
    assert places == [0, 2 * MIB, 4 * MIB, 7 * MIB]
    assert [len(one) for one in found] == [2] * 4
    assert all(rate > 0 for one in found for rate in one)
    assert steps == [(number, at) for number in range(2) for at in range(4)]
    assert image.stat().st_mtime_ns == before.st_mtime_ns


def test_an_image_may_have_holes(tmp_path: Path) -> None:
    image = tmp_path / "sparse.img"
    with image.open("wb") as file:
        file.truncate(8 * MIB)
    with reading.opened(image) as disk:
        assert disk.has_holes


def test_what_is_no_disk_is_said(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path, "is no disk and no image"),
        (tmp_path / "none", "No such file"),
        (Path("/dev/null"), "is no disk and no image"),
    ):
        with pytest.raises(UserError, match=message), reading.opened(path):
            pass
    with pytest.raises(UserError, match="do not fit"):
        reading.places_of(8 * MIB, 64, MIB)
