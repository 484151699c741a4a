"""requests-outlast-replication: a request is not given up, and sent again, while its records are copied.

With acks=all an answer waits for every in-sync replica, so for a follower that has stalled until that leaves
the ISR, 1.0 to 1.5 x replica.lag.time.max.ms later. A producer whose request.timeout.ms is shorter sends
again; without idempotence the records are stored twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....context import Context, Hit, Judgement
from ....join.reader import Reader
from ....model import Deployment, Edit

if TYPE_CHECKING:
    from .setup import Timed

MILLISECOND = 1_000

_LAG = "replica.lag.time.max.ms"
_REQUEST = "request.timeout.ms"


def judge(deployment: Deployment, context: Context) -> Iterator[Judgement]:
    look = Reader(deployment, context.clients)
    if deployment.producer is None or not look.in_sight("broker", _LAG):
        return
    if _REQUEST not in look.layers["producer"] and _LAG not in look.layers["broker"]:
        return  # no release has a default lag limit above its default request timeout
    from .setup import timed

    on_clock = timed(deployment)
    if on_clock is None:
        return
    client, lag = on_clock.setup.client, on_clock.setup.cluster.lag_time_max
    open_keys = tuple(key for key in on_clock.unknown if key in (_LAG, _REQUEST, "enable.idempotence"))
    if client.acks != "all" or on_clock.setup.partition.replicas == 1 or open_keys:
        return
    if client.idempotence or client.retries == 0 or client.answer_wait >= lag:
        yield Judgement("holds", bounds="one stalled follower")
        return
    yield from _stalled(look, on_clock, context)


def _stalled(look: Reader, on_clock: Timed, context: Context) -> Iterator[Judgement]:
    from ....sim.clock.timeline import Step
    from .outage import BOUNDS, LEAD, MARGIN, Load, count, play, told, told_again

    stall = on_clock.setup.cluster.lag_time_max * 3 // 2 + MARGIN
    # Its heartbeats go on: a broker that is silent altogether leaves with its session.
    cluster = on_clock.setup.cluster._replace(session_timeout=2 * stall)
    setup = on_clock.setup._replace(cluster=cluster)
    steps = [
        Step("sleep", timeout=LEAD),
        Step("sigstop", 1),
        Step("sleep", timeout=stall),
        Step("sigcont", 1),
        Step("sleep", timeout=LEAD),
    ]
    # It takes one record; how many there are depends on what is in flight, not on a rate.
    load = Load(10.0, 10.0, 100, True, False, ())
    figures = play(setup, steps, load, context.remember)
    if not figures.duplicates[1]:
        yield Judgement("holds", bounds="one stalled follower")
        return
    request = on_clock.setting("producer", _REQUEST)
    lag = on_clock.setting("broker", _LAG)
    assert request is not None, "every client has it"
    assert lag is not None, "every broker has it"
    lag_ms = setup.cluster.lag_time_max // MILLISECOND
    hit = Hit(
        look.place(request, lag),
        (request.key,),
        {
            "producer": look.deployment.producer.name if look.deployment.producer is not None else "",
            "request": str(request.value),
            "lag": str(lag.value),
            "duplicates": count(figures.duplicates),
        },
        settings=(("producer", request), ("broker", lag)),
        numbers=(
            ("an answer may wait", f"{lag_ms / 1000:g} to {1.5 * lag_ms / 1000:g} s for a stalled follower"),
            ("given up after", f"{setup.client.answer_wait / 1_000_000:g} s"),
            ("stored again", f"{count(figures.duplicates)} records at 10 records/s to one partition"),
            ("assumed", "the follower copies nothing, and its heartbeats go on"),
        ),
        edits=(
            Edit("idempotence", "producer", "enable.idempotence", "true"),
            Edit("request_timeout", "producer", request.key, str(lag_ms * 3 // 2)),
        ),
    )
    trace = told(setup, steps, load, context.remember)
    again = told_again(steps, load, context.remember, lambda setup: setup._replace(cluster=cluster))
    faults = {"slow_follower": 1}
    yield Judgement("broken", hit, trace, environment=faults, bounds=BOUNDS, again=again)
