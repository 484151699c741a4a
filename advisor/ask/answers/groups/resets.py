"""every-record-processed where no offset holds and auto.offset.reset decides where reading goes on.

The parts: growth (a partition is added and `latest` begins at its end), expiry (the group is away for
longer than its offsets are kept), retention (for longer than its records are kept).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ....context import Context, Hit, Judgement
from ....model import REVIEW, Edit
from ....sim.groups.clock.phases import Absence, GroupSetup, Phase
from .settings import Asked, seconds

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
# Below these nobody would expect an application to be back in time; above, only a stated outage counts.
SHORT_OFFSETS = 7 * DAY
SHORT_RETENTION = DAY


# -- a partition is added ----------------------------------------------------------------------------------


def _growth(group: Asked, context: Context) -> Iterable[Judgement]:
    setup = group.setup
    if "consumer.auto.offset.reset" in group.unknown:
        depends = ("consumer.auto.offset.reset",)
        yield Judgement("unknown", reason="consumer.auto.offset.reset is a template", depends_on=depends)
        return
    if setup.reset != "latest" or group.alone:
        return  # who assigns its partitions itself never hears of an added one
    if not group.look.is_set("consumer", "auto.offset.reset"):
        return  # Kafka's default, which nobody chose: a finding for every consumer there is
    counts = _counts_records(group)
    if not counts and (_is_in_part(group) or _commits_unseen(group)):
        return
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
        severity=None if counts else "note",
        edits=group.edits(Edit("reset", "consumer", "auto.offset.reset", "earliest")),
        advice=("stop the group before partitions are added, or commit offset 0 for them first",),
    )
    yield Judgement("broken", hit, tuple(found["trace"]), faults={"partition_growth": 1})


def _counts_records(group: Asked) -> bool:
    """Does anything say that the group is to miss nothing, or that its topic is kept by somebody who may add
    partitions? Where nothing does, `latest` is as often what was wanted: to see what is new."""
    return bool(group.look.deployment.workload) or group.look.count("topic.partitions") is not None


def _is_in_part(group: Asked) -> bool:
    """A program's own choice, of which only a part is in sight."""
    return any(one.partial for one in group.look.deployment.groups)


def _commits_unseen(group: Asked) -> bool:
    """Who lets the client commit by itself, and says so, counts on no single record."""
    automatic, found = group.look.flag("consumer", "enable.auto.commit")
    return bool(automatic) and found is not None and group.look.is_set("consumer", "enable.auto.commit")


def _grown(setup: GroupSetup) -> dict[str, Any]:
    """Two members own a partition each; two more are added and written to at once."""
    from ....sim.groups.clock.outcomes import outcomes

    longest = max(outcomes(partial(_grown_in, setup)), key=lambda one: int(one["window_ms"]))
    first = {
        "t_ms": 0,
        "event": {"name": "partition_growth", "text": "p2 and p3 are added, r0 is written to each"},
        "effects": [],
        "state": {"kind": "group", "cells": {"m0": "p0", "m1": "p1"}},
    }
    after = [dict(step) for step in longest["trace"]]
    if after:
        after[-1]["effects"] = ["p2 and p3 are read from their end: r0 is skipped"]
    return {
        "window_ms": longest["window_ms"],
        "trace": [{**step, "step": number} for number, step in enumerate([first, *after], 1)],
    }


def _grown_in(setup: GroupSetup, phase: Phase) -> dict[str, Any]:
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup, phase)
    run.narrates = True
    run.committed = (0, 0)
    nodes = [run.start("m0"), run.start("m1", delay=phase.open)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), 60_000)
    run.to_growth(nodes)
    at = run.clock.now
    run.grow(4)
    for partition in (2, 3):
        run.produce(partition)
    run.until(lambda: run.read_by(nodes) == 4, 2 * setup.metadata_max_age_ms + 60_000)
    return {"window_ms": run.clock.now - at, "trace": list(story(run, at))}


# -- the group is away -------------------------------------------------------------------------------------


