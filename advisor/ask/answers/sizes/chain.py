"""The size chain: settings of producer, topic, brokers and readers as limits, and records sent through them.

Asked only where somebody wrote one of the limits, or states how large records are: the defaults of old
releases do not fit each other either (1,000,012 bytes on brokers before 2.5, 1,048,576 in the client).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....catalog import librdkafka
from ....context import Context, Hit, Judgement
from ....join.reader import Reader, stated
from ....model import Deployment, Document, Edit, Location, Origin, Setting, members_of
from ....sim.producer.size_chain import CLIENT, STUCK, Chain, Gap, gaps, largest, links, measured, send
from ....syntax.numbers import count
from ....tuples import NamedTuple

MIB = 1_048_576
Pair = tuple[str, Setting]

# Each link of the chain by where its limit is written: component and key, for Java and for librdkafka.
_JAVA = {"request": "max.request.size", "buffer": "buffer.memory"}
_LIBRDKAFKA = {"request": "message.max.bytes"}
_SERVERS = {
    "connection": ("broker", "socket.request.max.bytes"),
    "batch": ("topic", "max.message.bytes"),
    "segment": ("topic", "segment.bytes"),
    "replica": ("broker", "replica.fetch.max.bytes"),
}
_WORDS = {
    "request": "the producer",
    "buffer": "the producer's buffer",
    "connection": "the connection to the broker",
    "batch": "the topic",
    "segment": "a segment of the log",
    "replica": "a follower",
    "reader": "the reader",
    "receiver": "the reader's connection",
}


class Seen(NamedTuple):
    """The chain, with the setting behind each of its limits."""

    chain: Chain
    found: dict[str, Pair]
    unknown: tuple[str, ...]  # keys that a template fills in

    def setting(self, link: str) -> Setting | None:
        pair = self.found.get(link)
        return pair[1] if pair is not None else None


def chain_of(look: Reader, group: Document | None) -> Seen:
    number = look.version.number
    producer = look.deployment.producer
    family = "librdkafka" if producer is not None and producer.client == "librdkafka" else "java"
    found: dict[str, Pair] = dict(_limits(look, family, group))
    values: dict[str, int] = {}
    unknown = []
    for link, (_, setting) in found.items():
        size = count(setting.value.strip()) if isinstance(setting.value, str) else None
        if size is not None:
            values[link] = size
        else:
            unknown.append(setting.key)
    chain = Chain(
        client_family=family,
        magic=2 if number >= (0, 11) else 1 if number >= (0, 10) else 0,
        compressed=_compresses(look, family),
        whole_batches=number >= (0, 10, 1),
        **values,
    )
    return Seen(chain, found, tuple(unknown))


def _limits(look: Reader, family: str, group: Document | None) -> Iterator[tuple[str, Pair]]:
    if look.deployment.producer is not None:
        for link, key in (_LIBRDKAFKA if family == "librdkafka" else _JAVA).items():
            found = limit_of(look, look.deployment.producer, "producer", key)
            if found is not None:
                yield link, ("producer", found)
    for link, (component, key) in _SERVERS.items():
        home = component
        if component == "topic" and look.deployment.topic is None:
            # A topic that is not in sight has the broker's own limit unless it says otherwise.
            home, key = "broker", {"max.message.bytes": "message.max.bytes"}.get(key, "log.segment.bytes")
        found = look.setting(home, key)
        if found is not None:
            yield link, (home, found)
    if group is not None:
        of_librdkafka = group.client == "librdkafka"
        link = "receiver" if of_librdkafka else "reader"
        key = "receive.message.max.bytes" if of_librdkafka else "max.partition.fetch.bytes"
        found = limit_of(look, group, "consumer", key)
        if found is not None:
            yield link, ("consumer", found)


def limit_of(look: Reader, document: Document, component: str, key: str) -> Setting | None:
    """A client's own value or default; librdkafka's where it is librdkafka's."""
    if document.client != "librdkafka":
        return look.setting(component, key)
    given = look.layers.get(component, {}).get(key)
    if given is not None:
        return given
    known = librdkafka(key)
    if known is None or known.default is None:
        return None
    return Setting(key, str(known.default), Origin("default", None, "default of librdkafka"))


def _compresses(look: Reader, family: str) -> bool:
    """What a template fills in may compress too: then nothing is said of what comes after the client."""
    key = "compression.codec" if family == "librdkafka" else "compression.type"
    written = look.layers.get("producer", {}).get(key) or look.layers.get("producer", {}).get(
        "compression.type"
    )
    return written is not None and str(written.value).strip().lower() != "none"


def _written(seen: Seen, *wanted: str) -> bool:
    """Did a person write one of these limits?"""
    return any(
        setting.origin.kind != "default" for link in wanted if (setting := seen.setting(link)) is not None
    )


