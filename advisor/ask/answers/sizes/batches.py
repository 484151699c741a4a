"""Full batches against the topic's limit: does what the client fills up to pass what the leader takes?

Compression changes nothing about it: a batch is filled until its estimated size after compression comes to
batch.size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....context import Context, Hit, Judgement
from ....join.reader import Reader, stated
from ....model import Deployment, Edit, Setting
from ....sim.producer.batch_split import FAILS, HALVES, SPLITS, Sent, settle
from ....syntax.numbers import INT, integer
from .chain import chain_of, limit_of

# Records whose size nobody stated are taken to be small beside the limit.
_VALUE_MAX, _SHARE = 1_000, 10
# A batch is halved until it fits, or it is not: beyond so many times the limit there are only more halves.
_LIMITS_PLAYED = 64


def judge(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    producer = deployment.producer
    if producer is None:
        return
    look = Reader(deployment, context.clients)
    size_found = limit_of(look, producer, "producer", "batch.size")
    seen = chain_of(look, None)
    limit, home = seen.chain.batch, seen.found.get("batch")
    batch = _number(size_found)
    if limit is None or home is None or size_found is None or batch is None:
        return
    if all(one.origin.kind == "default" for one in (size_found, home[1])):
        return
    of_librdkafka = producer.client == "librdkafka"
    if of_librdkafka:
        batch = min(batch, seen.chain.request or batch)
    if batch <= limit:
        yield Judgement("holds", bounds=f"batches of up to {batch:,} bytes")
        return
    number = context.version_of(producer).number
    manner = FAILS if of_librdkafka else HALVES if number >= (4, 2) else SPLITS
    given = look.workload("record_bytes")
    value = int(given) if given is not None else max(1, min(_VALUE_MAX, limit // _SHARE))
    sent = _settled(context, min(batch, _LIMITS_PLAYED * limit), limit, value, manner)
    if all(one.outcome == "stored" for one in sent):
        yield Judgement("holds", bounds=f"records of {value:,} bytes, batches of up to {batch:,}")
        return
    yield _broken(look, (size_found, home), (batch, limit, value), sent, manner, given is not None)


def _settled(context: Context, batch: int, limit: int, value: int, manner: str) -> list[Sent]:
    mark = f"{batch}|{limit}|{value}|{manner}"
    told = context.remember(
        "batch-split", mark, lambda: [list(one) for one in settle(batch, limit, value, manner)]
    )
    return [Sent(*one) for one in told]


def _number(setting: Setting | None) -> int | None:
    text = setting.value.strip() if setting is not None and isinstance(setting.value, str) else ""
    return integer(text, (0, INT[1]))


def _broken(
    look: Reader,
    found: tuple[Setting, tuple[str, Setting]],
    sizes: tuple[int, int, int],
    sent: Sequence[Sent],
    manner: str,
    is_stated: bool,
) -> Judgement:
    (own, (component, setting)), (batch, limit, value) = found, sizes
    refused = sum(one.outcome in ("split", "failed", "the same") for one in sent)
    what = {
        SPLITS: "is split into itself and refused again, until delivery.timeout.ms is over",
        HALVES: f"is refused {refused} times before its pieces are small enough",
        FAILS: "fails with every record in it",
    }[manner]
    deployment = look.deployment
    fields = {
        "producer": deployment.producer.name if deployment.producer is not None else "the producer",
        "topic": deployment.topic.name if deployment.topic is not None else "the topic",
        "batch": f"{batch:,}",
        "limit": f"{limit:,}",
        "key": setting.key,
        "what": what,
    }
    assumed = "as stated" if is_stated else "assumed: [workload] record_bytes is not stated"
    numbers = (
        ("a full batch", f"{sent[0].records} records, {sent[0].size:,} bytes"),
        ("a record", f"a value of {value:,} bytes, {assumed}"),
        ("refused", "for ever" if manner == SPLITS else f"{refused} times"),
    )
    shown = [("producer", own), (component, setting)]
    if is_stated:
        shown.append(("workload", stated("record_bytes", value)))
    edits = (
        Edit("batch", "producer", own.key, str(limit)),
        Edit("limit", component, setting.key, str(batch)),
    )
    hit = Hit(
        look.place(own, setting),
        (own.key, setting.key),
        fields,
        tuple(shown),
        numbers=numbers,
        severity="note" if manner == HALVES else None,
        edits=edits,
    )
    return Judgement("broken", hit, tuple(_steps(sent, limit)), bounds="one full batch")


def _steps(sent: Sequence[Sent], limit: int) -> Iterator[dict[str, Any]]:
    for number, one in enumerate(sent, 1):
        if one.outcome == "stored":
            effect = "stored"
        elif one.outcome == "split":
            effect = f"refused, split into {one.pieces}" if one.pieces > 1 else "refused, split into itself"
        elif one.outcome == "failed":
            effect = "refused: every record in it fails"
        else:
            effect = "refused, split into itself: the same again"
        yield {
            "step": number,
            "event": {"name": "send", "text": f"send {one.records} records in a batch"},
            "effects": [effect],
            "state": {
                "kind": "batch",
                "cells": {"bytes": f"{one.size:,}", "limit": f"{limit:,}"},
            },
        }
