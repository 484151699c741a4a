"""Timeouts of the cluster against each other: short disturbances leave leaders and in-sync replicas in place.

`judge_successor` (guarantee successor-left): followers that a leader does not hear of for less than a session
timeout, which costs nobody the lead, must not cost them their place in the ISR either; else nobody can follow
a leader that dies then. `judge` (cluster-steady): no healthy broker is fenced by one lost heartbeat, no
follower leaves the ISR because it waits for data as it is told to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....context import Context, Hit, Judgement
from ....join.reader import Reader
from ....model import Deployment, Edit, Setting
from ....syntax.numbers import integer
from ...policies import decode

if TYPE_CHECKING:
    from ....sim.clock.replicas import ClusterPolicy
    from .setup import Timed

MILLISECOND = 1_000
# A longer lag limit is played as one of this length.
LONGEST_LAG = 60_000 * MILLISECOND
# The run of a longer session is drawn in short as well.
LONGEST_DRAWN = 600_000 * MILLISECOND

_LAG = "replica.lag.time.max.ms"
_SESSIONS = ("broker.session.timeout.ms", "zookeeper.session.timeout.ms")
_USUAL_LAG = "30000"


def judge_successor(deployment: Deployment, context: Context) -> Iterator[Judgement]:
    look = Reader(deployment)
    if not any(key in look.layers["broker"] for key in (_LAG, *_SESSIONS)):
        return  # Kafka's own defaults, of any version, are far apart
    from .setup import timed

    on_clock = timed(deployment)
    if on_clock is None or on_clock.setup.partition.replicas == 1 or _may_be_alone(look):
        return
    open_keys = tuple(key for key in on_clock.unknown if key in (_LAG, *_SESSIONS))
    if open_keys:
        reason = f"{', '.join(open_keys)} is filled in elsewhere"
        yield Judgement("unknown", depends_on=open_keys, reason=reason)
        return
    cluster = on_clock.setup.cluster
    if cluster.lag_time_max >= cluster.session_timeout:
        yield Judgement("holds", bounds="disturbances shorter than the session timeout")
        return
    left = {elr: _left_alone(on_clock, elr, context) for elr in decode(deployment).knobs["elr"].values}
    if not any(left.values()):
        yield Judgement("holds", bounds="disturbances shorter than the session timeout")
    elif not all(left.values()):
        reason = "with eligible leader replicas somebody can follow the leader, without nobody can"
        yield Judgement("unknown", depends_on=("fact.elr",), reason=reason)
    else:
        yield _no_successor(look, on_clock, min(left.values()), context)


def _may_be_alone(look: Reader) -> bool:
    """No file counts the brokers, and theirs says that topics have one copy: nobody need follow anybody."""
    key = "default.replication.factor"
    single = look.is_set("broker", key) and look.text("broker", key)[0] == "1"
    return single and look.count("cluster.brokers") is None and look.deployment.topic is None


def _disturbance(cluster: ClusterPolicy) -> int:
    """Shorter than a session. The leader looks for late followers every half of the lag limit, one look may
    take only one of them, and nothing changes once all are out."""
    return min(cluster.session_timeout, 5 * cluster.lag_time_max // 2)


def _schedule(cluster: ClusterPolicy) -> list[Any]:
    from ....sim.clock.timeline import Step
    from .outage import LEAD, MARGIN, fenced_after

    return [
        Step("sleep", timeout=LEAD),
        Step("isolate", "replication-only"),
        Step("sleep", timeout=_disturbance(cluster)),
        Step("kill9", 0),
        Step("unisolate"),
        Step("sleep", timeout=fenced_after(cluster)[1] + MARGIN),
    ]


def _in_short(cluster: ClusterPolicy) -> ClusterPolicy:
    """The same relation of the two limits, in times that can be played in every phase. Only which of them
    comes first decides who is left to lead."""
    lag = min(cluster.lag_time_max, LONGEST_LAG)
    session = cluster.session_timeout * lag // cluster.lag_time_max
    return cluster._replace(lag_time_max=lag, session_timeout=min(session, 3 * lag))


def _left_alone(on_clock: Timed, elr: bool, context: Context) -> int:
    """In how many of the phases nobody leads after the leader's death."""

    def compute() -> int:
        from ....sim.clock.measure import measure
        from .outage import prepared

        partition = on_clock.setup.partition._replace(elr=elr)
        cluster = _in_short(on_clock.setup.cluster)
        short = on_clock.setup._replace(partition=partition, cluster=cluster)
        setup, schedule, _ = prepared(short, _schedule(cluster), _quiet())
        return sum(one.leader < 0 for one in measure(setup, schedule))

    mark = repr((on_clock.setup.partition, on_clock.setup.cluster, elr))
    return int(context.remember("successor", mark, compute))


