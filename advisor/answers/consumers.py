"""every-record-processed and processed-once: what a group passes over and what it does twice.

The rule that asks says in `params.by` which way of losing a record it is about:

    style       commits before the work, or beside workers that are busy (searched)
    race        auto-commit of the consumer protocol around a poll (searched; REAL: 4.3.1)
    stored      librdkafka stores an offset when it hands the message over (searched as a race)
    growth      a partition is added and auto.offset.reset=latest begins at its end (on the clock)
    expiry      the group is away for longer than its offsets are kept (arithmetic)
    retention   the group is away for longer than its records are kept (arithmetic)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..context import Context, Hit, Judgement
from ..model import Deployment, Edit
from ..sim.group_phases import GroupSetup, Phase
from .group_settings import STYLES, Asked, groups_of, seconds

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
# Below these nobody would expect an application to be back in time; above, only a stated outage counts.
SHORT_OFFSETS = 7 * DAY
SHORT_RETENTION = DAY


def judge(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    by = _PROCESSED[str(context.params.get("by", "style"))]
    for group in groups_of(deployment, context):
        yield from by(group, context)


def judge_once(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """Asked only where exactly-once is claimed."""
    for group in groups_of(deployment, context):
        if group.look.workload("exactly_once") is True:
            yield from _searched(group, context, "processed_once", _once)


# -- the searched ones -------------------------------------------------------------------------------------


def _style(group: Asked, context: Context) -> Iterable[Judgement]:
    elsewhere = group.setup.protocol == "consumer" or group.librdkafka
    if group.setup.reading.commits == "auto" and group.style == "loop" and elsewhere:
        return  # what is lost there has a rule of its own
    yield from _searched(group, context, "every_record_processed", _skips)


def _race(group: Asked, context: Context) -> Iterable[Judgement]:
    if group.setup.reading.late_commit and group.style == "loop":
        yield from _searched(group, context, "every_record_processed", _races)


def _stored(group: Asked, context: Context) -> Iterable[Judgement]:
    look = group.look
    automatic, setting = look.flag("consumer", "enable.auto.commit")
    stores, _ = look.text("consumer", "enable.auto.offset.store")
    if not group.librdkafka or group.style != "loop" or (stores or "true").lower() != "true":
        return
    if automatic is False or (setting is not None and automatic is None):
        return
    # A message counts as done when it is handed over: what KIP-848's race does now and then, always.
    late = group._replace(setup=group.setup._replace(reading=group.setup.reading._replace(late_commit=True)))
    written = look.is_set("consumer", "enable.auto.commit")
    yield from _searched(late, context, "every_record_processed", _stores(written))


def _searched(
    group: Asked, context: Context, question: str, hit: Callable[[Asked, dict[str, Any]], Hit]
) -> Iterable[Judgement]:
    deciding = {"consumer.enable.auto.commit", "consumer.group.protocol", "consumer.enable.auto.offset.store"}
    unknown = tuple(sorted(deciding & set(group.unknown)))
    if unknown:
        yield Judgement("unknown", reason=f"{', '.join(unknown)} is a template", depends_on=unknown)
        return
    setup = group.setup
    cooperative = all(name == "cooperative-sticky" for name in setup.strategies)
    faults = {name: int(count) for option in context.faults for name, count in option.items()}
    reading = setup.reading._replace(batch=min(setup.reading.batch, 2))
    mark = repr((setup.protocol, cooperative, reading, sorted(faults.items())))

    def search() -> dict[str, Any]:
        from ..sim import group_questions
        from ..sim.group_model import GroupPolicy

        policy = GroupPolicy(setup.protocol, cooperative or setup.protocol == "consumer", reading)
        answer = getattr(group_questions, question)(policy, faults)
        return {**answer._asdict(), "bounds": group_questions.BOUNDS}

    found = context.remember(question, mark, search)
    common = {"faults": faults, "bounds": found["bounds"], "states": found["states"]}
    if found["verdict"] == "broken":
        yield Judgement("broken", hit(group, found), tuple(found["trace"]), **common)
    else:
        yield Judgement(found["verdict"], reason=found["reason"] or None, **common)


def _numbers(group: Asked, found: dict[str, Any], *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    origin = "stated" if group.style_stated else "assumed: [workload] processing is not stated"
    spent = ", ".join(f"{name} {count}" for name, count in sorted(found["faults"].items()))
    return (
        ("spent", spent or "none"),
        ("records are processed", f"{STYLES[group.style]} ({origin})"),
        *more,
        ("what happened", str(found["reason"])),
    )


def _at_stake(group: Asked) -> tuple[str, str]:
    batch = group.setup.reading.batch
    return "records at stake in one crash", f"up to {batch} (max.poll.records)" if batch > 1 else "1"


def _no_auto_commit(group: Asked) -> tuple[Edit, ...]:
    return group.edits(Edit("commits", "consumer", "enable.auto.commit", "false"))


def _skips(group: Asked, found: dict[str, Any]) -> Hit:
    if group.style == "before":
        cause = "commits before it processes"
        edits: tuple[Edit, ...] = ()
        advice = ("commit after the work is done: poll, process, then commitSync() or acknowledge()",)
    else:
        cause = "auto-commits while workers are busy"
        edits = _no_auto_commit(group)
        advice = (
            "with enable.auto.commit=false commit only up to the first record that no worker has finished",
        )
    return Hit(
        group.at("enable.auto.commit", "group.id"),
        ("enable.auto.commit",),
        {"group": group.name, "cause": cause},
        (*group.shown("enable.auto.commit", "max.poll.records"), *group.stated("processing")),
        numbers=_numbers(group, found, _at_stake(group)),
        edits=edits,
        advice=advice,
    )


def _races(group: Asked, found: dict[str, Any]) -> Hit:
    return Hit(
        group.at("enable.auto.commit", "group.protocol"),
        ("enable.auto.commit", "group.protocol"),
        {"group": group.name},
        group.shown("group.protocol", "enable.auto.commit", "auto.commit.interval.ms", "max.poll.records"),
        numbers=_numbers(
            group,
            found,
            _at_stake(group),
            ("seen on a real 4.3.1 cluster", "8 of 10 crashes skipped the batch in hand"),
        ),
        edits=(
            *_no_auto_commit(group),
            *group.edits(Edit("protocol", "consumer", "group.protocol", "classic")),
        ),
        advice=("with enable.auto.commit=false commit after each batch: commitSync()",),
    )


def _stores(written: bool) -> Callable[[Asked, dict[str, Any]], Hit]:
    def hit(group: Asked, found: dict[str, Any]) -> Hit:
        return Hit(
            group.at("enable.auto.commit", "enable.auto.offset.store"),
            ("enable.auto.commit", "enable.auto.offset.store"),
            {"group": group.name},
            group.shown("enable.auto.commit", "enable.auto.offset.store"),
            numbers=_numbers(
                group, found, ("records at stake in one crash", "those handed over and not done")
            ),
            severity="warning" if written else None,
            edits=group.edits(
                Edit("stores", "consumer", "enable.auto.offset.store", "false"),
                Edit("commits", "consumer", "enable.auto.commit", "false"),
            ),
            advice=("call store_offsets() (or commit()) after the work on a message is done",),
        )

    return hit


def _once(group: Asked, found: dict[str, Any]) -> Hit:
    edits = _no_auto_commit(group) if group.style == "transaction" else ()
    return Hit(
        group.at("enable.auto.commit", "group.id"),
        ("enable.auto.commit",),
        {"group": group.name},
        (*group.shown("enable.auto.commit", "isolation.level"), *group.stated("exactly_once", "processing")),
        numbers=_numbers(group, found, _at_stake(group)),
        edits=edits,
        advice=(
            "make output and offsets take effect together: a transactional producer with "
            "sendOffsetsToTransaction(), or a store that keeps the offset beside the result; "
            'then state [workload] processing = "transaction"',
        ),
    )


# -- a partition is added ----------------------------------------------------------------------------------


def _growth(group: Asked, context: Context) -> Iterable[Judgement]:
    setup = group.setup
    if "consumer.auto.offset.reset" in group.unknown:
        depends = ("consumer.auto.offset.reset",)
        yield Judgement("unknown", reason="consumer.auto.offset.reset is a template", depends_on=depends)
        return
    if setup.reset != "latest":
        return
    # Only that the reset is written makes it more than a note: it is Kafka's default.
    written = group.look.is_set("consumer", "auto.offset.reset")
    small = setup._replace(partitions=2, process_ms=0, reading=setup.reading._replace(batch=500))
    found = context.remember("growth", repr(small), lambda: _grown(small))
    window = found["window_ms"]
    rate = group.look.workload("records_per_second")
    numbers = [("a new partition is unread for", f"up to {seconds(window)}")]
    if rate is not None:
        partitions = group.look.count("topic.partitions") or 1
        lost = int(float(rate) * window / 1000 / (partitions + 1))
        numbers.append(("records skipped in one added partition", f"up to {lost} (at {rate} a second)"))
    numbers.append(("assumed", "two members; records go to the new partition at once"))
    keys = ("auto.offset.reset", "metadata.max.age.ms")
    hit = Hit(
        group.at(*keys),
        ("auto.offset.reset",),
        {"group": group.name, "window": seconds(window)},
        group.shown(*(keys if setup.protocol == "classic" else keys[:1])),
        numbers=tuple(numbers),
        severity=None if written else "note",
        edits=group.edits(Edit("reset", "consumer", "auto.offset.reset", "earliest")) if written else (),
        advice=(
            *(
                ()
                if written
                else ("set auto.offset.reset=earliest, unless a new group is to begin at the end",)
            ),
            "stop the group before partitions are added, or commit offset 0 for them first",
        ),
    )
    yield Judgement("broken", hit, tuple(found["trace"]), faults={"partition_growth": 1})


def _grown(setup: GroupSetup) -> dict[str, Any]:
    """Two members own a partition each; two more are added and written to at once."""
    from ..sim.group_phases import GRID

    window, told = max((_grown_in(setup, phase) for phase in GRID), key=lambda pair: pair[0])
    first = {
        "t_ms": 0,
        "event": {"name": "partition_growth", "text": "p2 and p3 are added, r0 is written to each"},
        "effects": [],
        "state": {"kind": "group", "cells": {"m0": "p0", "m1": "p1"}},
    }
    after = [dict(step) for step in told]
    if after:
        after[-1]["effects"] = ["p2 and p3 are read from their end: r0 is skipped"]
    return {
        "window_ms": window,
        "trace": [{**step, "step": number} for number, step in enumerate([first, *after], 1)],
    }


def _grown_in(setup: GroupSetup, phase: Phase) -> tuple[int, tuple[dict[str, Any], ...]]:
    from ..sim.group_story import story
    from ..sim.group_timeline import GroupRun

    run = GroupRun(setup, phase)
    run.narrates = True
    run.committed = (0, 0)
    nodes = [run.start("m0"), run.start("m1", delay=phase.open)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), 60_000)
    run.to_beat(nodes[0])
    at = run.clock.now
    run.grow(4)
    for partition in (2, 3):
        run.produce(partition)
    run.until(lambda: run.owned_by(nodes) == 4, 2 * setup.metadata_max_age_ms + 60_000)
    return run.clock.now - at, story(run, at)


# -- the group is away -------------------------------------------------------------------------------------


def _expiry(group: Asked, context: Context) -> Iterable[Judgement]:
    look = group.look
    minutes, setting = look.number("broker", "offsets.retention.minutes")
    if minutes is None:
        return
    kept = minutes * MINUTE
    away = look.workload("longest_outage")
    if away is None:
        if kept < SHORT_OFFSETS and look.is_set("broker", "offsets.retention.minutes"):
            yield Judgement(
                "unknown",
                reason=f"offsets are kept for {seconds(kept)} while the group is away",
                depends_on=("[workload] longest_outage",),
            )
        return
    if int(away) <= kept:
        yield Judgement("holds", bounds=f"the group is away for {seconds(int(away))}")
        return
    reset = group.setup.reset
    if reset == "earliest":
        return  # re-reads everything, skips nothing
    what = "stops with an exception" if reset == "none" else "begins at the end and skips what it missed"
    days = -(-int(away) // DAY) * 2
    hit = Hit(
        look.place(setting),
        ("offsets.retention.minutes", "auto.offset.reset"),
        {"group": group.name, "kept": seconds(kept), "what": what},
        (
            *group.shown("offsets.retention.minutes", component="broker"),
            *group.shown("auto.offset.reset"),
            *group.stated("longest_outage"),
        ),
        numbers=(("offsets are kept for", seconds(kept)), ("the group may be away for", seconds(int(away)))),
        edits=(
            Edit("offsets", "broker", "offsets.retention.minutes", str(days * DAY // MINUTE)),
            *group.edits(Edit("reset", "consumer", "auto.offset.reset", "earliest")),
        ),
    )
    yield Judgement("broken", hit, _away_trace(kept, int(away), reset), faults={"group_downtime": 1})


def _away_trace(kept: int, away: int, reset: str) -> tuple[dict[str, Any], ...]:
    """The three moments of an absence; the positions are those of a partition that goes on being written."""
    end = "NoOffsetForPartitionException" if reset == "none" else "reads from 20: 10 to 19 are skipped"
    return (
        _moment(1, 0, "the group stops at offset 10", "10", []),
        _moment(2, kept, "its offsets expire", "-", ["deleted the committed offset"]),
        _moment(3, away, "the group starts again, the log ends at 20", "-", [end]),
    )


def _moment(step: int, at: int, text: str, committed: str, effects: list[str]) -> dict[str, Any]:
    return {
        "step": step,
        "t_ms": at,
        "event": {"name": text.split(" ")[1], "text": text},
        "effects": effects,
        "state": {"kind": "group", "cells": {"committed": committed}},
    }


def _retention(group: Asked, context: Context) -> Iterable[Judgement]:
    look = group.look
    kept, setting = look.number("topic", "retention.ms")
    policy, _ = look.text("topic", "cleanup.policy")
    if kept is None or kept < 0 or "delete" not in (policy or "delete"):
        return
    away = look.workload("longest_outage")
    if away is None:
        if kept < SHORT_RETENTION and look.is_set("topic", "retention.ms"):
            yield Judgement(
                "unknown",
                reason=f"records are kept for {seconds(kept)}, be they read or not",
                depends_on=("[workload] longest_outage",),
            )
        return
    if int(away) <= kept:
        yield Judgement("holds", bounds=f"the group is away for {seconds(int(away))}")
        return
    topic = look.deployment.topic
    hit = Hit(
        look.place(setting),
        ("retention.ms",),
        {"group": group.name, "topic": topic.name if topic else "the topic", "kept": seconds(kept)},
        (
            *group.shown("retention.ms", component="topic"),
            *group.shown("auto.offset.reset"),
            *group.stated("longest_outage"),
        ),
        numbers=(
            ("records are kept for at least", seconds(kept)),
            ("the group may be away for", seconds(int(away))),
            ("then auto.offset.reset decides where it goes on", group.setup.reset),
        ),
        edits=(Edit("retention", "topic", "retention.ms", str(-(-int(away) // DAY) * DAY)),),
    )
    trace = (
        _moment(1, 0, "the group stops at offset 10", "10", []),
        _moment(2, kept, "records below 15 are deleted unread", "10", ["log start 15"]),
        _moment(3, int(away), "the group starts again, offset 10 is out of range", "10", [group.setup.reset]),
    )
    yield Judgement("broken", hit, trace, faults={"group_downtime": 1})


_PROCESSED: dict[str, Callable[[Asked, Context], Iterable[Judgement]]] = {
    "style": _style,
    "race": _race,
    "stored": _stored,
    "growth": _growth,
    "expiry": _expiry,
    "retention": _retention,
}
