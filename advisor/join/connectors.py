"""Which worker runs a connector, and what its policy says of the settings that connectors bring along.

A connector names no worker. Strimzi's has the label of one; else it is the only worker of its folder, or of
the root. Without such evidence nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Document, Fact, Location, Origin

CONNECTOR = "connector"
_WORKERS = ("connect", "connect-standalone")
_POLICY = "connector.client.config.override.policy"


def with_policies(documents: Sequence[Document]) -> list[Document]:
    """The documents, each connector with the policy of its worker as a fact; "" if it states none."""
    workers = [document for document in documents if document.component in _WORKERS]
    return [
        _told(document, workers) if document.component == CONNECTOR else document for document in documents
    ]


def _told(connector: Document, workers: Sequence[Document]) -> Document:
    worker = _worker_of(connector, workers)
    if worker is None:
        return connector
    value, origin = "", Origin("file", Location(worker.file, worker.line))
    for setting in worker.settings:
        if setting.key == _POLICY:
            if not isinstance(setting.value, str):
                return connector
            value, origin = _short(setting.value.strip()), setting.origin
    fact = Fact("connect.override_policy", value, origin)
    return connector._replace(facts=(*connector.facts, fact))


def _worker_of(connector: Document, workers: Sequence[Document]) -> Document | None:
    labels = {value for kind, value in connector.hints if kind == "connect"}
    if labels:
        chosen = [
            one for one in workers if labels & {value for kind, value in one.hints if kind == "connect"}
        ]
    else:
        folder = connector.file.rpartition("/")[0]
        chosen = [one for one in workers if one.file.rpartition("/")[0] == folder] or list(workers)
    return chosen[0] if len(chosen) == 1 else None


def _short(policy: str) -> str:
    """The alias of one of Connect's own classes; any other class says what it likes."""
    name = policy.rpartition(".")[2].removesuffix("ConnectorClientConfigOverridePolicy")
    return name or policy
