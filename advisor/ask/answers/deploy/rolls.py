"""A group's members moved from one configuration to another, one by one, through the simulator's coordinator.

What is not in sight is assumed and said so: three members, two partitions for each, brokers as the version
has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ....catalog import Version
from ....context import Hit, Judgement
from ....join.reader import Reader
from ....model import Change, Document, Fix, Location, Setting
from ....syntax.numbers import integer
from ....tuples import NamedTuple
from ..assignor_moves import NAMES, STRATEGY, advice, lists_between, written
from ..groups.protocol import MIGRATION_POLICY, brokers_of, refusal
from ..roll_trace import roll_trace
from .static_members import static_members_moved

if TYPE_CHECKING:
    from ....sim.assign.assignors import Assignor
    from ....sim.groups.roll import Kind, Roll

Numbers = tuple[tuple[str, str], ...]

GUARANTEE = "deploy-safe"
SAFE_ROLL = "safe-roll"
MEMBERS, EACH = 3, 2
MEMBERS_MAX, PARTITIONS_MAX = 12, 96  # beyond that nothing new happens, and the run would not fit a page

_LIBRDKAFKA_STRATEGY = "range,roundrobin"


class Side(NamedTuple):
    """One document in its deployment, as it was or as it is to be."""

    document: Document
    look: Reader
    version: Version  # of the client for clients, of the cluster for the others
    own: Mapping[str, Assignor] = {}  # assignors of plugins, by their class
    # Of plugins: the code behind a partitioner.class.
    partitioner: Callable[[str], Callable[[bytes, int], int] | None] = lambda name: None


def place_of(side: Side, *settings: Setting | None) -> Location:
    for setting in settings:
        if setting is not None and setting.origin.at is not None:
            return setting.origin.at
    return Location(side.document.file, side.document.line)


def change(side: Side, key: str, after: str | None) -> Change:
    """A line of the new side's own file."""
    setting = next((s for s in side.document.settings if s.key == key), None)
    at = setting.origin.at if setting is not None else None
    if setting is None or at is None:
        return Change(side.document.component, key, None, after, side.document.file, None, "add")
    action = "set" if after is not None else "remove"
    return Change(side.document.component, key, str(setting.value), after, at.file, at.line, action)


def strategies_of(side: Side) -> tuple[tuple[str, ...], Setting | None] | None:
    """Names of the assignors in order, a class of one's own by its class name; None if it is templated."""
    if side.document.client == "librdkafka":
        given = next((s for s in side.document.settings if s.key == STRATEGY), None)
        text: object = _LIBRDKAFKA_STRATEGY if given is None else given.value
    else:
        text, given = side.look.text("consumer", STRATEGY)
    if not isinstance(text, str):
        return None
    words = (word.strip() for word in text.split(","))
    return tuple(NAMES.get(word, word) for word in words if word), given


def _kind(side: Side) -> Kind | None:
    from ....sim.groups.roll import CLASSIC, Kind

    found = strategies_of(side)
    protocol, setting = side.look.text("consumer", "group.protocol")
    if found is None or (protocol is None and setting is not None):
        return None
    static = side.look.is_set("consumer", "group.instance.id")
    return Kind(found[0], static, (protocol or CLASSIC).lower())


def rolled(old: Side, new: Side) -> Iterator[Judgement]:
    before, _ = old.look.text("consumer", "group.id")
    after, named = new.look.text("consumer", "group.id")
    if before and after and before != after:
        yield _renamed(old, new, before, after, named)
        return
    was, is_now, brokers = _kind(old), _kind(new), brokers_of(new.look)
    if was is None or is_now is None or brokers is None:
        return
    from ....sim.groups.classic import INCONSISTENT
    from ....sim.groups.roll import CLASSIC, CONSUMER, roll

    members, partitions, numbers = _size(new.look)
    run = roll(was, is_now, members, partitions, brokers, new.own)
    numbers += (("running at worst", f"{run.fewest} of {members}"),)
    if run.refused == INCONSISTENT and was.protocol == CLASSIC:
        yield _two_bounces(old, new, run, members, partitions, numbers)
    elif run.refused is not None:
        yield _protocol_refused(new, run, (was.protocol, is_now.protocol), numbers)
    elif run.ghosts:
        yield _ghosts(old, new, run, CONSUMER in (was.protocol, is_now.protocol), numbers)
    elif was.static and is_now.static and (was.protocol, is_now.protocol) == (CLASSIC, CONSUMER):
        yield from static_members_moved(new, place_of(new, new.look.setting("consumer", "group.protocol")))
    if run.stranded:
        yield _stranded(new, run, numbers[:2])
    elif run.refused is None and not run.ghosts and _differs(old, new):
        moved = {"members": str(members)}
        yield Judgement("holds", Hit(place_of(new), (), moved, numbers=numbers, check=SAFE_ROLL))
    if CONSUMER in (was.protocol, is_now.protocol):
        return
    cost = roll(was, was, members, partitions, own=new.own).revoked
    later = roll(is_now, is_now, members, partitions, own=new.own)
    cost_now = later.revoked
    if cost_now > cost and run.refused is None and not run.ghosts:
        told = (*numbers[:2], ("partitions given up in a roll", f"{cost_now}, before {cost}"))
        yield _dearer(old, new, cost, later, told)


