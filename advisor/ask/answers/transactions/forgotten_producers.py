"""Producers of which retention leaves no record: before 2.4 a leader forgets them and refuses what comes."""

from __future__ import annotations

from collections.abc import Iterable

from ....context import Context, Hit, Judgement
from ....join.reader import Reader, stated
from ....model import Deployment, Edit
from .reads import is_transactional, names
from .times import pairs, told

RETENTION, CHECK = "retention.ms", "log.retention.check.interval.ms"
_DAY = 86_400_000
_LONGER = (_DAY, 3 * _DAY, 7 * _DAY, 14 * _DAY, 30 * _DAY)


def judge_purged(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """An idempotent producer that is idle for longer than its records are kept. That nobody else writes to
    the partition is the worst case: whatever is in the last segment keeps all of it."""
    look = Reader(deployment, context.clients)
    if not is_transactional(look) and look.flag("producer", "enable.idempotence")[0] is not True:
        return
    idle = int(look.workload("longest_idle"))
    retention, found = look.number("topic", RETENTION)
    policy, _ = look.text("topic", "cleanup.policy")
    if retention is None or retention < 0 or (policy is not None and "delete" not in policy):
        return
    bounds = f"idle for {told(idle)}, records kept for {told(retention)}"
    if idle <= retention:
        yield Judgement("holds", bounds=bounds)
        return
    check = look.number("broker", CHECK)[0] or int(look.default("broker", CHECK) or 300_000)

    def play() -> list[object]:
        from ....sim.producer.memory import purged_in_time

        return list(purged_in_time(retention, check, idle))

    steps = context.remember("purged", f"{retention}|{check}|{idle}", play)
    numbers = (
        ("idle for", f"{told(idle)}, as stated"),
        ("its last record is deleted after", f"{told(retention)} to {told(retention + check)}"),
        ("the next send is refused with", "UnknownProducerIdException"),
        ("assumed", "nobody else writes to the partition meanwhile"),
        ("the Java client", "numbers its batches anew then, and sends them again"),
    )
    longer = [value for value in _LONGER if value > idle]
    edits = tuple(Edit("retention", "topic", RETENTION, str(value)) for value in longer)
    shown = (*pairs(("topic", found)), ("workload", stated("longest_idle", idle)))
    fields = {
        **names(deployment),
        "idle": told(idle),
        "keeps": told(retention),
        "version": deployment.version,
    }
    advice = ("upgrade the brokers to 2.4 or later: there a producer is known until its id expires",)
    hit = Hit(look.place(found), (RETENTION,), fields, shown, numbers=numbers, edits=edits[:2], advice=advice)
    yield Judgement("broken", hit, tuple(steps), bounds=bounds)
