"""What is one finding before and after a change, and whose setting a change is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..model import Change, Deployment, Document, Finding, members_of
from ..packs.vocabulary import PRODUCER_GUARANTEES
from .fingerprint import fingerprint

# Broken for the deployment as a whole, whichever group reads from it.
_SEARCHED = (*PRODUCER_GUARANTEES, "acked-records-survive", "writes-available", "group-available")
RANK = {"note": 1, "warning": 2, "error": 3}
Name = tuple[str, str]


def names_of(finding: Finding, deployments: Mapping[str, Deployment]) -> Iterator[Name]:
    """Its own name first, then one for each deployment that it is told of too. The place of a broken
    guarantee is where its fix would be, which other changes may move: there the rule and the deployment
    count, and which of its groups."""
    if finding.evidence.guarantee is None:
        yield finding.code, fingerprint(finding)
        return
    for home in dict.fromkeys((finding.resource, *finding.shared_by)):
        if finding.evidence.guarantee in _SEARCHED:
            yield finding.code, home
        else:
            groups = deployments[home].groups if home in deployments else ()
            group = next((one.name for one in groups if finding.at.file in files_of(one)), "")
            yield finding.code, f"{home}\0{group}"


def worst(findings: Iterable[Finding], deployments: Mapping[str, Deployment]) -> dict[Name, int]:
    """By name, how grave the gravest is."""
    found: dict[Name, int] = {}
    for finding in findings:
        if finding.suppressed is None:
            for name in names_of(finding, deployments):
                found[name] = max(found.get(name, 0), RANK[finding.severity])
    return found


def files_of(document: Document) -> set[str]:
    places = [setting.origin.at for setting in document.settings] + [item.at for item in document.dropped]
    return {document.file, *(place.file for place in places if place is not None)}


def changed_by(
    finding: Finding, change: Change, deployments: Mapping[str, Deployment], named: Iterable[Document]
) -> list[Document]:
    """Whose setting it is, of the deployments that the finding is about, else of the documents of its name.
    A broker's is that of every broker of the cluster, any other's that of the file."""
    names = (finding.deployment or "", *finding.shared_by)
    homes = [deployments[name] for name in names if name in deployments]
    if finding.resource not in [home.id for home in homes]:
        return [
            document
            for document in named
            if document.component == change.component and change.file in files_of(document)
        ]
    found: dict[int, Document] = {}
    for home in homes:
        own = [one for one in members_of(home) if one.component == change.component and not _is_pool(one)]
        here = [one for one in own if change.file in files_of(one)]
        if change.component == "broker":
            mine = own if here or len(homes) == 1 else []
        else:
            # A client or a topic may get it from code, which is no file of its own.
            mine = here if len(homes) > 1 else [one for one in own if one in here or one not in home.groups]
        found |= {id(one): one for one in mine}
    return list(found.values())


def _is_pool(document: Document) -> bool:
    """A KafkaNodePool counts brokers; their settings are in the Kafka resource."""
    return not document.settings and any(kind == "pool" for kind, _ in document.hints)
