"""The outages that records-delivered is asked about, played: what expires, what is given up, what is refused.

Arithmetic decides the plain cases; only where it cannot is the outage played on the clock. Numbers without a
stated rate are given per 1,000 records/s and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ....context import Again, Context, Hit, Judgement
from ....join.reader import Reader, stated
from ....model import Deployment, Edit, Setting
from ....sim.clock.timeline import Setup, Step
from ....tuples import NamedTuple
from . import outage
from .setup import MILLISECOND, Timed, timed

# A new leader is elected, told of, and found by the producer: beyond the end of the old one's session.
SLACK_MS = 1_500
# More retries than a failover can use up: no request is sent while there is nobody to send it to.
RETRIES_AMPLE = 10
# Timeouts as a person would write them; the first that is long enough is taken.
TIMEOUTS_MS = (120_000, 180_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000)
MEGABYTE = 1 << 20
# Shorter waits of send() are not worth a word.
BLOCKED_LONG_MS = 1_000
_IN_PART = "in the first 10 minutes of the longest outage"
_SESSIONS = ("broker.session.timeout.ms", "zookeeper.session.timeout.ms")
_ON_ERROR = {
    "ignore": "the application ignores failed sends ([workload] on_send_error): they are lost",
    "stop": "the application stops at the first failed send ([workload] on_send_error)",
}


class Case(NamedTuple):
    """One deployment on the clock, with what the questions have in common."""

    look: Reader
    timed: Timed
    context: Context

    @property
    def longest_outage(self) -> int | None:
        value = self.look.workload("longest_outage")
        return None if value is None else int(value)

    @property
    def played_outage(self) -> int:
        """As much of it as is played, in milliseconds."""
        return min(self.longest_outage or 0, outage.PLAYED_MAX_MS)

    @property
    def more(self) -> int:
        """And what is left of it."""
        return (self.longest_outage or 0) - self.played_outage

    def too_long_to_play(self, kind: str, begins_ms: int) -> Judgement | None:
        """The longest outage is cut short, and what it does begins too late to be seen."""
        if kind == "crash" or not self.more or begins_ms < outage.PLAYED_MAX_MS // 2:
            return None
        longest = outage.seconds((outage.PLAYED_MAX_MS,) * 2)
        return Judgement(
            "unknown",
            depends_on=("[workload] longest_outage",),
            reason=f"outages are played for {longest} at the most, and this client waits too long for that",
        )

    @property
    def cluster_in_sight(self) -> bool:
        return self.look.in_sight("broker", "")

    def setting(self, *keys: str) -> Setting | None:
        return self.timed.setting("producer", *keys)

    def key(self, *keys: str) -> str:
        found = self.setting(*keys)
        return found.key if found is not None else keys[0]


def judge_played(deployment: Deployment, look: Reader, context: Context) -> Iterator[Judgement]:
    """A producer that something points at."""
    if context.part == "retries":
        yield from _retries(deployment, look, context)
    elif context.part in ("buffer", "blocking"):
        yield from _memory(deployment, look, context)
    else:
        yield from _timeouts(deployment, look, context)


def _case(deployment: Deployment, look: Reader, context: Context, *needed: str) -> Case | Judgement:
    """Unknown where the producer does not start, which other rules tell, or a template decides."""
    on_clock = timed(deployment)
    java = deployment.producer is not None and deployment.producer.client != "librdkafka"
    client = on_clock.setup.client if on_clock is not None else None
    if client is None or (java and client.delivery_timeout < client.linger + client.request_timeout):
        return Judgement("unknown", reason="the producer does not start with these settings")
    assert on_clock is not None, "it has a client"
    open_keys = [key for key in on_clock.unknown if key in needed]
    if open_keys:
        named = ", ".join(open_keys)
        return Judgement("unknown", depends_on=tuple(open_keys), reason=f"{named} is filled in elsewhere")
    return Case(look, on_clock, context)


# -- delivery.timeout.ms -----------------------------------------------------------------------------------


def _timeouts(deployment: Deployment, look: Reader, context: Context) -> Iterator[Judgement]:
    case = _case(deployment, look, context, "delivery.timeout.ms", "linger.ms", *_SESSIONS)
    if isinstance(case, Judgement):
        yield case
    else:
        yield from _expiry(case)


def _expiry(case: Case) -> Iterator[Judgement]:
    setup = case.timed.setup
    linger, delivery = setup.client.linger // MILLISECOND, setup.client.delivery_timeout // MILLISECOND
    fence = outage.fenced_after(setup.cluster)[1] // MILLISECOND
    failover = linger + fence + SLACK_MS if setup.partition.replicas > 1 else 0
    asked = [(failover, "crash")]
    if case.longest_outage is not None:
        asked.append((linger + case.longest_outage + SLACK_MS, "silence"))
    asked.sort(reverse=True)
    needed = asked[0][0]
    for most, kind in asked:
        if delivery >= most:
            continue
        if kind == "crash" and not case.cluster_in_sight:
            yield _depends_on_session(case, delivery - linger)
            return
        too_long = case.too_long_to_play(kind, linger + delivery)
        if too_long is not None:
            yield too_long
            return
        found = _expired(case, kind, needed)
        if found is not None:
            yield found
            return
    yield Judgement("holds", bounds=f"outages of up to {needed / 1000:g} s")


def _depends_on_session(case: Case, left_ms: int) -> Judgement:
    session = case.timed.setup.cluster.session_timeout // MILLISECOND
    late = outage.fenced_after(case.timed.setup.cluster)[1] // MILLISECOND - session
    most = max(0, left_ms - SLACK_MS - late)
    key = next(s.key for c, s in case.timed.settings if c == "broker" and s.key in _SESSIONS)
    unless = f"unless {key} is at most {most}; its default is {session}"
    if most == 0:
        unless = f"however short {key} is"
    return Judgement("unknown", depends_on=(key,), reason=f"records expire when a broker dies {unless}")


def _expired(case: Case, kind: str, needed_ms: int) -> Judgement | None:
    # Of memory another rule speaks.
    setup, steps, load = _outage(case, kind)
    figures = outage.play(setup, steps, load, case.context.remember)
    if not figures.failed[1]:
        return None
    whole = outage.longer(figures, load, case.more) if kind == "silence" and case.more else figures
    figures = whole or figures
    delivery = case.setting("delivery.timeout.ms", "message.timeout.ms", "request.timeout.ms")
    assert delivery is not None, "every release has one of them"
    session = next((s for c, s in case.timed.settings if c == "broker" and s.key in _SESSIONS), None)
    linger = case.setting("linger.ms", "queue.buffering.max.ms")
    shown = [("producer", one) for one in (delivery, linger) if one is not None]
    if kind == "crash" and session is not None:
        shown.append(("broker", session))
    expired = f"{outage.count(figures.failed)} records {outage.rate_text(load)}"
    hit = Hit(
        case.look.place(delivery, session),
        (delivery.key,),
        {
            "producer": _name(case),
            "key": delivery.key,
            "value": f"{setup.client.delivery_timeout // MILLISECOND} ms",
            "expired": expired,
            "outage": _when(kind, whole is None),
        },
        settings=(*shown, *_stated(case, "records_per_second", "longest_outage", "on_send_error")),
        numbers=(
            ("outage", _what(kind, figures, whole is None)),
            ("expired", expired),
            *((("stored all the same", outage.count(figures.readable)),) if figures.readable[1] else ()),
            *_also(case, kind),
            ("needed", f"{needed_ms} ms at the least"),
            *_assumptions(case, load.assumptions),
        ),
        edits=tuple(_longer(delivery.key, needed_ms)),
    )
    remember = case.context.remember
    trace = outage.told(setup, steps, load, remember)
    faults = {"broker_crash": 1} if kind == "crash" else {}
    again = _again(case, lambda other: outage.told(*_outage(other, kind), remember))
    return Judgement("broken", hit, trace, faults=faults, bounds=outage.BOUNDS, again=again)


def _again(case: Case, play: Callable[[Case], Sequence[Mapping[str, Any]]]) -> Again:
    """The same outage with the settings of another deployment."""

    def played(changed: Deployment) -> Sequence[Mapping[str, Any]]:
        other = _case(changed, Reader(changed, case.context.clients), case.context)
        return () if isinstance(other, Judgement) else play(other)

    return played


def _outage(case: Case, kind: str) -> tuple[Setup, list[Step], outage.Load]:
    setup = case.timed.setup
    if kind == "crash":
        return setup, outage.crash(setup), outage.load_of(case.look)._replace(sized=False)
    length = case.played_outage * MILLISECOND
    return *outage.silence(setup, length), outage.load_of(case.look, "all")._replace(sized=False)


def _when(kind: str, in_part: bool) -> str:
    if kind == "crash":
        return "when a broker dies"
    return _IN_PART if in_part else "in the longest outage"


def _what(kind: str, figures: outage.Figures, in_part: bool = False) -> str:
    if kind == "crash":
        return f"the leader's process dies, and nobody leads for {outage.seconds(figures.stopped)}"
    part = "the first 10 minutes of " if in_part else ""
    return f"no broker answers for {outage.seconds(figures.stopped)} ({part}[workload] longest_outage)"


def _also(case: Case, kind: str) -> Iterator[tuple[str, str]]:
    """Where a longer outage than a broker's death was stated: what that alone does."""
    if kind == "crash" or not case.cluster_in_sight or case.timed.setup.partition.replicas == 1:
        return
    setup, steps, load = _outage(case, "crash")
    figures = outage.play(setup, steps, load, case.context.remember)
    if figures.failed[1]:
        expired = f"{outage.count(figures.failed)} records {outage.rate_text(load)} expire"
        yield "when a broker dies", f"{_what('crash', figures)}; {expired}"