def judge(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """`part` of the rule that asks: refused (what the client takes and a broker does not), stuck (what a
    broker takes and cannot pass on), stated (the record that the workload states)."""
    part = context.part
    groups = [group for group in deployment.groups if group.component == "consumer"]
    if part == "stuck":
        for group in groups or (None,):
            yield from _stuck(Reader(deployment, context.clients, group), group)
        return
    look = Reader(deployment, context.clients)
    seen = chain_of(look, None)
    if deployment.producer is None or "request" not in seen.found:
        return
    if "batch" not in seen.found:
        if part == "refused":
            yield from _depends_on_brokers(look, seen)
        return
    yield from _refused(look, seen) if part == "refused" else _stated(look, seen)


# -- what the client takes and the broker refuses ----------------------------------------------------------


def _refused(look: Reader, seen: Seen) -> Iterable[Judgement]:
    if not _written(seen, "request", "buffer", "batch", "segment", "connection"):
        return
    if seen.unknown:
        reason = f"{', '.join(seen.unknown)} is filled in elsewhere"
        yield Judgement("unknown", reason=reason, depends_on=seen.unknown)
        return
    chain = seen.chain._replace(replica=None, reader=None, receiver=None)
    found = gaps(chain)
    if not found:
        yield Judgement("holds", bounds=_bounds(chain))
        return
    gap = found[0]
    if chain.compressed:
        reason = (
            f"records that compress to no more than {getattr(chain, gap.link):,} bytes pass, others do not"
        )
        yield Judgement("unknown", reason=reason, depends_on=("how well records compress",))
        return
    classes = sorted({gap.least - 1, gap.least, gap.most, gap.most + 1})
    told = _broken(look, seen, chain, gap, classes, _larger(look, seen, chain, gap))
    if told.hit is not None and not _written(seen, "request", "buffer"):
        # A limit of the topic's own below the client's default may well be meant: the error only comes later.
        told = told._replace(hit=told.hit._replace(severity="note"))
    yield told


def _depends_on_brokers(look: Reader, seen: Seen) -> Iterable[Judgement]:
    """A client that takes more than brokers do by default, and no broker in sight."""
    key = "message.max.bytes"
    usual = count(look.default("broker", key) or "")
    request = seen.chain.request
    if usual is None or request is None or request <= usual or not _written(seen, "request"):
        return
    own = seen.setting("request")
    assert own is not None, "it was written"
    reason = (
        f"records of up to {own.key}={own.value} are refused unless {key} allows them; its default is {usual}"
    )
    yield Judgement("unknown", reason=reason, depends_on=(f"broker.{key}",))


def _larger(look: Reader, seen: Seen, chain: Chain, gap: Gap) -> tuple[Edit, ...]:
    """Room for the largest that the client takes. The client's own limit is lowered only as the last resort:
    somebody raised it for a reason."""
    wanted = str(max(measured(chain, link, gap.most) for link in ("request", gap.link)))
    component, setting = seen.found[gap.link]
    edits = [Edit(gap.link, component, setting.key, wanted)]
    if gap.link == "batch" and component == "topic" and look.in_sight("broker", "message.max.bytes"):
        edits.append(Edit("batch-default", "broker", "message.max.bytes", wanted))
    client, own = seen.found["request"]
    edits.append(Edit("request", client, own.key, str(measured(chain, "request", gap.least - 1))))
    return tuple(edits)


# -- the stated record -------------------------------------------------------------------------------------


def _stated(look: Reader, seen: Seen) -> Iterable[Judgement]:
    size = look.workload("record_bytes")
    if size is None:
        return
    chain = seen.chain._replace(replica=None, reader=None, receiver=None)
    if chain.compressed:
        # What comes after the client measures what the codec makes of it.
        chain = chain._replace(connection=None, batch=None, segment=None)
    ways = list(send(chain, int(size)))
    last = ways[-1]
    if last.passed:
        yield Judgement("holds", bounds=f"a record of {int(size):,} bytes; {_bounds(chain)}")
        return
    gap = Gap(last.link, int(size), int(size), last.outcome)
    yield _broken(look, seen, chain, gap, [int(size)], _room(seen, chain, int(size)), int(size))


def _room(seen: Seen, chain: Chain, size: int) -> tuple[Edit, ...]:
    """Every link that is too narrow, widened to the next whole MiB."""
    edits = []
    for link in links(chain):
        need = measured(chain, link, size)
        if need > getattr(chain, link):
            component, setting = seen.found[link]
            edits.append(Edit(link, component, setting.key, str(-(-need // MIB) * MIB)))
    return tuple(edits)


# -- what the broker takes and cannot pass on --------------------------------------------------------------


def _stuck(look: Reader, group: Document | None) -> Iterable[Judgement]:
    seen = chain_of(look, group)
    chain = seen.chain._replace(request=None, buffer=None, segment=None)
    if "batch" not in seen.found or not _written(
        seen, "batch", "connection", "replica", "reader", "receiver"
    ):
        return
    if chain.batch is None or (seen.unknown and set(seen.unknown) - set(_JAVA.values())):
        return
    after = [gap for gap in gaps(chain._replace(connection=None)) if gap.outcome == STUCK]
    if not after:
        if chain.whole_batches and "receiver" not in seen.found:
            return  # nothing of today's Kafka stops there
        yield Judgement("holds", bounds=_bounds(chain))
        return
    gap = after[0]
    component, setting = seen.found[gap.link]
    # The answer has a header of its own: librdkafka wants 512 bytes to spare.
    need = measured(chain, gap.link, gap.most) + 512
    edits = [Edit(gap.link, component, setting.key, str(-(-need // MIB) * MIB))]
    if "batch" in seen.found:
        limit, own = seen.found["batch"]
        edits.append(Edit("batch", limit, own.key, str(getattr(chain, gap.link) - 512)))
    classes = sorted({gap.least - 1, gap.least, gap.most})
    yield _broken(look, seen, chain, gap, classes, tuple(edits), group=group)


# -- in words ----------------------------------------------------------------------------------------------


def _broken(
    look: Reader,
    seen: Seen,
    chain: Chain,
    gap: Gap,
    classes: Sequence[int],
    edits: tuple[Edit, ...],
    size: int | None = None,
    group: Document | None = None,
) -> Judgement:
    deployment = look.deployment
    limit = getattr(chain, gap.link)
    setting = seen.found[gap.link][1]
    fields = {
        "producer": deployment.producer.name if deployment.producer is not None else "the producer",
        "topic": deployment.topic.name if deployment.topic is not None else "the topic",
        "consumer": group.name if group is not None else "the reader",
        "least": f"{gap.least:,}",
        "most": f"{gap.most:,}",
        "link": _WORDS[gap.link],
        "key": setting.key,
        "limit": f"{limit:,}",
        "outcome": gap.outcome,
        "measured": f"{measured(chain, gap.link, gap.most):,}",
    }
    shown = [pair for link, pair in seen.found.items() if link in links(chain)]
    if size is not None:
        shown.append(("workload", stated("record_bytes", size)))
    numbers = [
        (
            "values",
            f"{gap.least:,} bytes" if gap.least == gap.most else f"{gap.least:,} to {gap.most:,} bytes",
        ),
        ("ends at", f"{_WORDS[gap.link]}: {setting.key}={limit}"),
        ("measured", "a record without key and headers, alone in its batch" + _measure(gap.link)),
    ]
    blamed = _blamed(seen, gap, size)
    hit = Hit(
        _place(look, *blamed),
        tuple(dict.fromkeys([blamed[1].key, setting.key, *(one.key for _, one in shown)])),
        fields,
        tuple(shown),
        numbers=tuple(numbers),
        edits=edits,
    )
    trace = tuple(_steps(chain, classes, seen))
    return Judgement("broken", hit, trace, bounds=_bounds(chain))


def _blamed(seen: Seen, gap: Gap, size: int | None) -> Pair:
    """Where to look first: at the producer's limit, if somebody wrote it, else at the one that is too low."""
    own = seen.found.get("request")
    of_server = gap.link in ("connection", "batch", "segment")
    if size is None and of_server and own is not None and own[1].origin.at is not None:
        return own
    return seen.found[gap.link]


def _place(look: Reader, component: str, setting: Setting) -> Location:
    if setting.origin.at is not None:
        return setting.origin.at
    for document in members_of(look.deployment):
        if document.component == component:
            return Location(document.file, document.line)
    return look.place()


def _measure(link: str) -> str:
    return ", before compression" if link in CLIENT else ", as it is stored"


def _steps(chain: Chain, classes: Sequence[int], seen: Seen) -> Iterator[dict[str, Any]]:
    """One record of each size class, sent through the chain."""
    for number, value in enumerate((value for value in classes if value >= 0), 1):
        ways = list(send(chain, value))
        cells = {
            seen.found[way.link][1].key: f"{way.measured:,} {'<=' if way.passed else '>'} {way.limit:,}"
            for way in ways
        }
        links_passed = {
            seen.found[way.link][1].key: {"measured": way.measured, "limit": way.limit, "passes": way.passed}
            for way in ways
        }
        last = ways[-1]
        effect = "passed" if last.passed else f"{last.outcome} by {_WORDS[last.link]}"
        yield {
            "step": number,
            "event": {"name": "send", "text": f"send a value of {value:,} bytes", "value_bytes": value},
            "effects": [effect],
            "state": {"kind": "size-chain", "cells": cells, "links": links_passed},
        }


def _bounds(chain: Chain) -> str:
    first = links(chain)[0]
    return f"records of up to {max(0, largest(chain, first)):,} bytes, of one record a batch"
