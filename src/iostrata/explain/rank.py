"""All rules over a run, and their findings in the order in which to read them."""

from __future__ import annotations

from functools import cache

from ibis.expr import types as ir

from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import SEVERITIES, Finding, Rule, Seen, severity
from iostrata.explain.rules import RULES
from iostrata.progress import Progress, silent

RULE_STEPS = tuple(rule.name for rule in RULES)
_ORDER = [name for _, name in SEVERITIES]


def explain(facts: Facts, step: Progress = silent) -> list[Finding]:
    """The findings of a run: by severity, then by what their change may bring; causes before what
    follows from them. Says each of RULE_STEPS, if there is something to judge.
    """
    if not facts.workers:
        return []
    found = {}
    for rule in RULES:
        step(rule.name)
        made = _finding(rule, facts)
        if made:
            found[rule.name] = made
    behind = {
        follower: rule.name
        for rule in RULES
        if rule.name in found
        for follower in rule.explains
        if follower in found and found[rule.name].share >= found[follower].share / 2
    }
    for follower, cause in behind.items():
        found[follower].because.append(cause)

    def place(finding: Finding) -> tuple[bool, int, float, str]:
        follows = bool(finding.because)
        return follows, _ORDER.index(finding.severity), -sum(finding.gain or ()), finding.rule

    return sorted(found.values(), key=place)


def _finding(rule: Rule, facts: Facts) -> Finding | None:
    expression = _evidence(rule, facts.scope)
    seen = rule.judge(facts.rows(expression), facts)
    if seen is None:
        return None
    how = severity(seen.share, rule.most)
    if how is None:
        return None
    return Finding(
        rule=rule.name,
        severity=how,
        title=rule.title,
        share=seen.share,
        seen=seen.text,
        evidence=seen.evidence,
        query=facts.engine.sql(expression),
        why=rule.why,
        change=seen.change,
        gain=_gain(seen),
        unless=rule.unless,
    )


@cache
def _evidence(rule: Rule, scope: Scope) -> ir.Table:
    return rule.evidence(scope)


def _gain(seen: Seen) -> tuple[float, float] | None:
    low, high = seen.gain
    return (low * seen.share, high * seen.share) if high > 0 else None
