"""records-delivered: no record that send() took expires, or is refused for want of memory, in an outage that
ought to be survived: a broker's death, a rolling restart, and the [workload]'s longest_outage.

What is asked is in the rule's params. Kafka's defaults outlast what they meet, so nothing is asked, and no
simulator loaded, where nobody wrote a setting that matters or stated a workload.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....context import Context, Judgement
from ....join.reader import Reader
from ....model import Deployment

_TIMES = (
    "delivery.timeout.ms",
    "message.timeout.ms",
    "linger.ms",
    "queue.buffering.max.ms",
    "request.timeout.ms",
)
_SESSIONS = ("broker.session.timeout.ms", "zookeeper.session.timeout.ms")
_RETRIES = ("retries", "message.send.max.retries")
_MEMORY = ("buffer.memory", "max.block.ms")


def judge(deployment: Deployment, context: Context) -> Iterator[Judgement]:
    if deployment.producer is None:
        return
    look = Reader(deployment, context.clients)
    if _pointed_at(deployment, look, context.part):
        from .delivery_outages import judge_played

        yield from judge_played(deployment, look, context)


def _pointed_at(deployment: Deployment, look: Reader, ask: str) -> bool:
    producer, broker = look.layers.get("producer", {}), look.layers.get("broker", {})
    if ask == "retries":
        # Before 2.1 the Java producer's default is 0.
        java = deployment.producer is not None and deployment.producer.client != "librdkafka"
        old = java and look.version_of("producer").number < (2, 1)
        return old or any(key in producer for key in _RETRIES)
    if ask in ("buffer", "blocking"):
        stated = None not in (look.workload("records_per_second"), look.workload("record_bytes"))
        return stated or (ask == "buffer" and any(key in producer for key in _MEMORY))
    written = any(key in producer for key in _TIMES) or any(key in broker for key in _SESSIONS)
    return written or look.workload("longest_outage") is not None
