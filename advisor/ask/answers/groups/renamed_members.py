"""rebalance-pause, asked about static members whose ids are others after a restart (part "renamed").

A pod of a Deployment comes back under another name, so its group.instance.id is another too: the coordinator
takes it for a new member and waits for the old one until its session is over (KIP-345).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ....context import Context, Hit, Judgement
from ....model import Edit, Unknown
from ....sim.groups.clock.phases import GroupSetup, Phase
from .settings import Asked, seconds

# Spring Boot's RandomValuePropertySource.
_RANDOM = re.compile(r"\$\{random\.")
RESTART_MS = 2_000  # from the end of a pod to its successor's first join


def judge(group: Asked, context: Context) -> Iterable[Judgement]:
    fact = next((fact for fact in group.document.facts if fact.name == "instance.names"), None)
    setting = group.look.setting("consumer", "group.instance.id")
    if setting is None:
        return
    faults = {"roll": 1}
    if isinstance(setting.value, Unknown) and _RANDOM.search(setting.value.template):
        source = f"made anew at every start ({setting.value.template})"
    elif fact is None:
        return
    elif fact.value == "stable":
        yield Judgement("holds", faults=faults, bounds="pods that keep their names")
        return
    else:
        source = f"the name of a pod, and {fact.origin.note or 'its workload'} gives every new pod another"
    component, session, _ = group.session_keys
    if f"{component}.{session}" in group.unknown:
        return
    setup = group.setup
    clocked = GroupSetup(
        protocol=setup.protocol,
        strategies=setup.strategies,
        own=setup.own,
        partitions=4,
        session_ms=setup.session_ms,
        heartbeat_ms=setup.heartbeat_ms,
        max_poll_interval_ms=setup.max_poll_interval_ms,
    )
    found = context.remember("renamed", repr(clocked), lambda: restarted(clocked))
    everything = found["unread"] == clocked.partitions
    hit = Hit(
        group.at("group.instance.id"),
        ("group.instance.id",),
        {
            "group": group.name,
            "source": source,
            "partitions": "all partitions are" if everything else "its partitions are",
            "longest": f"up to {seconds(found['longest_ms'])}",
        },
        (*group.shown("group.instance.id"), *group.shown(session, component=component)),
        numbers=(
            ("unread after the restart of one pod", seconds(found["longest_ms"])),
            ("with a name that stays", seconds(found["kept_ms"])),
            ("without a group.instance.id", seconds(found["dynamic_ms"])),
            ("assumed", f"two members; a pod is back after {seconds(RESTART_MS)}"),
        ),
        also_at=(fact.origin.at,) if fact is not None and fact.origin.at is not None else (),
        edits=group.edits(Edit("instance", "consumer", "group.instance.id", None)),
        advice=("leave the id out, or take one that a member gets again: the name of a StatefulSet's pod",),
    )
    yield Judgement("broken", hit, tuple(found["trace"]), faults=faults)


def restarted(setup: GroupSetup) -> dict[str, Any]:
    """One of two members closes and comes back: under another id, under its own, and without any."""
    longest, trace, unread = _played(setup, "pod-a", "pod-c")
    return {
        "longest_ms": longest,
        "unread": unread,
        "kept_ms": _played(setup, "pod-a", "pod-a")[0],
        "dynamic_ms": _played(setup, "", "")[0],
        "trace": trace,
    }


def _played(setup: GroupSetup, before: str, after: str) -> tuple[int, list[dict[str, Any]], int]:
    """How long until every partition is read again, the run, and how many were unread at the worst."""
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup._replace(initial_delay_ms=0), Phase(beat=0.02), records=False)
    run.narrates = True
    nodes = [run.start("m0", instance=before), run.start("m1", instance="pod-b" if before else "", delay=100)]
    run.until(lambda: all(len(node.owned) == 2 for node in nodes), 60_000)
    run.wait(setup.heartbeat_ms)
    # The worst moment: the session has just begun anew.
    run.to_beat(nodes[0])
    since = run.clock.now
    run.close(nodes[0])
    nodes.append(run.start("m2", instance=after, delay=RESTART_MS))
    fewest = run.partitions

    def back() -> bool:
        nonlocal fewest
        owned = run.owned_by(nodes)
        fewest = min(fewest, owned)
        return owned == run.partitions and bool(nodes[2].owned)

    run.until(back, 2 * (setup.session_ms + setup.max_poll_interval_ms))
    return run.clock.now - since, list(story(run, since, rows_max=12)), run.partitions - fewest