def _differs(old: Side, new: Side) -> bool:
    """There is something to deploy."""
    before, after = ({s.key: s.value for s in side.document.settings} for side in (old, new))
    return before != after or old.version.release != new.version.release


def _size(look: Reader) -> tuple[int, int, Numbers]:
    stated = look.workload("members")
    members = stated if isinstance(stated, int) and stated > 0 else look.count("group.members")
    partitions = look.count("topic.partitions")
    told = (
        ("members", str(members) if members else f"{MEMBERS} (assumed)"),
        ("partitions", str(partitions) if partitions else f"{(members or MEMBERS) * EACH} (assumed)"),
    )
    members = members or MEMBERS
    return min(members, MEMBERS_MAX), min(partitions or members * EACH, PARTITIONS_MAX), told


def _shown(*settings: Setting | None) -> tuple[tuple[str, Setting], ...]:
    return tuple(("consumer", setting) for setting in settings if setting is not None)


def _two_bounces(
    old: Side, new: Side, run: Roll, members: int, partitions: int, numbers: Numbers
) -> Judgement:
    before, _ = strategies_of(old) or ((), None)
    after, now = strategies_of(new) or ((), None)
    librdkafka = new.document.client == "librdkafka"
    lists = lists_between(before, after, librdkafka)
    fixes: tuple[Fix, ...] = ()
    if len(lists) > 1:
        price = f"a second roll, to {', '.join(after)} alone, ends the move"
        first = change(new, STRATEGY, written(lists[0], librdkafka))
        fixes = (Fix((first,), (GUARANTEE,), price, True),)
    hit = Hit(
        place_of(new, now),
        (STRATEGY,),
        {"old": ", ".join(before), "new": ", ".join(after), "resource": new.document.name},
        _shown(now),
        fixes,
        numbers,
        check="roll-stops-group",
        advice=advice(before, after, librdkafka),
    )
    return Judgement("broken", hit, roll_trace(run))


def _protocol_refused(new: Side, run: Roll, protocols: tuple[str, str], numbers: Numbers) -> Judgement:
    from ....sim.groups.roll import CLASSIC, UNSUPPORTED

    _, protocol = new.look.text("consumer", "group.protocol")
    _, policy = new.look.text("broker", MIGRATION_POLICY)
    if run.refused == UNSUPPORTED:
        reason = refusal(new.look)
        advice = ["upgrade the brokers to 4.0 or later first, then the consumers"]
    else:
        reason = f"{MIGRATION_POLICY} lets no running classic group become a consumer group"
        if protocols[1] == CLASSIC:
            reason = f"{MIGRATION_POLICY}=disabled lets no classic member into a running consumer group"
        advice = [
            f"set {MIGRATION_POLICY}=bidirectional on every broker before the roll",
            "or stop every member of the group before the first is started with the new protocol",
        ]
    hit = Hit(
        place_of(new, protocol),
        ("group.protocol",),
        {"reason": reason, "resource": new.document.name, "old": protocols[0], "new": protocols[1]},
        (*_shown(protocol), *((("broker", policy),) if policy is not None else ())),
        (),
        numbers,
        check="consumer-protocol-refused",
        advice=tuple(advice),
    )
    return Judgement("broken", hit, roll_trace(run))


def _stranded(new: Side, run: Roll, numbers: Numbers) -> Judgement:
    _, protocol = new.look.text("consumer", "group.protocol")
    policy, setting = new.look.text("broker", MIGRATION_POLICY)
    hit = Hit(
        place_of(new, protocol),
        ("group.protocol",),
        {"policy": str(policy), "resource": new.document.name},
        (*_shown(protocol), *((("broker", setting),) if setting is not None else ())),
        (),
        numbers,
        check="nobody-takes-over",
        advice=(
            f"set {MIGRATION_POLICY}=bidirectional on every broker before the roll",
            "or stop every member of the group before the first is started with the classic protocol",
        ),
    )
    return Judgement("broken", hit, roll_trace(run))


