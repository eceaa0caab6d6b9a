from tests.balance import Balance


def test_a_long_run_on_workers_says_what_each_did() -> None:
    balance = Balance([0] * 10)
    balance.add("gw0", "lab-0", 1000, 1060)
    balance.add("gw1", "lab-1", 1000, 1020)
    balance.add("gw1", "", 1030, 1050)
    balance.add("gw0", "lab-0", 1070, 1100)
    ticks = [60, 0, 10, 20, 5, 0, 5, 0, 0, 0]
    assert balance.lines(ticks) == [
        "100 s on workers that ran tests for gw0 90 s, gw1 40 s; the CPU was 75% busy",
        "  lab-0      gw0 from     0 s to   100 s,    90 s of tests",
        "  lab-1      gw1 from     0 s to    20 s,    20 s of tests",
        "  no group   gw1 from    30 s to    50 s,    20 s of tests",
    ]


def test_nothing_is_said_of_a_short_run_or_one_worker() -> None:
    balance = Balance([0] * 10)
    assert balance.lines([1] * 10) == []
    balance.add("gw0", "", 0, 1000)
    assert balance.lines([1] * 10) == []
    short = Balance([0] * 10)
    short.add("gw0", "", 0, 10)
    short.add("gw1", "", 0, 10)
    assert short.lines([1] * 10) == []
