from __future__ import annotations

from iostrata.analyse.account import Account, account
from iostrata.analyse.tables import SUMS
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_sum


class SumOfOp(Account, frozen=True):
    op: str


def test_sampled_clocks_are_scaled_up_point_by_point(traced: Traced) -> None:
    engine = traced(
        [
            # 10 of 100 calls were timed, each for ten; what is inside is known exactly
            row_of_sum("java", "read", point=1, count=100, timed=10, weight=90, timed_dur=900,
                       inside=50, bytes=4000),
            row_of_sum("java", "read", point=2, count=4, timed=4, timed_dur=40, bytes=6),
            row_of_sum("java", "read", point=2, count=3, flags=FLAG["inner"], bytes=1),
            row_of_sum("java", "read", point=2, count=3, flags=FLAG["double_counted"], bytes=9),
            row_of_sum("java", "send", point=3, count=1, timed=0, timed_dur=0, bytes=7, errors=1),
        ]
    )  # fmt: skip
    read, send = engine.records(account(SUMS, "op").order_by("op"), SumOfOp)
    # point 2: 7 calls of its own, of which 4 and 3 were timed: 40 and 3000 ns
    assert read == SumOfOp(
        op="read",
        calls=107,
        time=50 + 1000 + 40 + 3000,
        time_bound=0,
        estimated=True,
        errors=0,
        bytes=4007,
        read=4007,
        written=0,
        received=0,
        sent=0,
    )
    assert (send.calls, send.time, send.errors, send.sent) == (1, 0, 1, 7)
