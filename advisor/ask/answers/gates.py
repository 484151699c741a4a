"""What nothing points to is not asked, and its code not loaded: cheap looks before transactions and sizes.

Most audits hold neither a transactional id nor a limit of sizes; importing the models for them would cost
more than reading the files.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...context import Context, Judgement
from ...join.effective import by_key
from ...model import Deployment, members_of

_NAME = "transactional.id"
_SIZES = frozenset(
    [
        "max.request.size",
        "buffer.memory",
        "message.max.bytes",
        "max.message.bytes",
        "segment.bytes",
        "log.segment.bytes",
        "socket.request.max.bytes",
        "replica.fetch.max.bytes",
        "receive.message.max.bytes",
        "max.partition.fetch.bytes",
        "fetch.message.max.bytes",
    ]
)
_BATCHES = frozenset(("batch.size", "max.message.bytes", "message.max.bytes"))


def _writes(deployment: Deployment, keys: Iterable[str]) -> bool:
    found = [by_key(document) for document in members_of(deployment)]
    return any(key in settings for key in keys for settings in found)


def _has_transactions(deployment: Deployment) -> bool:
    producer = deployment.producer
    return _NAME in by_key(producer)


def only_committed_read(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    claimed = deployment.workload.get("exactly_once") is True
    if deployment.groups and (claimed or _has_transactions(deployment)):
        from .transactions.reads import judge_committed

        yield from judge_committed(deployment, context)


def records_visible(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    key = "transaction.partition.verification.enable"
    if _has_transactions(deployment) or _writes(deployment, [key]):
        if context.part == "abandoned":
            from .transactions.times import judge_pinned as judge  # the clock says how long readers wait
        else:
            from .transactions.reads import judge_visible as judge
        yield from judge(deployment, context)


def transactions_complete(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    if _has_transactions(deployment):
        from .transactions.times import judge_complete

        yield from judge_complete(deployment, context)
    if any(document.component == "streams" for document in deployment.groups):
        from .transactions.streams import judge_streams

        yield from judge_streams(deployment, context)


def retries_recognised(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    if context.part == "purged":
        if deployment.producer is not None and deployment.workload.get("longest_idle") is not None:
            from .transactions.forgotten_producers import judge_purged

            yield from judge_purged(deployment, context)
    elif _writes(deployment, ["producer.id.expiration.ms"]):
        from .transactions.times import judge_recognised

        yield from judge_recognised(deployment, context)


def size_chain(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    if deployment.workload.get("record_bytes") is not None or _writes(deployment, _SIZES):
        from .sizes.chain import judge

        yield from judge(deployment, context)


def batches_fit(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    if deployment.producer is not None and _writes(deployment, _BATCHES):
        from .sizes.batches import judge

        yield from judge(deployment, context)
