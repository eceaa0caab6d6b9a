"""From a trace to what holds the job back: rules that find causes, and their ranking.

A rule is one file in `rules/`. It asks the run one expression, judges the rows, and says what was
seen, which share of the run it cost, what to change, and when the advice does not apply.
"""

from iostrata.explain.facts import Kind, Query, RunFacts, Workforce
from iostrata.explain.finding import Change, Evidence, Judgement, rule

__all__ = ["Change", "Evidence", "Judgement", "Kind", "Query", "RunFacts", "Workforce", "rule"]
