"""Faults and tolerances in words: "1 broker crash", "any broker crash can lose acknowledged records"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ONE_MANY = {
    "broker_crash": ("broker crash", "broker crashes"),
    "broker_lost": ("broker lost for good", "brokers lost for good"),
    "power_loss": ("power loss", "power losses"),
    "disk_wiped": ("wiped disk", "wiped disks"),
    "clean_stop": ("broker shut down", "brokers shut down"),
    "roll": ("rolling restart", "rolling restarts"),
    "partitioned": ("broker cut off", "brokers cut off"),
    "rack_lost": ("rack lost for good", "racks lost for good"),
    "controller_failover": ("controller failover", "controller failovers"),
    "leader_move": ("leader move", "leader moves"),
    "retriable_error": ("passing error", "passing errors"),
    "lost_request": ("lost request", "lost requests"),
    "lost_response": ("lost answer", "lost answers"),
    "producer_crash": ("producer crash", "producer crashes"),
    "producer_pause": ("producer stall", "producer stalls"),
    "late_request": ("late request", "late requests"),
    "delivery_expired": ("expired batch", "expired batches"),
    "member_crash": ("member crash", "member crashes"),
    "member_pause": ("member stall", "member stalls"),
    "lost_heartbeat": ("lost heartbeat", "lost heartbeats"),
    "rebalance": ("rebalance", "rebalances"),
    "partition_growth": ("added partition", "added partitions"),
    "group_downtime": ("time away", "times away"),
    "slow_follower": ("slow follower", "slow followers"),
}


def count_text(name: str, count: int) -> str:
    """1 broker crash; a fault of somebody's own by its name."""
    one, many = _ONE_MANY.get(name, (name.replace("_", " "), name.replace("_", " ")))
    return f"{count} {one if count == 1 else many}"


def faults_text(faults: Mapping[str, int]) -> str:
    """Slow followers last: they are the weather, not the accident."""
    ordered = sorted(faults.items(), key=lambda item: (item[0] == "slow_follower", item[0]))
    return ", ".join(count_text(name, count) for name, count in ordered if count)


def spent_in(trace: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The faults of a run; one roll restarts every broker."""
    counts: dict[str, int] = {}
    for step in trace:
        fault = step["event"].get("fault")
        if fault is not None:
            counts[fault] = counts.get(fault, 0) + 1
    brokers = len(trace[0]["state"].get("replicas", ())) if trace else 0
    if "roll" in counts and brokers:
        counts["roll"] = -(-counts["roll"] // brokers)
    return counts


# -- how much a deployment survives ------------------------------------------------------------------------


def _brokers(number: int) -> str:
    return f"{number} broker" + ("" if number == 1 else "s")


def survives_text(lost: int, crashes: int | None = None) -> str:
    """The first number of a deployment: how many brokers may be lost for good."""
    if lost:
        return f"acknowledged records survive {_brokers(lost)} lost for good"
    if crashes:
        crashed = count_text("broker_crash", crashes)
        return f"acknowledged records survive {crashed}, but one broker lost for good can lose them"
    return (
        "any broker crash can lose acknowledged records"
        if crashes == 0
        else ("one broker lost for good can lose acknowledged records")
    )


def writes_text(away: int) -> str:
    """The second: with how many brokers down writes continue."""
    if away:
        return f"writes continue with {_brokers(away)} down"
    return "writes stop when any broker is down"


def headline_text(
    headline: Mapping[str, int | None], guarantees: Sequence[Mapping[str, Any]] = ()
) -> Iterator[str]:
    lost, away = headline["survives_lost"], headline["writes_with_away"]
    if lost is not None:
        yield survives_text(lost, survived(guarantees, "acked-records-survive", "broker_crash"))
    if away is not None:
        yield writes_text(away)


def survived(guarantees: Sequence[Mapping[str, Any]], name: str, fault: str) -> int | None:
    for guarantee in guarantees:
        for one in guarantee["tolerance"] if guarantee["name"] == name else ():
            if one["fault"] == fault:
                number: int | None = one["survives"]
                return number
    return None
