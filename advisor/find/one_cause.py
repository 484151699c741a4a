"""One cause, one finding: what one line does to many deployments is told once, with their names.

Two findings have one cause if one rule tells them of one place and one change mends them. What a rule tells
of the cluster (`told_of` in its pack), as the notes that the recommended configuration gets, is one for all
deployments of that cluster. So is what no change of a topic's or a client's own mends, as two copies on two
brokers. What a rule covers (`covers` in its pack) and tells of the same place is told under it, whoever
found it: that acks=1 switches idempotence off is part of what acks=1 does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..model import Deployment, Finding, Location, in_file_order
from ..packs.pack import Rule
from ..tuples import NamedTuple

# What brokers alone can make hold where no setting does.
_OF_BROKERS = ("acked-records-survive", "writes-available")


class Caused(NamedTuple):
    """A finding, and the deployments that have it: its own first."""

    finding: Finding
    deployments: tuple[str, ...]


def by_cause(
    findings: Iterable[Finding], rules: Sequence[Rule], deployments: Sequence[Deployment]
) -> list[Caused]:
    """In the order of the first of each."""
    of_cluster = {rule.code for rule in rules if rule.told_of == "cluster"}
    of_brokers = {rule.code for rule in rules if rule.guarantee in _OF_BROKERS}
    clusters = {
        one.id: Location(one.cluster[0].file, one.cluster[0].line) for one in deployments if one.cluster
    }
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        if finding.deployment is None:
            mark: tuple[Any, ...] = (number,)
        elif finding.code in of_cluster:
            # Deployments whose cluster is not in sight are taken to be of one.
            place = finding.at if finding.deployment in clusters else None
            mark = (finding.code, finding.severity, finding.suppressed, place)
        elif finding.code in of_brokers and not finding.fixes and finding.deployment in clusters:
            mark = (
                finding.code,
                finding.severity,
                finding.suppressed,
                clusters[finding.deployment],
                "brokers",
            )
        else:
            mark = (
                *(finding.code, finding.severity, finding.suppressed, finding.at, finding.keys),
                *(finding.assuming, finding.fixes[0].changes if finding.fixes else None),
            )
        groups.setdefault(mark, []).append(finding)
    return _covering([_one(group) for group in groups.values()], rules)


def _covering(causes: list[Caused], rules: Sequence[Rule]) -> list[Caused]:
    names = {rule.code: {rule.code, rule.name} for rule in rules}
    covers = {rule.code: set(rule.covers) for rule in rules if rule.covers}
    above: dict[Location, list[int]] = {}
    for number, one in enumerate(causes):
        if one.finding.suppressed is None and one.finding.code in covers:
            above.setdefault(one.finding.at, []).append(number)
    under: dict[int, set[str]] = {}
    told = []
    for number, one in enumerate(causes):
        finding = one.finding
        known = names.get(finding.code, {finding.code})
        tops = [
            top
            for top in above.get(finding.at, ())
            if top != number
            and finding.severity == "note"
            and finding.suppressed is None
            and set(one.deployments) <= set(causes[top].deployments)
            and covers[causes[top].finding.code] & known
        ]
        if tops:
            under.setdefault(tops[0], set()).add(finding.code)
        else:
            told.append(number)
    return [_with_covered(causes[number], under.get(number, ())) for number in told]


def _with_covered(cause: Caused, codes: Iterable[str]) -> Caused:
    finding = cause.finding
    return cause._replace(finding=finding._replace(covers=tuple(sorted({*finding.covers, *codes}))))


def _one(group: Sequence[Finding]) -> Caused:
    first = group[0]
    names = dict.fromkeys(
        name for one in group if one.deployment is not None for name in (one.deployment, *one.shared_by)
    )
    if len(group) > 1:
        places = {place for one in group for place in (one.at, *one.also_at)} - {first.at}
        covers = tuple(sorted({code for one in group for code in one.covers}))
        first = first._replace(also_at=in_file_order(places), covers=covers)
    return Caused(first, tuple(names))
