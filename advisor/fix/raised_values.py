"""Values that somebody raised above the default: they are not lowered while nobody says what they are for.

A batch that takes long needs a long max.poll.interval.ms. Where the file raises it and the workload does not
say how long a record takes, a shorter one may evict members that are only busy: that is no fix.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ask.policies import decode, decode_internal
from ..catalog import Version, keys, resolve_version
from ..join.effective import by_key, shown_default
from ..join.reader import Reader
from ..model import Deployment, Document, Edit, members_of
from ..syntax.numbers import integer

# What such a value is for: with one of these figures stated in [workload] the rules decide.
_SERVES = {
    "max.poll.interval.ms": ("processing_ms",),
    "session.timeout.ms": ("longest_pause_ms",),
    "consumer.session.timeout.ms": ("longest_pause_ms",),
    "group.consumer.session.timeout.ms": ("longest_pause_ms",),
    "transaction.timeout.ms": ("transaction_ms", "processing_ms"),
    "producer.transaction.timeout.ms": ("transaction_ms", "processing_ms"),
    "delivery.timeout.ms": ("longest_outage",),
    "request.timeout.ms": ("longest_pause_ms",),
    "retention.ms": ("longest_outage",),
    "log.retention.ms": ("longest_outage",),
}
# Minimums, each with the internal topic that it is for.
_MINIMUMS = {"min.insync.replicas": None, "transaction.state.log.min.isr": "transactions"}
_DECIDE_A_MINIMUM = ("acks", "replicas", "min_isr")


def lowered_blindly(deployment: Deployment, edits: Sequence[Edit], works: bool) -> str | None:
    """Which raised value the edits would lower though what it is for is not in sight. Not `works`: as it is
    now nothing goes, so a lower value takes nothing away."""
    for edit in edits:
        raised = _raised(deployment, edit) if edit.key is not None else None
        if raised is None:
            continue
        if edit.key in _MINIMUMS:
            if not _minimum_is_decided(deployment, _MINIMUMS[edit.key]):
                topics = "the topics that inherit it" if edit.component == "broker" else "the topic"
                return f"{raised} was raised on purpose, and who writes to {topics}, how, is not in sight"
            continue
        wanted = _SERVES.get(edit.key or "") if works else None
        if wanted and not any(Reader(deployment).workload(name) is not None for name in wanted):
            return f"{raised} was raised on purpose, and [workload] {wanted[0]} is not stated"
    return None


def _minimum_is_decided(deployment: Deployment, internal: str | None) -> bool:
    decoded = decode(deployment) if internal is None else decode_internal(deployment, internal)
    return decoded is not None and all(decoded.knobs[name].seen for name in _DECIDE_A_MINIMUM)


def _raised(deployment: Deployment, edit: Edit) -> str | None:
    """The setting as written, if it is above the default and the edit is below it."""
    assert edit.key is not None
    for document in members_of(deployment):
        if document.component != edit.component or edit.of not in (None, (document.file, document.name)):
            continue
        written = by_key(document).get(edit.key)
        if written is None or not isinstance(written.value, str):
            continue
        now = integer(written.value.strip())
        usual = _default(document, edit.key, resolve_version(deployment.version))
        then = usual if edit.value is None else integer(edit.value)
        if now is not None and then is not None and usual is not None and usual < now > then:
            return f"{edit.key}={now}"
    return None


def _default(document: Document, key: str, version: Version) -> int | None:
    component = document.component
    for prefix in ("producer.", "consumer."):
        if component == "streams" and key.startswith(prefix):
            component, key = prefix[:-1], key.removeprefix(prefix)
    known = keys(component, version).get(key)
    return integer(shown_default(known.default)) if known is not None and known.default is not None else None
