from __future__ import annotations

from msgspec.structs import replace

from iostrata.show.report import bounds
from iostrata.show.report.bounds import fitted, shortened
from iostrata.show.report.model import Bounded
from iostrata.show.report.page import example, page
from iostrata.show.report.tests.samples import explained_example, full


def test_a_document_at_its_bounds_is_a_page_that_can_be_mailed() -> None:
    # GIVEN the most rows of everything, every name of 8,000 characters that are dear in JSON
    made = full()
    # THEN
    assert len(page(made).encode()) < 3_000_000
    # what did not fit is counted: the first of a list are kept, of the path the longest
    tasks, path = made.tasks, made.critical
    assert 0 < len(tasks.rows) < bounds.MOST_TASKS
    assert len(tasks.rows) + tasks.more == bounds.MOST_TASKS + 1_000_000
    assert path is not None
    assert len(path.parts) + path.more == bounds.MOST_PARTS
    assert path.parts == sorted(path.parts, key=lambda part: part.start)
    assert len(made.findings or ()) == bounds.MOST_FINDINGS


def test_what_fits_stays_as_it_is() -> None:
    made = example()
    assert made.tree
    assert made.critical
    assert made.findings
    assert fitted(made) == made


def test_names_are_cut_in_the_middle_and_only_as_far_as_needed() -> None:
    made = explained_example()
    long = "/warehouse/" + "x" * 8000 + "/part-00000"
    first, *others = made.targets.rows
    made = replace(made, targets=Bounded([replace(first, target=long), *others], 0))
    shown = fitted(made).targets.rows[0].target
    assert shown == shortened(long)
    assert shown.startswith("/warehouse/xx")
    assert shown.endswith("xx/part-00000")
    assert len(shown) == 303
