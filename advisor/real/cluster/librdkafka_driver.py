"""A librdkafka producer that does as it is told: the commands of Driver.java that a producer needs.

It runs in a process of its own, `python librdkafka_driver.py`, and imports nothing of ours.
"""

import json
import sys
import threading
import time
from typing import Any

_LOCK = threading.Lock()
_PRODUCERS: dict[str, Any] = {}


def tell(said: dict[str, Any]) -> None:
    with _LOCK:
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def event(name: str, id: str, **more: Any) -> None:
    tell({"event": name, "id": id, "at_ms": round(time.time() * 1000), **more})


def send(asked: dict[str, Any], name: str) -> None:
    producer, id = _PRODUCERS[asked["id"]], asked["id"]
    begun = time.monotonic()

    def answered(error: Any, message: Any) -> None:
        after = round((time.monotonic() - begun) * 1000)
        if error is None:
            event("acked", id, record=name, after_ms=after, offset=message.offset())
        else:
            event("failed", id, record=name, after_ms=after, error=error.name(), message=error.str())

    value = name.ljust(asked.get("size", 0)).encode()
    words = {"partition": asked["partition"]} if "partition" in asked else {}
    try:
        producer.produce(asked["topic"], value=value, on_delivery=answered, **words)
    except Exception as error:
        after = round((time.monotonic() - begun) * 1000)
        event("failed", id, record=name, after_ms=after, error=type(error).__name__, message=str(error))


def stream(asked: dict[str, Any]) -> None:
    next_at = time.monotonic()
    for number in range(asked["records"]):
        time.sleep(max(0.0, next_at - time.monotonic()))
        next_at += 1 / asked["rate"]
        send(asked, f"r{number}")
    event("streamed", asked["id"])


def serve(producer: Any) -> None:
    """Answers are told by a thread that polls for them."""
    while True:
        producer.poll(0.05)


def do(asked: dict[str, Any]) -> None:
    from confluent_kafka import Producer

    match asked["do"]:
        case "producer":
            made = _PRODUCERS[asked["id"]] = Producer({**asked["settings"], "log_level": 0})
            threading.Thread(target=serve, args=(made,), daemon=True).start()
        case "send":
            for name in asked["values"]:
                send(asked, name)
        case "stream":
            threading.Thread(target=stream, args=(asked,), daemon=True).start()
        case "partitions":
            _PRODUCERS[asked["id"]].list_topics(asked["topic"], timeout=30)
        case "init":
            _PRODUCERS[asked["id"]].init_transactions(60)
        case "begin":
            _PRODUCERS[asked["id"]].begin_transaction()
        case "abort":
            _PRODUCERS[asked["id"]].abort_transaction(60)
        case "commit":
            _PRODUCERS[asked["id"]].commit_transaction(60)
        case "close":
            _PRODUCERS.pop(asked["id"]).flush(5)
        case other:
            raise ValueError(f"a librdkafka producer is not told to {other}")


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        answer: dict[str, Any] = {"answers": asked["number"]}
        try:
            do(asked)
        except Exception as error:
            answer |= {"error": type(error).__name__, "message": str(error)}
        tell(answer)


if __name__ == "__main__":
    main()
