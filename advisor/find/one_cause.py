"""One cause, one finding: what one line does to many deployments is told once, with their names.

Two findings have one cause if one rule tells them of one place and one change mends them. What a rule tells
of the cluster (`told_of` in its pack), as the notes that the recommended configuration gets, is one for all
deployments of that cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..model import Deployment, Finding, in_file_order
from ..packs.pack import Rule


class Caused(NamedTuple):
    """A finding, and the deployments that have it: its own first."""

    finding: Finding
    deployments: tuple[str, ...]


def by_cause(
    findings: Iterable[Finding], rules: Sequence[Rule], deployments: Sequence[Deployment]
) -> list[Caused]:
    """In the order of the first of each."""
    of_cluster = {rule.code for rule in rules if rule.told_of == "cluster"}
    seen = {one.id for one in deployments if one.cluster} if of_cluster else set()
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        if finding.deployment is None:
            mark: tuple[Any, ...] = (number,)
        elif finding.code in of_cluster:
            # Deployments whose cluster is not in sight are taken to be of one.
            place = finding.at if finding.deployment in seen else None
            mark = (finding.code, finding.severity, finding.suppressed, place)
        else:
            mark = (
                *(finding.code, finding.severity, finding.suppressed, finding.at, finding.keys),
                *(finding.assuming, finding.fixes[0].changes if finding.fixes else None),
            )
        groups.setdefault(mark, []).append(finding)
    return [_one(group) for group in groups.values()]


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
