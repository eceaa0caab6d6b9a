"""Trees of storages whose law is known: errors, intervals, and what lies beyond the profile."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from iostrata.errors import UserError
from iostrata.predict import adaptive, picture
from iostrata.predict.dimensions import Point, features
from iostrata.predict.fitting import fit
from iostrata.predict.model import (
    BOOSTING,
    TREE,
    StorageModel,
    evaluate,
    given,
    predict,
    read_model,
    tree_lines,
)
from iostrata.predict.pressure import Circumstances
from iostrata.predict.samples import ProfileFacts, Sample
from iostrata.predict.samples import key as point_key
from iostrata.predict.spec import MeasureRules, ProfileSpec
from iostrata.records import builtins

VALUES = {
    "operation": ("read", "write"),
    "access": ("sequential", "50-50", "90-10"),
    "size": (64 << 20, 256 << 20, 1 << 30),
    "request": (128 << 10,),
    "clients": (1, 2, 4),
    "cache": ("dropped",),
    "fio.iodepth": (1, 8),
}
SPEC = ProfileSpec("disk", Path("/mnt"), None, VALUES, MeasureRules())
FACTS = ProfileFacts(
    "disk", "/mnt", {name: list(several) for name, several in VALUES.items()}, 10, 0.25
)
QUIET = Circumstances(10**9, 0, None, None, None)


def law(point: Point) -> float:
    """bytes/s of a disk: fast in sequence, slow at random, and slower where it writes."""
    speed = 100e6 if point["access"] == "sequential" else 10e6
    speed *= 0.5 if point["operation"] == "write" else 1
    return speed / (1 if point["clients"] == 1 else 1.25)


def samples(noise: float, repeats: int = 3, seed: int = 7) -> list[Sample]:
    draw = random.Random(seed)

    def sample(point: Point) -> Sample:
        speed = law(point) * math.exp(draw.gauss(0, noise))
        return Sample(dict(point), 1, round(speed), 10**9, speed, False, QUIET)

    return [sample(point) for point in SPEC.points() for _ in range(repeats)]


@pytest.fixture(scope="module")
def model() -> StorageModel:
    return fit(FACTS, samples(0.02))


def test_a_tree_finds_the_law_of_a_storage(model: StorageModel) -> None:
    for point in SPEC.points():
        assert predict(model, point).throughput == pytest.approx(law(point), rel=0.03)
    assert model.quality.points == 108
    assert model.quality.median_error < 0.03


def test_intervals_hold_what_they_say(model: StorageModel) -> None:
    assert 0.85 <= model.quality.coverage <= 0.95
    held = 0
    new = samples(0.02, repeats=5, seed=8)
    for one in new:
        found = predict(model, one.point)
        held += found.low <= one.throughput <= found.high
    assert 0.85 <= held / len(new) <= 0.95


def test_a_law_with_steps_is_left_to_the_tree(model: StorageModel) -> None:
    assert (model.uses, model.boosting) == (TREE, None)
    assert model.qualities[TREE].median_error <= model.qualities[BOOSTING].median_error


def test_a_smooth_law_is_that_of_many_trees(tmp_path: Path) -> None:
    """GIVEN a storage whose every dimension changes its speed, each on its own, and few points
    THEN the tree errs more on what was held out, and what is asked are the many trees."""
    draw = random.Random(3)
    known = []
    for point in draw.sample(list(SPEC.points()), 60):
        speed = law(point) * int(point["clients"]) ** 0.7 * int(point["fio.iodepth"]) ** 0.4
        speed *= (int(point["size"]) / 1e9) ** 0.3
        for _ in range(3):
            noisy = speed * math.exp(draw.gauss(0, 0.02))
            known.append(Sample(dict(point), 1, round(noisy), 10**9, noisy, False, QUIET))
    found = fit(FACTS, known)
    assert found.uses == BOOSTING
    assert found.quality.mean_error < found.qualities[TREE].mean_error
    assert 0.85 <= found.quality.coverage <= 0.95
    # AND the file says what scikit-learn says
    path = tmp_path / "model.json"
    path.write_text(json.dumps(builtins(found)))
    read = read_model(path)
    off = [abs(predict(read, one.point).throughput / one.throughput - 1) for one in known]
    assert sum(off) / len(off) < found.quality.mean_error


def test_disturbed_samples_teach_nothing(model: StorageModel) -> None:
    bad = [Sample(one.point, 1, 1, 10**9, 1.0, True, QUIET) for one in samples(0.02, repeats=1)]
    assert fit(FACTS, [*samples(0.02), *bad]) == model


def test_the_five_lines_of_the_guide_say_the_same(model: StorageModel, tmp_path: Path) -> None:
    guide = (Path(__file__).parents[4] / "docs/guide/predict.md").read_text()
    code = guide.split("```python\n")[1].split("```")[0]
    assert len(code.strip().split("def ")[1].splitlines()) <= 6  # and its head
    rows = [[one.of(point) for one in features(VALUES)] for point in SPEC.points()]
    (tmp_path / "model.json").write_text(json.dumps(builtins(model)))
    program = f"{code}\nprint([throughput(row) for row in {rows}])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    said = [math.exp(evaluate(model.tree, row)) for row in rows]
    assert json.loads(done.stdout) == pytest.approx(said)


def test_a_model_is_a_file(model: StorageModel, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(builtins(model)))
    assert read_model(path) == model
    path.write_text("{}")
    with pytest.raises(UserError, match="is no model"):
        read_model(path)
    with pytest.raises(UserError, match="No such file"):
        read_model(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("array", "value"), [("left", 0), ("right", 10_000), ("feature", 99), ("value", None)]
)
def test_a_tree_without_end_is_no_model(
    array: str, value: int | None, model: StorageModel, tmp_path: Path
) -> None:
    document = builtins(model)
    if value is None:
        del document["tree"][array][0]
    else:
        document["tree"][array][0] = value
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(UserError, match="a tree has a node that is none"):
        read_model(path)


def test_a_tree_as_text_and_as_picture(model: StorageModel) -> None:
    lines = tree_lines(model)
    assert lines[0] == "access is sequential"
    assert sum("MB/s" in line for line in lines) == model.quality.leaves
    root = ElementTree.fromstring(picture.svg(model))
    texts = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sum("MB/s" in text for text in texts) == model.quality.leaves
    assert "access is sequential" in texts


@pytest.mark.parametrize(
    ("words", "outside"),
    [
        ("operation=read access=sequential size=100MiB clients=3 fio.iodepth=4", []),
        ("operation=read access=70-30 size=64MiB clients=1 fio.iodepth=1", []),
        (
            "operation=read access=99-1 size=64MiB clients=1 fio.iodepth=1",
            ["access 99-1 (profiled: sequential, 50-50, 90-10)"],
        ),
        (
            "operation=write access=sequential size=2GiB clients=8 fio.iodepth=1",
            ["size 2 GiB (profiled: 64 MiB to 1 GiB)", "clients 8 (profiled: 1 to 4)"],
        ),
    ],
)
def test_what_was_not_profiled_is_named(
    words: str, outside: list[str], model: StorageModel
) -> None:
    assert predict(model, given(model, words.split())).outside == outside


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("operation=read", "access, size, clients, fio.iodepth not given"),
        ("operation=move", "'operation=move' is no value"),
        ("speed=3", "'speed=3' names no dimension"),
        ("size", "'size' names no dimension"),
        ("size=1XB", "'size=1XB' is no value"),
    ],
)
def test_what_is_asked_wrongly(words: str, message: str, model: StorageModel) -> None:
    with pytest.raises(UserError) as wrong:
        given(model, words.split())
    assert wrong.value.message == message


def test_too_few_points() -> None:
    few = [one for one in samples(0.02) if one.point["clients"] == 1][:21]
    with pytest.raises(UserError, match="has 7 measured points, not 8"):
        fit(FACTS, few)


def test_what_trees_disagree_about_is_measured_first() -> None:
    """GIVEN speeds that change with clients alone, known of one access only, WHEN a point is chosen
    THEN it is of another access, and of two that say as much the shorter one."""
    known = [point for point in SPEC.points() if point["access"] == "sequential"]
    unknown = [point for point in SPEC.points() if point["access"] != "sequential"]
    logs = [math.log(law(point)) for point in known]
    worth = dict(
        zip(map(point_key, unknown), adaptive.worths(SPEC, known, logs, unknown), strict=True)
    )
    of_size = {
        size: sum(worth[point_key(point)] for point in unknown if point["size"] == size)
        for size in VALUES["size"]
    }
    assert of_size[64 << 20] > of_size[1 << 30]


def test_an_adaptive_order_needs_fewer_samples_than_a_drawn_one() -> None:
    """On a storage of which one operation has a law and the other has none: at the same number of
    points, the error on all others is smaller in most of ten orders."""
    points = list(SPEC.points())
    wins = sum(_error(points, seed, True) < _error(points, seed, False) for seed in range(10))
    assert wins >= 7


def _steps(point: Point) -> float:
    """Writes are alike; reads change with each dimension."""
    if point["operation"] == "write":
        return 50e6
    speed = law(point) * math.sqrt(int(point["clients"]) ** 3)
    return speed * (3 if point["fio.iodepth"] == 8 else 1) * math.log2(int(point["size"])) / 26


def _error(points: list[Point], seed: int, is_adaptive: bool) -> float:
    from sklearn.ensemble import ExtraTreesRegressor

    numbers = features(VALUES)
    rules = MeasureRules(seed=seed, sample=0.0)  # all take as long
    spec = ProfileSpec("disk", Path("/mnt"), None, VALUES, rules)
    draw = random.Random(seed)
    known = draw.sample(points, 12)
    while len(known) < 36:
        unknown = [point for point in points if point not in known]
        if is_adaptive:
            logs = [math.log(_steps(point)) for point in known]
            worth = adaptive.worths(spec, known, logs, unknown)
            best = sorted(range(len(unknown)), key=lambda place: -worth[place])
            known += [unknown[place] for place in best[:4]]
        else:
            known += draw.sample(unknown, 4)
    rows = [[one.of(point) for one in numbers] for point in points]
    fitted = ExtraTreesRegressor(64, random_state=1)
    of_known = [[one.of(point) for one in numbers] for point in known]
    fitted.fit(of_known, [math.log(_steps(point)) for point in known])
    off = [
        abs(said - math.log(_steps(point)))
        for said, point in zip(fitted.predict(rows), points, strict=True)
    ]
    return float(sum(off)) / len(off)
