"""Transactions and the clock: how long an abandoned one hides what others wrote, work that is longer than its
timeout, names and sequences that brokers forget while a producer is idle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....context import Context, Hit, Judgement
from ....join.reader import Reader, stated
from ....model import Deployment, Document, Edit, Origin, Setting
from ....sim.transactions.step import TransactionPolicy
from ....syntax.numbers import integer
from ....tuples import NamedTuple
from .reads import is_transactional, isolation_of, names, readers

TIMEOUT = "transaction.timeout.ms"
MAXIMUM = "transaction.max.timeout.ms"
CHECK = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
# Values that people write, the longest first: the first that helps leaves the work the most time.
_TIMEOUTS = (300_000, 240_000, 180_000, 120_000, 60_000, 30_000, 10_000)
# How many records a poll brings, as people write it.
_POLLS = (500, 250, 200, 100, 50, 20, 10, 5, 2, 1)
# How long readers may wait before KA342 speaks, unless somebody says otherwise.
_READERS_LIMIT = 300_000
# Records of others that are drawn while an abandoned transaction holds the last stable offset.
_DRAWN = 4


def _timeout(look: Reader) -> tuple[int | None, Setting | None]:
    """As the producer sends it; None with two-phase commit (KIP-939), which has no timeout."""
    if look.flag("producer", "transaction.two.phase.commit.enable")[0]:
        return None, None
    return look.number("producer", TIMEOUT)


def check_of(look: Reader) -> tuple[int, Setting | None]:
    """How often the coordinator looks; the version's default where no broker is in sight, with its origin."""
    number, found = look.number("broker", CHECK)
    if number is not None:
        return number, found
    default = look.default("broker", CHECK) or "10000"
    note = f"default of {look.deployment.version}"
    return int(default), Setting(CHECK, default, Origin("assumed", None, note))


def pairs(*found: tuple[str, Setting | None]) -> tuple[tuple[str, Setting], ...]:
    return tuple((component, setting) for component, setting in found if setting is not None)


# -- how long readers wait ---------------------------------------------------------------------------------