def _expiry(group: Asked, context: Context) -> Iterable[Judgement]:
    look = group.look
    minutes, setting = look.number("broker", "offsets.retention.minutes")
    if minutes is None:
        return
    kept = minutes * MINUTE
    # Offsets of a group are kept while it has members; a standalone consumer has none.
    stated = ("longest_outage", *(("longest_idle",) if group.alone else ()))
    times = {name: int(look.workload(name)) for name in stated if look.workload(name) is not None}
    if not times:
        if kept < SHORT_OFFSETS and look.is_set("broker", "offsets.retention.minutes"):
            while_what = "while nothing is committed" if group.alone else "while the group is away"
            yield Judgement(
                "unknown",
                reason=f"offsets are kept for {seconds(kept)} {while_what}",
                depends_on=tuple(f"[workload] {name}" for name in stated),
            )
        return
    longest = max(times, key=lambda name: times[name])
    away = times[longest]
    idle = longest == "longest_idle"
    bounds = f"nothing is committed for {seconds(away)}" if idle else f"the group is away for {seconds(away)}"
    if away <= kept:
        yield Judgement("holds", bounds=bounds)
        return
    found = _away(group, context, Absence(0, kept, idle_ms=away) if idle else Absence(away, kept))
    if not (found["skipped"] or found["error"]):
        yield Judgement("holds", bounds=bounds)
        return
    reset = group.setup.reset
    otherwise = (
        "begins at the end and skips what it missed"
        if reset == "latest"
        else f"goes on by auto.offset.reset={reset}, past {found['skipped']} of {found['written']} records"
    )
    hit = Hit(
        look.place(setting),
        ("offsets.retention.minutes", "auto.offset.reset"),
        {
            "group": group.name,
            "kept": seconds(kept),
            "longer": "where nothing is written for longer, it" if idle else "away for longer, the group",
            "what": _comes_to(found, otherwise),
        },
        (
            *group.shown("offsets.retention.minutes", component="broker"),
            *group.shown("auto.offset.reset"),
            *group.stated(longest, "records_per_second"),
        ),
        numbers=(
            ("offsets are kept for", seconds(kept)),
            (
                "a standalone consumer may commit nothing for" if idle else "the group may be away for",
                seconds(away),
            ),
            *(() if idle else _missed(group, found, away)),
        ),
        edits=(
            Edit("offsets", "broker", "offsets.retention.minutes", str(-(-away // DAY) * 2 * DAY // MINUTE)),
            *group.edits(Edit("reset", "consumer", "auto.offset.reset", "earliest", safety=REVIEW)),
        ),
    )
    yield Judgement("broken", hit, tuple(found["rows"]), faults={"group_downtime": 1})


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
    away = int(away)
    if away <= kept:
        yield Judgement("holds", bounds=f"the group is away for {seconds(away)}")
        return
    found = _away(group, context, Absence(away, records_ms=kept))
    topic = look.deployment.topic
    hit = Hit(
        look.place(setting),
        ("retention.ms",),
        {"group": group.name, "topic": topic.name if topic else "the topic", "kept": seconds(kept)},
        (
            *group.shown("retention.ms", component="topic"),
            *group.shown("auto.offset.reset"),
            *group.stated("longest_outage", "records_per_second"),
        ),
        numbers=(
            ("records are kept for at least", seconds(kept)),
            ("the group may be away for", seconds(away)),
            (
                f"then, with auto.offset.reset={group.setup.reset}, it",
                _comes_to(found, f"skips {found['skipped']} of {found['written']} records"),
            ),
            *_missed(group, found, away if group.setup.reset == "latest" else away - kept),
        ),
        edits=(Edit("retention", "topic", "retention.ms", str(-(-away // DAY) * DAY)),),
    )
    yield Judgement("broken", hit, tuple(found["rows"]), faults={"group_downtime": 1})


def _away(group: Asked, context: Context, absence: Absence) -> dict[str, Any]:
    setup = GroupSetup(reset=group.setup.reset, reset_duration_ms=group.setup.reset_duration_ms)

    def play() -> dict[str, Any]:
        from ....sim.groups.clock.absence import WRITTEN, absent

        return {**absent(setup, absence)._asdict(), "written": WRITTEN}

    found: dict[str, Any] = context.remember("away", repr((setup, absence)), play)
    return found


def _comes_to(found: dict[str, Any], otherwise: str) -> str:
    return f"stops with {found['error']}" if found["error"] else otherwise


def _missed(group: Asked, found: dict[str, Any], of_ms: int) -> tuple[tuple[str, str], ...]:
    """How many records that is, where the rate is stated."""
    rate = group.look.workload("records_per_second")
    if rate is None or not found["skipped"]:
        return ()
    return (("records skipped", f"up to {int(float(rate) * of_ms / 1000):,} (at {rate} a second)"),)


RESETS: dict[str, Callable[[Asked, Context], Iterable[Judgement]]] = {
    "growth": _growth,
    "expiry": _expiry,
    "retention": _retention,
}
