"""Asks all rules about a run, and puts their findings in the order in which to read them."""

from __future__ import annotations

from typing import Any

import msgspec

from iostrata.explain.facts import RunFacts
from iostrata.explain.finding import (
    ORDER,
    Change,
    Finding,
    Gain,
    Judgement,
    Rule,
    severity,
)
from iostrata.explain.rules import RULES
from iostrata.progress import Progress, silent
from iostrata.store.runs import Run

RULE_STEPS = tuple(RULES)


def explain(facts: RunFacts, step: Progress = silent) -> list[Finding]:
    """The findings of a run: by severity, then by what their change may bring; causes before what
    follows from them. Says each of RULE_STEPS, if there is something to judge.
    """
    if not facts.workers:
        return []
    findings: dict[str, Finding] = {}
    for rule in RULES.values():
        step(rule.name)
        if facts.is_imported and not rule.of_imports:
            continue
        finding = finding_of(rule, facts)
        if finding:
            findings[rule.name] = finding
    causes = {
        follower: [rule.name]
        for rule in RULES.values()
        if rule.name in findings
        for follower in rule.explains
        if follower in findings and findings[rule.name].share >= findings[follower].share / 2
    }
    ranked = [
        msgspec.structs.replace(finding, because=causes.get(name, []))
        for name, finding in findings.items()
    ]
    return sorted(ranked, key=_place)


def not_asked(run: Run) -> str:
    """A line on the rules that are not asked of a run; the empty string: all are."""
    if run.source is None:
        return ""
    others = sum(not rule.of_imports for rule in RULES.values())
    return f"{others} of {len(RULES)} rules need what an import does not have."


def _place(finding: Finding) -> tuple[bool, int, float, str]:
    gain = finding.gain.low + finding.gain.high if finding.gain else 0
    return bool(finding.because), ORDER.index(finding.severity), -gain, finding.rule


def finding_of(rule: Rule[Any], facts: RunFacts) -> Finding | None:
    """What a rule finds in a run; None: nothing that is worth a line."""
    judgement = rule.judge(facts.answer(rule.evidence), facts)
    if judgement is None:
        return None
    how = severity(judgement.share, facts.lost(judgement.share), rule.most)
    if how is None:
        return None
    changes = _changes(judgement, facts)
    return Finding(
        rule=rule.name,
        severity=how,
        title=rule.title,
        share=judgement.share,
        seen=judgement.text,
        evidence=judgement.evidence,
        query=facts.sql(rule.evidence),
        why=rule.why,
        change=changes,
        gain=_gain(judgement, facts) if changes else None,
        unless=rule.unless,
        because=[],
    )


def _changes(judgement: Judgement, facts: RunFacts) -> list[Change]:
    """What there is to change, with the values that the jobs had; settings are those of Hadoop and
    Spark, which other tools do not trace.
    """
    changes = []
    for change in judgement.change:
        if facts.is_imported and change.setting:
            continue
        had = facts.configuration(change.setting, *judgement.jobs) or ""
        if not (had and change.after and _is_done(had, change.after)):
            changes.append(msgspec.structs.replace(change, before=had))
    return changes


def _is_done(had: str, after: str) -> bool:
    """Whether a job has what is advised, or more: no rule advises a smaller number."""
    try:
        return float(had) >= float(after)
    except ValueError:
        return had == after


def _gain(judgement: Judgement, facts: RunFacts) -> Gain | None:
    if found := facts.replayed(judgement.tries):
        return Gain(*found, replayed=", ".join(dict.fromkeys(one.says for one in judgement.tries)))
    low, high = judgement.gain
    return Gain(low * judgement.share, high * judgement.share) if high > 0 else None