def _longer(key: str, needed_ms: int) -> Iterator[Edit]:
    if key == "request.timeout.ms":  # before 2.1 it is what makes a batch expire
        yield Edit(key, "producer", key, str(needed_ms))
        return
    for value in [one for one in TIMEOUTS_MS if one >= needed_ms][:2]:
        yield Edit(key, "producer", key, str(value))


# -- retries -----------------------------------------------------------------------------------------------


def _retries(deployment: Deployment, look: Reader, context: Context) -> Iterator[Judgement]:
    case = _case(deployment, look, context, "retries")
    if isinstance(case, Judgement):
        yield case
        return
    if case.timed.setup.client.acks == "0":
        return
    setup = case.timed.setup
    retries = setup.client.retries
    if retries is None or retries > RETRIES_AMPLE or setup.partition.replicas == 1:
        yield Judgement("holds", bounds="one clean stop, one crash")
        return
    load = outage.load_of(look)._replace(sized=False)
    for kind, steps in (("handover", outage.handover(setup)), ("crash", outage.crash(setup))):
        figures = outage.play(setup, steps, load, context.remember)
        if figures.failed[1]:
            yield _given_up(case, kind, steps, load, figures)
            return
    yield Judgement("holds", bounds="one clean stop, one crash")


def _given_up(
    case: Case, kind: str, steps: Sequence[Step], load: outage.Load, figures: outage.Figures
) -> Judgement:
    setting = case.setting("retries", "message.send.max.retries")
    assert setting is not None, "it is what is asked about"
    when = "whenever a broker is restarted" if kind == "handover" else "when a broker dies"
    many = Edit("retries", "producer", setting.key, "2147483647")
    hit = Hit(
        case.look.place(setting),
        (setting.key,),
        {
            "producer": _name(case),
            "key": setting.key,
            "value": str(setting.value),
            "failed": f"{outage.count(figures.failed)} records {outage.rate_text(load)}",
            "outage": when,
        },
        settings=(("producer", setting), *_stated(case, "records_per_second", "on_send_error")),
        numbers=(
            ("given up", f"{outage.count(figures.failed)} records {outage.rate_text(load)} {when}"),
            ("errors", ", ".join(figures.errors)),
            *_assumptions(case, load.assumptions),
        ),
        # With retries but without idempotence records may be stored twice or out of order.
        edits=(
            many,
            Edit("idempotence", "producer", "enable.idempotence", "true"),
            Edit("acks", "producer", "acks", "all"),
        ),
    )
    remember = case.context.remember
    trace = outage.told(case.timed.setup, steps, load, remember)
    faults = {"clean_stop": 1} if kind == "handover" else {"broker_crash": 1}
    again = _again(case, lambda other: outage.told(other.timed.setup, steps, load, remember))
    return Judgement("broken", hit, trace, faults=faults, bounds=outage.BOUNDS, again=again)