def _ghosts(old: Side, new: Side, run: Roll, by_broker: bool, numbers: Numbers) -> Judgement:
    protocol, _ = old.look.text("consumer", "group.protocol")
    if (protocol or "").lower() == "consumer":
        component, key = "broker", "group.consumer.session.timeout.ms"
    else:
        component, key = "consumer", "session.timeout.ms"
    session, setting = old.look.number(component, key)
    if session is None and setting is None:
        session = integer(old.look.default(component, key) or "")
    waits = f"{session / 1000:g} s" if session else key
    instance = next((s for s in old.document.settings if s.key == "group.instance.id"), None)
    # A template is put back as it was written.
    written = getattr(instance.value, "template", instance.value) if instance is not None else None
    back = [change(new, "group.instance.id", str(written))] if written is not None else []
    what = "what that had is unread for" if by_broker else "the whole group waits for it for"
    times = "one member's partitions are unread" if by_broker else "waits of the whole group"
    hit = Hit(
        place_of(new),
        ("group.instance.id",),
        {"waits": waits, "what": what, "resource": new.document.name},
        (*_shown(instance), *(((component, setting),) if setting is not None else ())),
        (Fix(tuple(back), (GUARANTEE,), None, True),) if back else (),
        (*numbers, (times, f"{run.ghosts} times up to {waits}")),
        check="static-id-dropped",
        advice=("or remove each old instance first: Admin.removeMembersFromConsumerGroup",),
    )
    return Judgement("broken", hit, roll_trace(run))


def _dearer(old: Side, new: Side, cost: int, later: Roll, numbers: Numbers) -> Judgement:
    now = next((s for s in new.document.settings if s.key in (STRATEGY, "group.instance.id")), None)
    key = STRATEGY if strategies_of(old) != strategies_of(new) else "group.instance.id"
    fields = {"cost": str(later.revoked), "before": str(cost), "resource": new.document.name}
    before = next((s for s in old.document.settings if s.key == key), None)
    kept = Fix((change(new, key, str(before.value)),), (GUARANTEE,), None, True) if before else None
    hit = Hit(
        place_of(new, now),
        (key,),
        fields,
        _shown(now),
        (kept,) if kept else (),
        numbers,
        check="rolls-cost-more",
        advice=() if kept else ("name cooperative-sticky alone, or give each member a group.instance.id",),
    )
    return Judgement("broken", hit, roll_trace(later))


_RESTARTS = {
    "latest": ("what was not read yet, and what is written before it polls, is skipped", ""),
    "earliest": ("every record that is still kept is processed again", ""),
    "none": ("it finds no offset and stops", "no offset"),
}


def _renamed(old: Side, new: Side, before: str, after: str, named: Setting | None) -> Judgement:
    """A new name is a new group: it has no offsets, so auto.offset.reset decides where it starts."""
    from ....sim.groups.consumer import NEVER, start

    reset, setting = new.look.text("consumer", "auto.offset.reset")
    written, committed = 10, 7
    begins = start(reset, NEVER, 0, written, None) if reset in ("latest", "earliest") else None
    effect, where = _RESTARTS.get(reset or "", ("where it starts is up to the reset", "unknown"))
    if begins is not None:
        where = f"starts at {begins}"
    cells = {"log end": str(written), before: f"committed {committed}"}
    steps: list[Mapping[str, Any]] = [
        {
            "step": 1,
            "event": {"name": "stop", "text": f"stop {before}"},
            "effects": [],
            "state": {"kind": "group", "cells": cells},
        },
        {
            "step": 2,
            "event": {"name": "start", "text": f"start {after}"},
            "effects": [effect],
            "state": {"kind": "group", "cells": {**cells, after: where}},
        },
    ]
    hit = Hit(
        place_of(new, named),
        ("group.id",),
        {"old": before, "new": after, "effect": effect, "resource": new.document.name},
        _shown(named, setting),
        (Fix((change(new, "group.id", before),), (GUARANTEE,), None, True),),
        (("auto.offset.reset", reset or "unknown"),),
        severity="warning" if reset == "earliest" else None,
        check="group-renamed",
        advice=(
            "to keep the new name, stop the old group and copy its offsets: "
            f"kafka-consumer-groups.sh --group {before} --all-topics --reset-offsets --to-current --dry-run "
            f"--export > offsets.csv, then --group {after} --reset-offsets --from-file offsets.csv --execute",
        ),
    )
    return Judgement("broken", hit, tuple(steps))
