"""producer_batching: which records share a batch, which batches a request, and when it is sent."""

from __future__ import annotations

from typing import Any

from advisor.sim.producer.accumulator import Arrival, Batching, replay


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What our producer does, in the form of the recorded output."""
    given = case["input"]
    if given.get("compression", "none") != "none":
        raise ValueError("batches of compressed records are not recorded")
    policy = Batching(
        batch_size=given["batch_size"],
        linger_ms=given["linger_ms"],
        max_request_size=given["max_request_size"],
        in_flight_max=given["max_in_flight"],
    )
    done = replay(
        policy,
        {int(node): partitions for node, partitions in given["node_partitions"].items()},
        [Arrival(*arrival) for arrival in given["arrivals"]],
        latency_ms=given["request_latency_ms"],
        flush_at=given["flush_at"],
    )
    batches = [
        {
            "request": request.number,
            "node": request.node,
            "partition": batch.partition,
            "created": batch.created,
            "drained": batch.drained,
            "size": batch.size,
            "records": batch.records,
        }
        for request in done.requests
        for batch in request.batches
    ]
    return {"batches": batches, "append_results": done.appended}


def compare(case: dict[str, Any]) -> str | None:
    """None if we batch as Kafka did, else the first difference."""
    ours, kafka = answer(case), case["output"]
    if ours["append_results"] != kafka["append_results"]:
        pairs = zip(ours["append_results"], kafka["append_results"], strict=False)
        at = next((n for n, (mine, theirs) in enumerate(pairs) if mine != theirs), "at the end")
        return f"append {at} answers otherwise"
    for nth, (mine, theirs) in enumerate(zip(ours["batches"], kafka["batches"], strict=False)):
        if mine != theirs:
            return f"batch {nth} {mine}, Kafka {theirs}"
    if len(ours["batches"]) != len(kafka["batches"]):
        return f"{len(ours['batches'])} batches, Kafka {len(kafka['batches'])}"
    return None