# -- buffer.memory -----------------------------------------------------------------------------------------


def _memory(deployment: Deployment, look: Reader, context: Context) -> Iterator[Judgement]:
    layer = look.layers.get("producer", {})
    keys = ("buffer.memory", "max.block.ms", "queue.buffering.max.kbytes", "queue.buffering.max.messages")
    load = outage.load_of(look)
    if not load.sized:
        if any(key in layer for key in keys[:2]) and context.part == "buffer":
            missing = tuple(
                f"[workload] {name}"
                for name in ("records_per_second", "record_bytes")
                if look.workload(name) is None
            )
            reason = f"how long {keys[0]} lasts in an outage depends on {' and '.join(missing)}"
            yield Judgement("unknown", depends_on=missing, reason=reason)
        return
    case = _case(deployment, look, context, *keys, *_SESSIONS)
    if isinstance(case, Judgement):
        yield case
        return
    if case.timed.setup.partition.replicas == 1:
        return
    yield from _filled(case, load)


def _filled(case: Case, load: outage.Load) -> Iterator[Judgement]:
    setup = case.timed.setup
    fence = outage.fenced_after(setup.cluster)[1] // MILLISECOND
    asked = [(fence + SLACK_MS, "crash", load)]
    if case.longest_outage is not None:
        asked.append((case.longest_outage + SLACK_MS, "silence", outage.load_of(case.look, "all")))
    blocking: Judgement | None = None
    for most, kind, load_then in sorted(asked, reverse=True):
        lasts_ms = outage.lasts(setup.client, load_then)
        if lasts_ms >= most:
            continue
        too_long = case.too_long_to_play(kind, lasts_ms + setup.client.max_block // MILLISECOND)
        if too_long is not None:
            yield too_long
            return
        played, steps = _struck(case, kind)
        figures = outage.play(played, steps, load_then, case.context.remember)
        refused = figures.refused[1] > 0
        if refused or (blocking is None and figures.blocked[1] >= BLOCKED_LONG_MS):
            trace = outage.told(played, steps, load_then, case.context.remember)
            found = _refused(case, kind, lasts_ms, most, load_then, trace, figures)
            if refused:
                # What refuses blocks as well: one of the two rules tells it.
                refusing = case.context.part == "buffer"
                yield found if refusing else Judgement("holds", bounds="as another rule tells it")
                return
            blocking = found
    if blocking is not None and case.context.part == "blocking":
        yield blocking
    else:
        yield Judgement("holds", bounds=f"outages of up to {max(asked)[0] / 1000:g} s at the stated rate")


def _refused(
    case: Case,
    kind: str,
    lasts_ms: int,
    most_ms: int,
    load: outage.Load,
    trace: tuple[Mapping[str, Any], ...],
    figures: outage.Figures,
) -> Judgement:
    memory = case.setting("buffer.memory", "queue.buffering.max.kbytes")
    block = case.setting("max.block.ms")
    assert memory is not None, "every client has one"
    when = _when(kind, bool(case.more))
    shown = [("producer", memory)] + ([("producer", block)] if block is not None else [])
    hit = Hit(
        case.look.place(memory, block),
        (memory.key,) if block is None else (memory.key, block.key),
        {
            "producer": _name(case),
            "key": memory.key,
            "value": str(memory.value),
            "fills": outage.seconds((lasts_ms, lasts_ms)),
            "stopped": outage.seconds(figures.stopped),
            "refused": f"{outage.count(figures.refused)} records",
            "blocked": outage.seconds(figures.blocked),
            "outage": when,
        },
        settings=(*shown, *_stated(case, "records_per_second", "record_bytes", "longest_outage")),
        numbers=(
            ("full after", outage.seconds((lasts_ms, lasts_ms))),
            ("nothing acknowledged for", outage.seconds(figures.stopped)),
            (
                "send() waits",
                f"{outage.seconds(figures.blocked)} in all, for every partition of the producer",
            ),
            ("refused", f"{outage.count(figures.refused)} records, one sending thread"),
            *_assumptions(case, load.assumptions),
        ),
        edits=tuple(_more_memory(case, load, most_ms)),
    )
    faults = {"broker_crash": 1} if kind == "crash" else {}
    remember = case.context.remember
    again = _again(case, lambda other: outage.told(*_struck(other, kind), load, remember))
    return Judgement("broken", hit, trace, faults=faults, bounds=outage.BOUNDS, again=again)


def _struck(case: Case, kind: str) -> tuple[Setup, Sequence[Step]]:
    setup = case.timed.setup
    if kind == "silence":
        return outage.silence(setup, case.played_outage * MILLISECOND)
    return setup, outage.crash(setup)


def _more_memory(case: Case, load: outage.Load, most_ms: int) -> Iterator[Edit]:
    client = case.timed.setup.client
    block = case.setting("max.block.ms")
    refusing = case.context.part == "buffer"
    if refusing and block is not None and client.max_block // MILLISECOND < most_ms:
        value = next((one for one in (60_000, *TIMEOUTS_MS) if one >= most_ms), None)
        if value is not None:
            yield Edit("max_block", "producer", block.key, str(value))
    wanted = outage.memory_for(client, load, most_ms)
    megabytes = next((1 << power for power in range(5, 11) if (1 << power) * MEGABYTE >= wanted), None)
    if megabytes is None:
        return
    if case.setting("buffer.memory") is not None:
        yield Edit("buffer_memory", "producer", "buffer.memory", str(megabytes * MEGABYTE))
    else:
        records = -(-int(load.rate * most_ms / 1000 * 1.5) // 10_000) * 10_000
        yield Edit("messages", "producer", "queue.buffering.max.messages", str(records))
        yield Edit("buffer_memory", "producer", "queue.buffering.max.kbytes", str(megabytes * 1024))


# -- what all have in common -------------------------------------------------------------------------------


def _name(case: Case) -> str:
    producer = case.look.deployment.producer
    return producer.name if producer is not None else "the producer"


def _stated(case: Case, *names: str) -> list[tuple[str, Setting]]:
    found = ((name, case.look.workload(name)) for name in names)
    return [("workload", stated(name, value)) for name, value in found if value is not None]


_LIBRDKAFKA = (
    "librdkafka from 2.3 on, with socket.max.fails=1, enable.gapless.guarantee=false and one partition a "
    "connection; of a new leader it hears as soon as a Java client does"
)


def _assumptions(case: Case, load: Sequence[str]) -> Iterator[tuple[str, str]]:
    said = list(load)
    on_error = case.look.workload("on_send_error")
    said.append(
        _ON_ERROR.get(str(on_error), "whoever ignores a failed send loses it ([workload] on_send_error)")
    )
    if case.timed.setup.client.batches_late:
        said.append(_LIBRDKAFKA)
    unseen = [one for one in case.timed.assumed if one.startswith(("replica", "broker.", "zookeeper."))]
    if unseen:
        said.append(f"not in sight, so assumed: {', '.join(unseen)}")
    yield "assumed", "; ".join(said)