def _quiet() -> Any:
    from .outage import Load

    return Load(10.0, 10.0, 100, True, False, ())


def _no_successor(look: Reader, on_clock: Timed, phases: int, context: Context) -> Judgement:
    from ....sim.clock.grid import GRID
    from .outage import BOUNDS, fenced_after, told, told_again

    cluster = on_clock.setup.cluster
    drawn = cluster if cluster.session_timeout <= LONGEST_DRAWN else _in_short(cluster)
    least, most = fenced_after(cluster)
    lag = on_clock.setting("broker", _LAG)
    session = on_clock.setting("broker", *_SESSIONS)
    assert lag is not None, "every release has it"
    assert session is not None, "every release has one"
    session_ms = cluster.session_timeout // MILLISECOND
    values = [_USUAL_LAG] if int(_USUAL_LAG) > session_ms else []
    values.append(str(-(-session_ms * 3 // 2 // 1000) * 1000))
    usual = look.default("broker", session.key)
    edits = [Edit("lag", "broker", _LAG, value) for value in values]
    shorter = None if usual is None else integer(usual)
    if usual is not None and shorter is not None and shorter < session_ms:
        # Somebody raised the session, for a reason: the lag goes with it (KIP-537), or the session back.
        edits.append(Edit("session", "broker", session.key, usual))
    hit = Hit(
        look.place(lag, session),
        (lag.key, session.key),
        {
            "cluster": _cluster(look),
            "lag": str(lag.value),
            "session_key": session.key,
            "session": str(session.value),
        },
        settings=(("broker", lag), ("broker", session)),
        numbers=(
            (
                "followers out of the ISR",
                f"after {cluster.lag_time_max / 1_000_000:g} to {1.5 * cluster.lag_time_max / 1_000_000:g} s",
            ),
            (
                "a silent broker is fenced",
                f"after {least / 1_000_000:g} to {most / 1_000_000:g} s",
            ),
            ("nobody can lead", f"in {phases} of {len(GRID)} phases"),
            *([("drawn", "with shorter times of the same relation")] if drawn is not cluster else []),
            (
                "assumed",
                f"the followers' fetches fail for {_disturbance(cluster) / 1_000_000:g} s while the "
                "controller hears the leader, and then it dies",
            ),
        ),
        edits=tuple(edits),
    )
    played = _schedule(drawn), _quiet(), context.remember
    trace = told(on_clock.setup._replace(cluster=drawn), *played)
    faults = {"partitioned": 1, "broker_crash": 1}
    again = told_again(*played) if drawn is cluster else None
    return Judgement("broken", hit, trace, faults=faults, bounds=BOUNDS, again=again)


# -- cluster-steady ----------------------------------------------------------------------------------------


def judge(deployment: Deployment, context: Context) -> Iterator[Judgement]:
    look = Reader(deployment)
    if context.part == "heartbeats":
        yield from _heartbeats(deployment, look)
    else:
        yield from _fetch_waits(look, int(context.params.get("margin_ms", 500)))


def _heartbeats(deployment: Deployment, look: Reader) -> Iterator[Judgement]:
    keys = ("broker.heartbeat.interval.ms", "broker.session.timeout.ms")
    if not any(key in look.layers["broker"] for key in keys) or not decode(deployment).kraft:
        return
    interval, interval_found = look.number("broker", keys[0])
    session, session_found = look.number("broker", keys[1])
    if interval is None or session is None or interval_found is None or session_found is None:
        unknown = tuple(key for key, value in zip(keys, (interval, session), strict=True) if value is None)
        yield Judgement("unknown", depends_on=unknown, reason=f"{unknown[0]} is filled in elsewhere")
        return
    if 2 * interval <= session:
        yield Judgement("holds", bounds="one lost heartbeat")
        return
    never = interval >= session
    hit = Hit(
        look.place(interval_found, session_found),
        keys,
        {
            "cluster": _cluster(look),
            "interval": str(interval),
            "session": str(session),
            "what": "a healthy broker is fenced between any two heartbeats"
            if never
            else "one lost heartbeat fences a healthy broker",
        },
        settings=(("broker", interval_found), ("broker", session_found)),
        numbers=(
            ("heartbeats in a session", f"{session / interval:.2g}"),
            ("away", f"{(2 if not never else 1) * interval - session} ms and more, until the next is heard"),
        ),
        severity="error" if never else None,
        edits=tuple(_steadier(interval, session)),
    )
    trace = _told(interval, session, lost=not never)
    yield Judgement("broken", hit, trace, faults={} if never else {"lost_heartbeat": 1})


def _steadier(interval: int, session: int) -> Iterator[Edit]:
    often = min(2000, session // 3)
    if often > 0:
        yield Edit("interval", "broker", "broker.heartbeat.interval.ms", str(often))
    yield Edit("session", "broker", "broker.session.timeout.ms", str(max(9000, 3 * interval)))


def _told(interval: int, session: int, lost: bool) -> tuple[dict[str, Any], ...]:
    rows = [(0, "heartbeat", "heard: the session begins anew", "registered")]
    if lost:
        rows.append((interval, "heartbeat", "lost on the way", "registered"))
    rows.append(
        (session, "session ends", "fenced, though it is up; its partitions are led by others", "fenced")
    )
    again = 2 * interval if lost else interval
    rows.append((max(again, session), "heartbeat", "heard", "registered again"))
    return tuple(
        {
            "step": number,
            "t_ms": time,
            "event": {"name": name.replace(" ", "_"), "text": name},
            "effects": [what],
            "state": {"kind": "session", "cells": {"broker": state}},
        }
        for number, (time, name, what, state) in enumerate(rows, 1)
    )


def _fetch_waits(look: Reader, margin_ms: int) -> Iterator[Judgement]:
    keys = ("replica.fetch.min.bytes", "replica.fetch.wait.max.ms", _LAG)
    if keys[0] not in look.layers["broker"]:
        return  # at 1, the default, a fetch waits for the next record and no longer
    found = [look.number("broker", key) for key in keys]
    least, wait, lag = (value for value, _ in found)
    if least is None or wait is None or lag is None:
        unknown = tuple(key for key, (value, _) in zip(keys, found, strict=True) if value is None)
        yield Judgement("unknown", depends_on=unknown, reason=f"{unknown[0]} is filled in elsewhere")
        return
    if least <= 1 or wait > lag or wait + margin_ms <= lag:
        # Kafka itself refuses to start with a wait above the lag limit.
        yield Judgement("holds", bounds=f"fetches that take up to {margin_ms} ms")
        return
    shown: list[tuple[str, Setting]] = [("broker", one) for _, one in found if one is not None]
    hit = Hit(
        look.place(*(setting for _, setting in shown)),
        keys,
        {"cluster": _cluster(look), "bytes": str(least), "wait": str(wait), "lag": str(lag)},
        settings=tuple(shown),
        numbers=(
            ("longest without a fetch", f"{wait} ms and a round trip, where little is written"),
            ("out of the ISR", f"after {lag} ms, if a look of the leader falls in between"),
            ("assumed", f"a round trip of a fetch may take {margin_ms} ms (params margin_ms)"),
        ),
        edits=(
            Edit("bytes", "broker", keys[0], "1"),
            Edit("wait", "broker", keys[1], "500"),
            Edit("lag", "broker", keys[2], _USUAL_LAG),
        ),
    )
    yield Judgement("broken", hit)


def _cluster(look: Reader) -> str:
    names = [broker.name for broker in look.deployment.cluster]
    return names[0] if names else "the cluster"
