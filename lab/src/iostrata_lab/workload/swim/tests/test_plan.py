"""Plans: sums scaled exactly, the same for the same seed, map-only jobs map-only."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import floor

from hypothesis import given
from hypothesis import strategies as st

from iostrata_lab.workload.swim.plan import Popularity, Scaling, planned, scaled, shared
from iostrata_lab.workload.swim.trace import TraceJob, read, without_outages

SIZES = st.lists(st.integers(0, 10**13), max_size=30)
FACTOR = st.fractions(0, 10)
JOBS = st.lists(
    st.builds(
        TraceJob,
        st.just("job"),
        st.just(0),
        st.just(0),
        *[st.integers(0, 10**9)] * 3,
        path=st.sampled_from(["a", "b", "c"]),
    ),
    min_size=1,
    max_size=20,
)


@given(SIZES, FACTOR)
def test_the_sum_is_scaled_exactly_and_each_size_by_less_than_a_byte(
    sizes: list[int], factor: Fraction
) -> None:
    got = scaled(sizes, factor)
    assert sum(got) == floor(sum(sizes) * factor)
    for size, share in zip(sizes, got, strict=True):
        assert abs(share - size * factor) < 1
        assert size or share == 0


@given(SIZES, FACTOR, st.integers(1, 1000))
def test_no_size_but_0_is_below_the_floor(sizes: list[int], factor: Fraction, least: int) -> None:
    got = scaled(sizes, factor, least)
    assert [share == 0 for share in got] == [size == 0 for size in sizes]
    assert min((share for share in got if share), default=least) >= least


@given(JOBS, FACTOR, st.integers(1024, 1 << 30))
def test_every_job_can_be_run_as_it_is_planned(
    jobs: list[TraceJob], factor: Fraction, split: int
) -> None:
    plan = planned(jobs, Scaling(data=factor, split=split, per_reduce=split), Popularity(), 1)
    paths: dict[int, set[str]] = {}
    for job, row in zip(jobs, plan.jobs, strict=True):
        assert (row.reduces == 0) == job.map_only
        assert row.input <= plan.files[row.file]
        assert row.maps * split >= max(row.input, row.shuffle)
        assert max(row.maps, row.reduces) * split >= row.output
        paths.setdefault(row.file, set()).add(job.path)
    assert all(len(names) == 1 for names in paths.values())
    assert len(paths) == len({job.path for job in jobs}) == len(plan.files)
    assert plan.stored <= plan.total[0] + plan.total[2]


def test_the_first_50_jobs_scaled_down() -> None:
    """16.2 GiB, 19.1 GiB and 155 GiB of the trace, by a thousandth; times by a tenth."""
    jobs, outages = without_outages(read("fb-2009-first50"))
    scaling = Scaling(time=Fraction("0.1"), data=Fraction("0.001"))
    plan = planned(jobs, scaling, Popularity(), seed=1)
    assert outages == 0
    assert plan.total == tuple(
        sum(sizes) // 1000
        for sizes in zip(*((job.input, job.shuffle, job.output) for job in jobs), strict=True)
    )
    assert plan.jobs[0].at == 0
    assert plan.jobs[1].at == 5200
    assert plan.jobs[-1].at == (2826 - 49) * 100
    assert plan == planned(jobs, scaling, Popularity(), seed=1)
    assert plan.files != planned(jobs, scaling, Popularity(), seed=2).files


def test_popularity_is_as_asked() -> None:
    """A third of 20,000 jobs read again what was there, the older the likelier."""
    files = list(shared(20_000, Popularity(0.325, 0.786), seed=7))
    uses = Counter(files)
    assert abs(1 - len(uses) / len(files) - 0.325) < 0.01
    assert uses[0] > 5 * uses[99] > 0
    assert list(shared(100, Popularity(0.325, 0.786), 7)) == files[:100]
    assert list(shared(5, Popularity(0, 1), 1)) == [0, 1, 2, 3, 4]
    assert list(shared(5, Popularity(1, 1), 1)) == [0, 0, 0, 0, 0]
