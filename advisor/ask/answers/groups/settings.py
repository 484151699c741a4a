"""Settings -> a group for the simulator: how its members read, and its sessions and intervals on the clock.

What is not in sight is the version's default and listed in `assumed`; what a template fills in is listed in
`unknown`, and nothing may be concluded from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ....accept.value.numbers import parse_duration
from ....context import Again, Context, Step
from ....guard.sources import code_digest
from ....join.effective import bounds_of
from ....join.reader import Reader, stated
from ....model import Deployment, Document, Edit, Location, Setting
from ....registry import function
from ....sim.groups.clock.phases import GroupSetup
from ....sim.groups.consumer import AFTER, AUTO, BEFORE, FIRST_OPEN, WITH_OUTPUT, Reading, Store
from ....syntax.numbers import COUNTS_MAX, LONG, integer
from ....tuples import NamedTuple

if TYPE_CHECKING:
    from ....sim.groups.plans import OwnAssignors

ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
# The few numbers that a person would write.
ROUND = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000)
STYLES = {
    "loop": "in the poll loop",
    "workers": "by workers",
    "before": "after the commit",
    "transaction": "in a transaction with their output",
    "external": "with offsets in a store of their own",
}
# What [workload] says of such a store.
STORE = ("offset_store", "offset_seek", "offset_fenced")


class Asked(NamedTuple):
    """One group of a deployment, and what is known of it."""

    document: Document
    look: Reader
    setup: GroupSetup
    style: str  # loop | workers | before | transaction | external
    style_stated: bool
    instance: str | None  # a literal group.instance.id
    assumed: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.document.name

    @property
    def librdkafka(self) -> bool:
        return self.document.client == "librdkafka"

    def shown(self, *keys: str, component: str = "consumer") -> tuple[tuple[str, Setting], ...]:
        found = [(component, self.look.setting(component, key)) for key in keys]
        return tuple((where, setting) for where, setting in found if setting is not None)

    def stated(self, *names: str) -> tuple[tuple[str, Setting], ...]:
        return tuple(
            ("workload", stated(name, self.look.workload(name)))
            for name in names
            if self.look.workload(name) is not None
        )

    def again(self, context: Context, play: Callable[[Asked], Sequence[Step]]) -> Again:
        """The same happens to the group of this name in another deployment."""

        def played(changed: Deployment) -> Sequence[Step]:
            found = next((one for one in groups_of(changed, context) if one.name == self.name), None)
            return play(found) if found is not None else ()

        return played

    def at(self, *keys: str) -> Location:
        """The first of these that is written in the group's own files, else the group itself."""
        for key in keys:
            setting = self.look.setting("consumer", key)
            if setting is not None and setting.origin.at is not None:
                return setting.origin.at
        return Location(self.document.file, self.document.line)

    @property
    def alone(self) -> bool:
        """Does it assign its partitions itself, so that no coordinator knows it?"""
        fact = next((fact for fact in self.document.facts if fact.name == "consumer.subscription"), None)
        told = fact.value if fact is not None else self.look.workload("subscription")
        return told == "assign"

    @property
    def store_unstated(self) -> tuple[str, ...]:
        """What nobody says of offsets that are kept outside of Kafka."""
        if self.setup.reading.store is None:
            return ()
        return tuple(name for name in STORE[1:] if self.look.workload(name) is None)

    @property
    def stores(self) -> tuple[Asked, ...]:
        """This group with every behaviour that its store may have, the best first; itself, if it has none."""
        found = [self]
        for name in self.store_unstated:
            field = {"offset_seek": "seeks", "offset_fenced": "fences"}[name]
            found += [one._with_store(field, False) for one in found]
        return tuple(found)

    def _with_store(self, field: str, value: bool) -> Asked:
        reading = self.setup.reading
        store = reading.store._replace(**{field: value}) if reading.store else None
        return self._replace(setup=self.setup._replace(reading=reading._replace(store=store)))

    @property
    def session_keys(self) -> tuple[str, str, str]:
        """Component and keys of the session and the heartbeat: with KIP-848 the brokers have them."""
        if self.setup.protocol == "consumer":
            return "broker", "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms"
        return "consumer", "session.timeout.ms", "heartbeat.interval.ms"

    def members(self) -> tuple[int, str]:
        """How many members the group has, and who says so ("": nobody)."""
        told = self.look.workload("members")
        if told is not None:
            return int(told), f"{told} ([workload] members)"
        facts = (*self.document.facts, *self.look.deployment.facts)
        fact = next((fact for fact in facts if fact.name == "group.members"), None)
        # None may be running now: a workload is scaled to zero.
        count = None if fact is None else integer(fact.value, (0, COUNTS_MAX[fact.name]))
        if count is not None:
            return count, f"{count} (concurrency, replicas or a stated fact)"
        return 1, ""

    def edits(self, *edits: Edit) -> tuple[Edit, ...]:
        """Changes of this group alone, of those that the deployment has."""
        if self.document.component != "consumer":
            return ()
        return tuple(edit._replace(of=(self.document.file, self.document.name)) for edit in edits)


