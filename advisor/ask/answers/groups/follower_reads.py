"""reads-in-time of a consumer with a client.rack, which brokers may send to a follower (KIP-392).

`judge_late` (part "follower"): how much later a record can be read there. `judge_unused` ("rack"):
the brokers in sight send it to no follower.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....context import Context, Hit, Judgement
from ....join.effective import by_key
from ....model import Edit
from .settings import Asked, seconds

SELECTOR = "replica.selector.class"
RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER_ONLY = "LeaderSelector"
WAIT = "replica.fetch.wait.max.ms"


def judge_late(group: Asked, context: Context) -> Iterable[Judgement]:
    look = group.look
    rack, _ = look.text("consumer", "client.rack")
    selector, _ = look.text("broker", SELECTOR)
    wait, setting = look.number("broker", WAIT)
    if not rack or not selector or selector.endswith(LEADER_ONLY) or wait is None:
        return
    rate = look.workload("records_per_second")
    # Whatever is written to the same broker ends the wait.
    gap = None if rate is None else max(1, int(1000 / float(rate)))
    found = context.remember("follower", repr((wait, gap)), lambda: _late(wait, gap))
    limit = int(context.params.get("limit_ms", 1_000))
    late, leader = found["follower_ms"], found["leader_ms"]
    if late <= limit:
        yield Judgement("holds", bounds=f"a record is {seconds(late)} late, {seconds(leader)} at the leader")
        return
    hit = Hit(
        look.place(setting),
        (WAIT,),
        {"group": group.name, "late": seconds(late), "leader": seconds(leader)},
        (
            *group.shown(WAIT, SELECTOR, component="broker"),
            *group.shown("client.rack"),
            *group.stated("records_per_second"),
        ),
        numbers=(
            ("readable from the leader after", seconds(leader)),
            ("readable from a follower after", seconds(late)),
            (
                "records passed over by reading there",
                f"none: {found['states']} states searched; a position that a follower does not have sends "
                "the client back to the leader",
            ),
            ("assumed", "nothing else is written to the same broker")
            if gap is None
            else ("a record comes every", seconds(gap)),
        ),
        edits=(Edit("wait", "broker", WAIT, "500"),),
    )
    yield Judgement("broken", hit, tuple(found["rows"]), bounds=found["bounds"], states=found["states"])


def _late(wait_ms: int, gap_ms: int | None) -> dict[str, Any]:
    from ....sim.groups.clock.follower_delay import delay
    from ....sim.groups.search.follower_reads import BOUNDS, Policy, no_record_skipped

    answer = no_record_skipped(Policy())
    assert answer.verdict == "holds", answer.reason
    return {**delay(wait_ms, gap_ms)._asdict(), "states": answer.states, "bounds": BOUNDS}


def judge_unused(group: Asked, context: Context) -> Iterable[Judgement]:
    look = group.look
    rack, setting = look.text("consumer", "client.rack")
    if not rack or not look.in_sight("broker", SELECTOR):
        return
    selector, found = look.text("broker", SELECTOR)
    if selector is None and found is not None and found.value is not None:
        return  # a template
    racks = _racks(group)
    edits: tuple[Edit, ...] = ()
    if not selector or selector.endswith(LEADER_ONLY):
        cause = f"{SELECTOR} is not set on the brokers"
        edits = (Edit("selector", "broker", SELECTOR, RACK_AWARE),)
    elif racks is not None and rack not in racks:
        told = f"only {', '.join(sorted(racks))}" if racks else "and none has a rack"
        cause = f"no broker in sight has broker.rack={rack}, {told}"
    else:
        return
    hit = Hit(
        look.place(setting),
        ("client.rack",),
        {"group": group.name, "rack": rack, "cause": cause},
        (*group.shown("client.rack"), *group.shown(SELECTOR, "broker.rack", component="broker")),
        edits=edits,
        advice=("name the racks alike on brokers and clients: the names are compared as they are written",)
        if not edits
        else (),
    )
    yield Judgement("broken", hit)


def _racks(group: Asked) -> set[str] | None:
    """The racks that brokers name; None if some of them cannot be known."""
    named: set[str] = set()
    for broker in group.look.deployment.cluster:
        given = by_key(broker).get("broker.rack")
        if given is None:
            continue
        if not isinstance(given.value, str):
            return None
        named.add(given.value)
    brokers = group.look.count("cluster.brokers")
    stated = group.look.fact("cluster.racks") is not None
    complete = brokers is None or len(group.look.deployment.cluster) >= brokers
    # One file of several brokers names one rack, and the others have theirs.
    return named if complete and not stated and len(group.look.deployment.cluster) > 1 else None
