"""Which pods run a consumer, and whether they keep their names.

A `workload` document (of Kubernetes) configures nothing itself. It is evidence for the consumers in the same
root: one whose group.instance.id is filled in from a variable that holds the pod's name is told how such
names are made. Joined by that variable; by HOSTNAME, which every pod has, only where the root has a single
workload. One whose id is written out is told how many pods start with it: joined by the name of its group, or
where the root has one consumer and one workload.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..model import Document, Fact, Unknown

WORKLOAD = "workload"
_KEY = "group.instance.id"
_VARIABLE = re.compile(r"\$[{(]?([A-Za-z_][\w.]*)")
_POD_NAME = "metadata.name"


def placed(documents: Sequence[Document]) -> list[Document]:
    """The documents without the workloads, whose facts went to the consumers that they run."""
    workloads = [document for document in documents if document.component == WORKLOAD]
    rest = [document for document in documents if document.component != WORKLOAD]
    alone = sum(document.component == "consumer" for document in rest) == 1
    return [
        _told(document, workloads, alone) if document.component == "consumer" else document
        for document in rest
    ]


def _told(document: Document, workloads: Sequence[Document], alone: bool) -> Document:
    variables = _variables(document)
    known = {fact.name for fact in document.facts}
    if not variables:
        return _counted(document, workloads, alone)
    if _POD_NAME in variables:
        # Its own environment says so, and its facts are there already.
        return _with_names(document, document.facts)
    running = [
        one for one in workloads if variables & {value for kind, value in one.hints if kind == "pod-name"}
    ]
    if len(running) != 1 or "pod.names" in known:
        return document
    return _with_names(document, [fact for fact in running[0].facts if fact.name not in known])


def _counted(document: Document, workloads: Sequence[Document], alone: bool) -> Document:
    """One with a literal id, and how many pods start with it."""
    texts = {one.key: one.value for one in document.settings if isinstance(one.value, str)}
    if _KEY not in texts or any(fact.name == "pod.count" for fact in document.facts):
        return document
    running = [one for one in workloads if ("runs", "kafka") not in one.hints]
    named = [one for one in running if one.name in (texts.get("group.id"), document.name)]
    found = named or (running if alone else [])
    if len(found) != 1:
        return document
    counts = tuple(fact for fact in found[0].facts if fact.name == "pod.count")
    return document._replace(facts=(*document.facts, *counts))


def _with_names(document: Document, facts: Sequence[Fact]) -> Document:
    names = [fact._replace(name="instance.names") for fact in facts if fact.name == "pod.names"]
    new = [*facts, *names]
    kept = [fact for fact in document.facts if fact not in new]
    return document._replace(facts=(*kept, *new))


def _variables(document: Document) -> frozenset[str]:
    """The variables in a group.instance.id that is a template."""
    for setting in document.settings:
        if setting.key == _KEY and isinstance(setting.value, Unknown):
            return frozenset(_VARIABLE.findall(setting.value.template))
    return frozenset()