# Every rule about groups is put to one deployment after the other: the last one is remembered.
_last: list[tuple[Deployment, tuple[Asked, ...]]] = []


def groups_of(deployment: Deployment, context: Context) -> tuple[Asked, ...]:
    if _last and _last[0][0] is deployment:
        return _last[0][1]
    found = tuple(
        asked(deployment, document, context)
        for document in deployment.groups
        if document.component == "consumer"
    )
    _last[:] = [(deployment, found)]
    return found


def asked(deployment: Deployment, document: Document, context: Context) -> Asked:
    look = Reader(deployment, context.clients, document)
    reader = _Reader(look)
    protocol = (reader.text("consumer", "group.protocol", "classic") or "classic").lower()
    classic = protocol != "consumer"
    strategies = reader.strategies(context.assignors) if classic else ("uniform",)
    defaults = GroupSetup()
    reset, _, duration = (reader.text("consumer", "auto.offset.reset", "latest") or "latest").partition(":")
    style = str(look.workload("processing") or "loop")
    setup = GroupSetup(
        protocol="classic" if classic else "consumer",
        strategies=strategies,
        own=_own(strategies, context.assignors),
        session_ms=reader.number("consumer", "session.timeout.ms", 45_000)
        if classic
        else reader.number("broker", "group.consumer.session.timeout.ms", 45_000),
        heartbeat_ms=reader.number("consumer", "heartbeat.interval.ms", 3_000)
        if classic
        else reader.number("broker", "group.consumer.heartbeat.interval.ms", 5_000),
        max_poll_interval_ms=reader.number("consumer", "max.poll.interval.ms", defaults.max_poll_interval_ms),
        initial_delay_ms=reader.number("broker", "group.initial.rebalance.delay.ms", 3_000),
        assignment_interval_ms=0
        if classic
        else reader.number(
            "broker", "group.consumer.assignment.interval.ms", defaults.assignment_interval_ms
        ),
        metadata_max_age_ms=reader.number("consumer", "metadata.max.age.ms", 300_000),
        reset={"smallest": "earliest", "beginning": "earliest", "largest": "latest", "end": "latest"}.get(
            reset, reset
        ),
        reset_duration_ms=_duration_ms(duration),
        reading=_reading(reader, style, classic, document),
        auto_commit_interval_ms=reader.number("consumer", "auto.commit.interval.ms", 5_000),
        process_ms=float(look.workload("processing_ms") or 0),
    )
    instance, _ = look.text("consumer", "group.instance.id")
    return Asked(
        document,
        look,
        setup,
        style,
        look.workload("processing") is not None,
        instance or None,
        tuple(reader.assumed),
        tuple(reader.unknown),
    )


def _duration_ms(text: str) -> int:
    """P7D, PT1H30M: the durations of by_duration, as java.time.Duration reads them; 0 for another text."""
    seconds = parse_duration(text.strip())
    return 0 if seconds is None or seconds < 0 else min(LONG[1], int(1000 * seconds))


