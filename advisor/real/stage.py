"""A throw-away cluster set up for one run: brokers, the topic, an administrator; and what is seen of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..tuples import NamedTuple
from .audited import Audited, features
from .cluster.cluster import Cluster
from .cluster.driver import Driver
from .cluster.processes import Processes
from .cluster.proxy import Proxy

Step = Mapping[str, Any]
Progress = Callable[[str], None]
# The first record of every producer, so that a run starts with a producer that knows its leader.
WARM_UP = "warm-up"


class Plan(NamedTuple):
    """What a run needs before it begins. `ids` are the brokers' as the run names them, the first leads;
    `broker` counts before what is audited, and each of `changed` says why."""

    ids: tuple[int, ...]
    partitions: int = 1
    broker: Mapping[str, str] = {}
    proxied: bool = False
    changed: tuple[str, ...] = ()
    # How long the run itself takes, in seconds, with nothing wrong.
    seconds: float = 20


class Outcome(NamedTuple):
    """One run on a real cluster, in the shape of the report's traces. `seen`: the harm was done; `words` say
    what happened, `facts` what was counted."""

    trace: tuple[Step, ...]
    seen: bool
    words: str
    facts: tuple[tuple[str, str], ...] = ()


class Stage:
    def __init__(
        self,
        processes: Processes,
        classpath: str,
        cluster: Cluster,
        audited: Audited,
        plan: Plan,
        proxy: Proxy | None,
        progress: Progress,
    ) -> None:
        self.processes, self.classpath = processes, classpath
        self.cluster, self.audited, self.plan, self.proxy, self.progress = (
            cluster,
            audited,
            plan,
            proxy,
            progress,
        )
        self.topic = audited.topic
        self.admin = Driver(processes, classpath, "admin")
        self.begun = time.monotonic()

    def driver(self, name: str) -> Driver:
        """A process of its own for clients that may be killed."""
        return Driver(self.processes, self.classpath, name)

    def producer(self, name: str = "producer") -> Driver:
        """A process for the audited producer, of its own family."""
        return Driver(self.processes, self.classpath, name, self.audited.producer.family)

    def at(self, client: Mapping[str, str], **more: str) -> dict[str, str]:
        """A client's settings, with the addresses of this cluster."""
        ports = [one.port for one in self.cluster.brokers.values()]
        if self.proxy is not None:
            ports = [self.proxy.doors[one] for one in self.cluster.brokers]
        servers = ",".join(f"127.0.0.1:{port}" for port in ports)
        return {
            **client,
            **{key.replace("_", "."): value for key, value in more.items()},
            "bootstrap.servers": servers,
        }

    def records(self, broker: int, partition: int = 0) -> list[str]:
        """The log of one replica, as a run names its records."""
        log = self.cluster.log_of(broker, self.topic, partition)
        return [one.strip("@") for one in log if one != WARM_UP]

    def read(self, **settings: str) -> dict[int, list[str]]:
        """All that a consumer can read now, by partition."""
        words = self.at({}, group_id="reader", **settings)
        answer = self.admin.tell("read", within=90, topic=self.topic, settings=words)
        return {
            int(partition): [one.strip("@") for one in records if one != WARM_UP]
            for partition, records in answer["records"].items()
        }

    def warm(self, driver: Driver, id: str, partition: int = 0) -> None:
        """One record, confirmed and on all replicas."""
        driver.tell("send", id=id, topic=self.topic, partition=partition, values=[WARM_UP])
        driver.wait_for(lambda events: any(one["event"] in ("acked", "failed") for one in events), 30)
        wanted = len(self.cluster.log_of(self.plan.ids[0], self.topic, partition))
        end = time.monotonic() + 20
        while time.monotonic() < end:
            logs = [len(self.cluster.log_of(one, self.topic, partition)) for one in self.replicas]
            if all(one == wanted for one in logs):
                return
            time.sleep(0.05)

    @property
    def replicas(self) -> tuple[int, ...]:
        return self.plan.ids[: self.audited.replicas]


@contextmanager
def stage(audited: Audited, plan: Plan, classpath: str, progress: Progress) -> Iterator[Stage]:
    """Set up, and ended whatever happens."""
    proxy = Proxy() if plan.proxied else None
    with Processes() as processes:
        try:
            progress("starting the cluster")
            settings = {**audited.broker_settings, **plan.broker}
            cluster = Cluster(
                processes,
                classpath,
                plan.ids,
                settings,
                features(audited),
                proxy.before if proxy is not None else lambda broker, port: port,
            )
            cluster.start()
            made = Stage(processes, classpath, cluster, audited, plan, proxy, progress)
            made.admin.tell("admin", settings=made.at({}))
            made.admin.tell(
                "topic",
                topic=made.topic,
                replicas=placed(plan.ids, audited.replicas, plan.partitions),
                settings=dict(audited.topic_settings),
            )
            cluster.wait_for(made.topic, lambda state: len(state.isr) == audited.replicas, 30)
            yield made
        finally:
            if proxy is not None:
                proxy.end()


def placed(ids: Sequence[int], replicas: int, partitions: int, first: int = 0) -> list[list[int]]:
    """The replicas of each partition, led by one broker after the other."""
    return [
        [ids[(partition + place) % len(ids)] for place in range(replicas)]
        for partition in range(first, partitions)
    ]