def judge_pinned(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """A producer dies with a transaction open and does not come back under its name: read_committed readers
    of its partitions see nothing, from anybody, until the coordinator has aborted it."""
    look = Reader(deployment, context.clients)
    if deployment.producer is None or not is_transactional(look):
        return
    timeout, found = _timeout(look)
    limit = int(context.params.get("limit_ms", 300_000))
    if timeout is None:
        if found is not None:
            yield Judgement("unknown", reason=f"{TIMEOUT} is {found.value}", depends_on=(TIMEOUT,))
        return
    check, check_found = check_of(look)
    if timeout + check <= limit:
        yield Judgement("holds", bounds=_bounds(timeout, check), reason=None)
        return
    waiting = [one for one in readers(deployment) if _reads_committed(deployment, context, one) is True]
    if not waiting:
        sure = readers(deployment) and all(
            _reads_committed(deployment, context, one) is False for one in readers(deployment)
        )
        if not sure:
            reason = (
                f"readers with isolation.level = read_committed would wait for up to {told(timeout + check)}"
            )
            yield Judgement("unknown", reason=reason, depends_on=("isolation.level",))
        return
    yield _pinned(look, context, waiting[0], timeout, check, (found, check_found))


def _reads_committed(deployment: Deployment, context: Context, group: Document) -> bool | None:
    isolation, _ = isolation_of(Reader(deployment, context.clients, group), group)
    return None if isolation is None else isolation == "read_committed"


def _pinned(
    look: Reader,
    context: Context,
    group: Document,
    timeout: int,
    check: int,
    found: tuple[Setting | None, Setting | None],
) -> Judgement:
    run: Mapping[str, Any] = context.remember(
        "pinned", f"{timeout}|{check}", lambda: _abandoned(timeout, check)
    )
    least, most = run["least"], run["most"]
    limit = int(context.params.get("limit_ms", 300_000))
    rate = look.workload("records_per_second")
    numbers = [
        ("readers wait", f"{told(least - 1)} to {told(most)}"),
        ("limit", f"{told(limit)} ([params] limit_ms)"),
        ("assumed", "the producer does not come back under its transactional.id before"),
    ]
    if found[1] is not None and found[1].origin.kind == "assumed":
        numbers.append(("assumed too", f"{CHECK}={check}, the default of Kafka {look.deployment.version}"))
    if rate is not None:
        numbers.append(("records not shown", f"{int(float(rate) * most / 1000):,} at {rate:g} a second"))
    shorter = [value for value in _TIMEOUTS if value < timeout]
    edits = tuple(Edit("timeout", "producer", TIMEOUT, str(value)) for value in shorter)
    fewer, advice = _shorter_work(look, context, limit - check, check)
    hit = Hit(
        look.place(found[0]),
        (TIMEOUT,),
        {**names(look.deployment), "consumer": group.name, "most": told(most), "timeout": told(timeout)},
        pairs(
            ("producer", look.layers["producer"].get("transactional.id")),
            ("producer", found[0]),
            ("broker", found[1]),
            ("consumer", isolation_of(Reader(look.deployment, context.clients, group), group)[1]),
        ),
        numbers=(("spent", "producer_crash 1"), *numbers),
        edits=(*edits, *fewer),
        advice=advice,
    )
    return Judgement(
        "broken",
        hit,
        tuple(run["steps"]),
        {},
        {"producer_crash": 1},
        _bounds(timeout, check),
    )


def _abandoned(timeout: int, check: int) -> dict[str, Any]:
    """The least and the most that readers wait, and the run of the worst case."""
    from ....sim.transactions.timeline import Plan, in_time, pinned_range

    policy = TransactionPolicy()
    least, most = pinned_range(policy, timeout, check)
    gap = max(1, most // _DRAWN)
    first = timeout % check  # one of its looks falls on the timeout itself, which is not yet too old
    plan = Plan(timeout, check, first, timeout, crash_ms=0, gap_ms=gap, until_ms=most + gap)
    worst = in_time(policy, plan)
    return {"least": least, "most": most, "steps": [step.as_dict() for step in worst.steps]}


def _bounds(timeout: int, check: int) -> str:
    return f"one abandoned transaction, timeout {told(timeout)}, looked for every {told(check)}"


# -- work that does not fit its timeout --------------------------------------------------------------------


def judge_complete(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """Can work that takes the stated time be committed, and does a producer that was idle find its name?"""
    look = Reader(deployment, context.clients)
    if deployment.producer is None or not is_transactional(look):
        return
    if context.part == "refused":
        yield from _refused(look)
    elif context.part == "idle":
        yield from _forgotten(look)
    else:
        yield from _outlasted(look, context)


def _refused(look: Reader) -> Iterable[Judgement]:
    """A timeout beyond the coordinator's maximum: initTransactions fails."""
    timeout, found = _timeout(look)
    most, most_found = look.number("broker", MAXIMUM)
    if timeout is None:
        return
    if most is None:
        usual = integer(look.default("broker", MAXIMUM) or "") or timeout
        if timeout > usual:
            reason = f"{TIMEOUT}={timeout} is refused unless {MAXIMUM} is as long; its default is {usual}"
            yield Judgement("unknown", reason=reason, depends_on=(f"broker.{MAXIMUM}",))
        return
    if timeout <= most:
        yield Judgement("holds", bounds=f"timeout {told(timeout)}, at most {told(most)}")
        return
    fields = {**names(look.deployment), "timeout": str(timeout), "most": str(most)}
    kept = [most, *(value for value in _TIMEOUTS if value < most)]
    edits = [Edit("timeout", "producer", TIMEOUT, str(value)) for value in kept[:2]]
    edits += [Edit("maximum", "broker", MAXIMUM, str(timeout)), Edit("timeout", "producer", TIMEOUT, "60000")]
    shown = pairs(("producer", found), ("broker", most_found))
    numbers = (("initTransactions fails with", "InvalidTxnTimeoutException"),)
    also = tuple(one.origin.at for _, one in shown[1:] if one.origin.at is not None)
    hit = Hit(
        look.place(found),
        (TIMEOUT, MAXIMUM),
        fields,
        shown,
        numbers=numbers,
        also_at=also,
        edits=tuple(edits),
    )
    yield Judgement("broken", hit, bounds=f"timeout {told(timeout)}, at most {told(most)}")


def _outlasted(look: Reader, context: Context) -> Iterable[Judgement]:
    timeout, found = _timeout(look)
    work = _work(look, context)
    if timeout is None or work is None:
        return  # nothing points to it
    takes, words, settings, _ = work
    check, check_found = check_of(look)
    if takes <= timeout + 1:  # a look at that instant still finds it committed
        yield Judgement("holds", bounds=f"work of {told(takes)}, timeout {told(timeout)}")
        return
    steps = context.remember(
        "outlasted", f"{timeout}|{check}|{takes}", lambda: too_slow(timeout, check, takes)
    )
    number = look.version.number
    # With transaction.version 2 the transaction is over, before that its producer is (seen on 4.3 and 3.9).
    error = "ProducerFencedException"
    if number >= (4, 0):
        error = f"InvalidTxnStateException, or {error} below transaction.version 2"
    fields = {**names(look.deployment), "takes": told(takes), "timeout": told(timeout), "error": error}
    numbers = (
        ("spent", "none"),
        ("a transaction takes", words),
        ("aborted after", f"{told(timeout)} to {told(timeout + check)}"),
        ("the commit fails with", error),
    )
    edits, advice = longer_timeouts(look, timeout, takes)
    if readers(look.deployment):
        fewer, instead = _shorter_work(look, context, _READERS_LIMIT - check, check, timeout)
        edits, advice = (*edits, *fewer), () if fewer else instead or advice
    shown = (*pairs(("producer", found), ("broker", check_found)), *settings)
    hit = Hit(look.place(found), (TIMEOUT,), fields, shown, numbers=numbers, edits=edits, advice=advice)
    yield Judgement("broken", hit, tuple(steps), bounds=f"one transaction of {told(takes)}")


def longer_timeouts(look: Reader, timeout: int, takes: int) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """With half as much again to spare, in whole minutes; the brokers must allow it."""
    minute = 60_000
    values = [minute * -(-takes * 3 // (2 * minute)), minute * -(-takes // minute)]
    longer = [value for value in dict.fromkeys(values) if value > timeout]
    edits = [Edit("timeout", "producer", TIMEOUT, str(value)) for value in longer]
    most = int(look.default("broker", MAXIMUM) or 900_000)
    if look.in_sight("broker", MAXIMUM):
        edits += [Edit("maximum", "broker", MAXIMUM, str(value)) for value in longer if value > most]
        return tuple(edits), ()
    if longer and longer[0] > most:
        return tuple(edits), (f"the brokers must allow it: {MAXIMUM} is {most} unless somebody raised it",)
    return tuple(edits), ()


def _shorter_work(
    look: Reader, context: Context, longest: int, check: int, timeout: int | None = None
) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """Work that needs a longer timeout than readers can bear: no timeout suits both, so there must be less
    of it in one transaction: so little that the given timeout does, or the longest that readers can bear.
    Nothing if the work fits, or nobody says how long it takes."""
    work = _work(look, context)
    if work is None or work.takes <= longest:
        return (), ()
    if work.records:
        each = work.takes // work.records
        room = min(longest, timeout or longest)
        fewer = [count for count in _POLLS if count < work.records and count * each * 3 // 2 <= room]
        if fewer:
            return (Edit("records", "consumer", "max.poll.records", str(fewer[0])),), ()
    wait = told(work.takes + check)
    return (), (
        f"no {TIMEOUT} suits both: above {told(work.takes)} the work can be committed, but readers are shown "
        f"nothing for {wait} if the producer dies (KA342); with {told(longest)} or less they "
        f"go on in time, but the work is aborted (KA341)",
        f"commit more often, so that a transaction takes less than {told(longest)}; or, if readers may wait "
        f"for {wait}, say so in kafka-advisor.toml: [params.KA342] limit_ms = {work.takes + check}",
    )


def too_slow(timeout: int, check: int, takes: int) -> list[Mapping[str, Any]]:
    """The coordinator looks just after the timeout: the worst of its instants."""
    from ....sim.transactions.timeline import Plan, in_time

    first = (timeout + 1) % check
    plan = Plan(timeout, check, first, takes, gap_ms=0, until_ms=max(takes, timeout + check))
    return [step.as_dict() for step in in_time(TransactionPolicy(), plan).steps]


class Work(NamedTuple):
    """How long a transaction is open, in words too; `records` of a poll that make it up, 0 if it is none."""

    takes: int
    words: str
    settings: tuple[tuple[str, Setting], ...]
    records: int = 0


def _work(look: Reader, context: Context) -> Work | None:
    """As stated, else what one poll of the application's own consumer takes."""
    whole = look.workload("transaction_ms")
    if whole is not None:
        shown = (("workload", stated("transaction_ms", whole)),)
        return Work(int(whole), f"{told(int(whole))}, as stated", shown)
    each = look.workload("processing_ms")
    producer = look.deployment.producer
    if each is None or producer is None:
        return None
    pair = ("workload", stated("processing_ms", each))
    own = [group for group in readers(look.deployment) if group.file == producer.file]
    if not own:
        return Work(int(each), f"{told(int(each))}: one record", (pair,))
    group = own[0]
    batch = any(fact.name == "listener.type" and fact.value == "batch" for fact in group.facts)
    if group.client == "spring" and not batch:
        return Work(int(each), f"{told(int(each))}: one record, as a record listener commits", (pair,))
    records, found = Reader(look.deployment, context.clients, group).number("consumer", "max.poll.records")
    if records is None:
        return None
    words = f"{told(int(each) * records)}: {records} records of one poll, {told(int(each))} each"
    return Work(int(each) * records, words, (pair, *pairs(("consumer", found))), records)


# -- what brokers forget -----------------------------------------------------------------------------------

EXPIRATION = "transactional.id.expiration.ms"


def _forgotten(look: Reader) -> Iterable[Judgement]:
    """A name that began no transaction for so long is forgotten, with its producer id."""
    idle = look.workload("longest_idle")
    keeps, found = look.number("broker", EXPIRATION)
    if idle is None or keeps is None:
        return
    if int(idle) < keeps:
        yield Judgement("holds", bounds=f"idle for {told(int(idle))}, remembered for {told(keeps)}")
        return
    number = look.version.number
    if number >= (4, 0):
        after = "the producer must be closed and made anew"
    elif number >= (2, 5):
        after = "the application has to abort and begin again"
    else:
        after = "the producer must be closed and made anew (KIP-360 mends it from 2.5)"
    fields = {**names(look.deployment), "idle": told(int(idle)), "keeps": told(keeps), "after": after}
    numbers = (
        ("idle for", f"{told(int(idle))}, as stated"),
        ("remembered for", told(keeps)),
        ("the next send fails with", "InvalidPidMappingException"),
    )
    week = 604_800_000
    better = [value for value in (week, 2 * week, 4 * week) if value > int(idle)]
    edits = tuple(Edit("expiration", "broker", EXPIRATION, str(value)) for value in better)
    shown = (*pairs(("broker", found)), ("workload", stated("longest_idle", idle)))
    hit = Hit(look.place(found), (EXPIRATION,), fields, shown, numbers=numbers, edits=edits)
    yield Judgement("broken", hit, bounds=f"idle for {told(int(idle))}")


MEMORY = "producer.id.expiration.ms"


def judge_recognised(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """Does the leader still know a batch that is sent again as late as the producer may?"""
    look = Reader(deployment, context.clients)
    keeps, found = look.number("broker", MEMORY)
    if keeps is None or not look.is_set("broker", MEMORY):
        return  # a day by default: nobody retries for so long
    if deployment.producer is not None and deployment.producer.client != "librdkafka":
        delivery, delivery_found = look.number("producer", "delivery.timeout.ms")
    else:
        delivery, delivery_found = None, None
    assumed = delivery is None
    if delivery is None:
        delivery = int(look.default("producer", "delivery.timeout.ms") or 120_000)
    if delivery < keeps:
        yield Judgement("holds", bounds=f"retries for {told(delivery)}, remembered for {told(keeps)}")
        return
    steps = context.remember("forgotten", f"{keeps}|{delivery}", lambda: _stored_again(keeps, delivery))
    numbers = [("spent", "lost_response 1"), ("retries for", told(delivery)), ("remembered for", told(keeps))]
    if assumed:
        numbers.append(("assumed", f"delivery.timeout.ms={delivery}, the default"))
    hit = Hit(
        look.place(found),
        (MEMORY,),
        {**names(deployment), "keeps": told(keeps), "delivery": told(delivery)},
        pairs(("broker", found), ("producer", delivery_found)),
        numbers=tuple(numbers),
        edits=(Edit("memory", "broker", MEMORY, "86400000"),),
    )
    yield Judgement(
        "broken", hit, tuple(steps), {}, {"lost_response": 1}, f"one batch, retried for {told(delivery)}"
    )


def _stored_again(keeps: int, delivery: int) -> list[Mapping[str, Any]]:
    """The leader looks just when the producer is old enough: the worst of its instants."""
    from ....sim.producer.memory import retry_in_time

    return list(retry_in_time(keeps, max(1, keeps), keeps, delivery).steps)


def told(ms: int) -> str:
    """A duration as a person says it: 90 s, 15 min, 7 d."""
    for unit, name in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min")):
        if ms >= unit and ms % unit == 0:
            return f"{ms // unit} {name}"
    if ms >= 120_000:
        return f"{ms // 60_000} min {ms % 60_000 / 1000:g} s"
    return f"{ms / 1000:g} s" if ms >= 1_000 else f"{ms} ms"
