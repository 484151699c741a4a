"""Which pods run a consumer, and whether they keep their names.

A `workload` document (of Kubernetes) configures nothing itself. It is evidence for the consumers in the same
root: one whose group.instance.id is filled in from a variable that holds the pod's name is told how such
names are made. Joined by that variable; by HOSTNAME, which every pod has, only where the root has a single
workload.
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
    return [_told(document, workloads) if document.component == "consumer" else document for document in rest]


def _told(document: Document, workloads: Sequence[Document]) -> Document:
    variables = _variables(document)
    known = {fact.name for fact in document.facts}
    if not variables:
        return document
    if _POD_NAME in variables:
        # Its own environment says so, and its facts are there already.
        return _with_names(document, document.facts)
    running = [
        one for one in workloads if variables & {value for kind, value in one.hints if kind == "pod-name"}
    ]
    if len(running) != 1 or "pod.names" in known:
        return document
    return _with_names(document, [fact for fact in running[0].facts if fact.name not in known])


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