def _reading(reader: _Reader, style: str, classic: bool, document: Document) -> Reading:
    automatic = reader.flag("consumer", "enable.auto.commit", True)
    librdkafka = document.client == "librdkafka"
    # librdkafka hands over one message at a time; the batches under it are not the application's.
    batch = 1 if librdkafka else reader.number("consumer", "max.poll.records", 500)
    commits = BEFORE if style == "before" else AUTO if automatic else AFTER
    if commits == AFTER and style == "transaction":
        commits = WITH_OUTPUT
    workload = reader.look.workload
    store = None
    if style == "external":
        commits = {"before-output": BEFORE, "after-output": AFTER}.get(
            str(workload("offset_store")), WITH_OUTPUT
        )
        seeks, fences = (workload(name) is not False for name in STORE[1:])
        store = Store(seeks, fences, auto_commit=automatic)
    return Reading(
        batch=max(1, batch),
        commits=commits,
        workers=style == "workers",
        late_commit=automatic and style != "before" and not classic and not librdkafka,
        carries=str(workload("workers_commit") or FIRST_OPEN) if style == "workers" else FIRST_OPEN,
        store=store,
    )


def _known(name: str) -> str:
    return ASSIGNORS.get(name, name)


def _own(strategies: tuple[str, ...], known: Mapping[str, str]) -> OwnAssignors | None:
    """The plugins' assignors among these; None if all are Kafka's."""
    mine = [name for name in strategies if name in known]
    if not mine:
        return None
    from ....sim.groups.plans import OwnAssignors

    functions = tuple((name, function(known[name], "plan")) for name in mine)
    return OwnAssignors(functions, " ".join(code_digest([known[name]]) for name in mine))


class _Reader:
    def __init__(self, look: Reader) -> None:
        self.look = look
        self.assumed: list[tuple[str, str]] = []
        self.unknown: list[str] = []

    def text(self, component: str, key: str, default: str) -> str | None:
        value, setting = self.look.text(component, key)
        if value is not None:
            return value
        if setting is not None:
            self.unknown.append(f"{component}.{key}")
            return None
        found = self.look.default(component, key) or default
        if component == "broker":
            self.assumed.append((f"broker {key}", found))
        return found

    def number(self, component: str, key: str, default: int) -> int:
        text = self.text(component, key, str(default))
        if text is None:
            return default
        number = integer(text, bounds_of(component, key, self.look.version_of(component)))
        if number is None:
            self.unknown.append(f"{component}.{key}")
        return default if number is None else number

    def flag(self, component: str, key: str, default: bool) -> bool:
        text = self.text(component, key, str(default).lower())
        return default if text is None else text.lower() == "true"

    def strategies(self, own: Mapping[str, str]) -> tuple[str, ...]:
        key = "partition.assignment.strategy"
        text = self.text("consumer", key, "range")
        if text is None:
            return ("range",)
        names = [one.strip() for one in text.strip("[]").split(",") if one.strip()]
        found = tuple(name if name in own else _known(name.rsplit(".", 1)[-1]) for name in names)
        if not found or any(name not in own and name not in ASSIGNORS.values() for name in found):
            # An assignor of somebody's own, and no plugin has its code: what it moves nobody can tell.
            self.unknown.append(f"consumer.{key}")
            return ("range",)
        return found


BATCH_PLAYED = 10_000


def smaller_batch(setup: GroupSetup) -> GroupSetup:
    """A batch of very many records as fewer that take as long in all, for the clock: what a group stumbles
    over is the time that a batch takes."""
    batch = setup.reading.batch
    if batch <= BATCH_PLAYED:
        return setup
    reading = setup.reading._replace(batch=BATCH_PLAYED)
    return setup._replace(reading=reading, process_ms=setup.process_ms * batch / BATCH_PLAYED)


def stands_before(one: Document, other: Document) -> bool:
    """What two documents have in common is told at the first of them."""
    return (one.file, one.line or 0) < (other.file, other.line or 0)


def round_down(number: float) -> int:
    """The largest number that a person would write and that is not above this one; 0 if there is none."""
    return max((one for one in ROUND if one <= number), default=0)


def round_up_ms(milliseconds: float) -> int:
    """The next whole 5 seconds, from a minute on the next whole minute."""
    unit = 60_000 if milliseconds > 60_000 else 5_000
    return int(-(-milliseconds // unit) * unit)


def seconds(milliseconds: float) -> str:
    """As a person says it: 250 ms, 4.5 s, 10 min, 36 h, 7 days."""
    for limit, unit, word in (
        (1_000, 1, "ms"),
        (120_000, 1_000, "s"),
        (2 * 3_600_000, 60_000, "min"),
        (2 * 86_400_000, 3_600_000, "h"),
    ):
        if milliseconds < limit:
            return f"{milliseconds / unit:.3g} {word}"
    return f"{milliseconds / 86_400_000:.3g} days"
