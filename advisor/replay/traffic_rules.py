"""The rules that no configuration shows and only traffic does: what `replay` measures, and from where on it
tells."""

from __future__ import annotations

from textwrap import wrap

from ..tuples import NamedTuple

_WIDTH = 100

HOT_TIMES = 3.0
BEHIND_MS = 60_000
NEARLY_EMPTY = 0.05
FEW_RECORDS = 1000


class TrafficRule(NamedTuple):
    name: str
    severity: str
    title: str
    why: str
    told_when: str
    fine_when: str
    change: str


TRAFFIC_RULES = {
    "KA651": TrafficRule(
        "hot-partition",
        "warning",
        "one partition takes far more than its share",
        "A partition has one leader and one reader of a group, so the busiest one decides how much the whole"
        " topic takes; more partitions do not help where one key is hot.",
        f"a partition has {HOT_TIMES:g} times its share of a topic's records, {FEW_RECORDS} or more in all",
        "The key is hot for an hour of a load test, or one reader keeps up with it.",
        "Make the key finer (the table keys has those that are written most), or leave it out where order"
        " does not matter.",
    ),
    "KA652": TrafficRule(
        "readers-fall-behind",
        "warning",
        "readers were far behind",
        "Records came faster than the group processes them ([workload] processing_ms and members), so what is"
        " read is old, and what waits longest is the first that retention takes (KA406).",
        f"the records that wait for one reader are {BEHIND_MS // 1000} s of work or more",
        "The work may wait: a nightly load that is done by the morning.",
        "Add members, as far as there are partitions, or process a record in less time.",
    ),
    "KA653": TrafficRule(
        "batches-nearly-empty",
        "note",
        "batches are nearly empty",
        "Each batch has 61 bytes of its own and each request is work for a broker, however little is in it;"
        " full batches also compress better.",
        f"batches fill less than {NEARLY_EMPTY:.0%} of batch.size and have fewer than two records",
        "Milliseconds count more than the broker's work.",
        "Raise linger.ms: kafka-advisor replay --sweep linger.ms=5,20,100 shows what each value costs and"
        " saves.",
    ),
}


def explained(word: str) -> list[str] | None:
    """By code or by name; None if it is neither."""
    for code, rule in TRAFFIC_RULES.items():
        if word.lower() in (code.lower(), rule.name):
            lines = [
                f"{rule.severity}[{code}] {rule.title}",
                f"({rule.name}, evidence: a recorded workload, kafka-advisor replay)",
                "",
                rule.why,
                f"Told when: {rule.told_when}.",
                f"Fine when: {rule.fine_when}",
                f"What helps: {rule.change}",
            ]
            return [part for line in lines for part in (wrap(line, _WIDTH) or [""])]
    return None
