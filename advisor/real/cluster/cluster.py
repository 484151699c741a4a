"""One controller and a few brokers on loopback, each a process that can be frozen, killed and emptied.

It knows no other cluster: every address is its own, on a port that the system gave out for this run.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from ...tuples import NamedTuple
from .metadata_log import PartitionState, history
from .processes import Processes
from .record_batches import segments, stored_in

CONTROLLER = 100
START_SECONDS = 120.0
_HEAP = "400m"
# What every node of a small, short-lived cluster has; what is audited comes after it.
_SMALL = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "auto.create.topics.enable": "false",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "num.recovery.threads.per.data.dir": "1",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
}


class ClusterError(Exception):
    """The throw-away cluster does not do what it must."""


class Broker(NamedTuple):
    id: int
    port: int
    folder: Path
    properties: Path


class Cluster:
    """`settings` are of every broker, `features` those that the storage is formatted with, `proxied` gives
    the port at which clients are told to find a broker."""

    def __init__(
        self,
        processes: Processes,
        classpath: str,
        ids: Sequence[int],
        settings: Mapping[str, str],
        features: Mapping[str, int] = {},
        proxied: Callable[[int, int], int] = lambda broker, port: port,
        controller: Mapping[str, str] = {},
    ) -> None:
        self._processes, self._classpath = processes, classpath
        self._id = _random_id()
        self._running: dict[int, subprocess.Popen[Any]] = {}
        self._frozen: set[int] = set()
        self._controller_port = free_port()
        # A topic for groups on three brokers, or on as many as there are.
        copies = str(min(3, len(ids)))
        shared = {
            **_SMALL,
            "controller.quorum.voters": f"{CONTROLLER}@127.0.0.1:{self._controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,BETWEEN:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": "1",
            **settings,
        }
        self._controller = self._written(
            CONTROLLER, self._controller_port, {**shared, **controller}, "CONTROLLER", self._controller_port
        )
        self.brokers = {}
        for one in ids:
            port = free_port()
            self.brokers[one] = self._written(one, port, shared, "PLAINTEXT", proxied(one, port))
        self._format(features)

    # Starting.

    def start(self) -> None:
        self._launch(self._controller)
        for one in self.brokers:
            self._launch(self.brokers[one])
        for one in self.brokers:
            self._await_port(self.brokers[one])

    def address(self, *ids: int) -> str:
        return ",".join(f"127.0.0.1:{self.brokers[one].port}" for one in ids or self.brokers)

    def restart(self, broker: int) -> None:
        """Started again with the log that it has; it serves when this returns."""
        if broker not in self._running:
            self._launch(self.brokers[broker])
        self._await_port(self.brokers[broker])

    # What goes wrong.

    def freeze(self, broker: int) -> None:
        if broker not in self._frozen:
            self._running[broker].send_signal(signal.SIGSTOP)
            self._frozen.add(broker)

    def resume(self, broker: int) -> None:
        if broker in self._frozen:
            self._frozen.discard(broker)
            if broker in self._running:
                self._running[broker].send_signal(signal.SIGCONT)

    def kill(self, broker: int) -> None:
        """kill -9: the process is gone, its log stays."""
        self._frozen.discard(broker)
        self._processes.kill(self._running.pop(broker))

    def stop(self, broker: int, within: float = 60) -> None:
        """A clean stop: leadership is handed over first."""
        self.resume(broker)
        process = self._running.pop(broker)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(within)
        except subprocess.TimeoutExpired:
            self._processes.kill(process)
        self._processes.ended(process)

    def wipe(self, broker: int, topic: str) -> None:
        """The replica's log is gone, as from a disk that was replaced. The broker must be down."""
        for folder in self.brokers[broker].folder.glob(f"{topic}-*"):
            shutil.rmtree(folder)

    def cut(self, broker: int, topic: str, records: int) -> None:
        """What was not yet on disk is gone: only the first `records` are kept. The broker must be down."""
        folder = self.brokers[broker].folder / f"{topic}-0"
        for path in segments(folder):
            keep = max((one.end for one in stored_in(path) if one.offset < records), default=0)
            os.truncate(path, keep)
        for index in (*folder.glob("*.index"), *folder.glob("*.timeindex"), *folder.glob("*.snapshot")):
            index.unlink()

    # What can be seen.

    def is_up(self, broker: int) -> bool:
        return broker in self._running

    def is_frozen(self, broker: int) -> bool:
        return broker in self._frozen

    def log_of(self, broker: int, topic: str, partition: int = 0) -> list[str]:
        """The records of a replica, as they lie on its disk now; markers of transactions are left out."""
        folder = self.brokers[broker].folder / f"{topic}-{partition}"
        try:
            return [
                one.value.decode(errors="replace").strip()
                for path in segments(folder)
                for one in stored_in(path)
                if not one.control
            ]
        except FileNotFoundError:
            return []  # deleted between a look at the folder and one at the file

    def history(self, topic: str, partition: int = 0) -> list[PartitionState]:
        return history(self._controller.folder, topic, partition)

    def now(self, topic: str, partition: int = 0) -> PartitionState:
        states = self.history(topic, partition)
        if not states:
            raise ClusterError(f"the controller knows no topic {topic}")
        return states[-1]

    def wait_for(
        self, topic: str, true: Callable[[PartitionState], bool], within: float, partition: int = 0
    ) -> bool:
        """Has the partition come to be so within so many seconds?"""
        end = time.monotonic() + within
        while True:
            states = self.history(topic, partition)
            if states and true(states[-1]):
                return True
            if time.monotonic() >= end:
                return False
            time.sleep(0.05)

    def said(self, broker: int, lines: int = 5) -> str:
        """The last words of a process, for an error."""
        path = self._processes.folder / f"node-{broker}.log"
        return " / ".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""

    # Inside.

    def _written(self, id: int, port: int, settings: Mapping[str, str], listener: str, told: int) -> Broker:
        folder = self._processes.folder / f"data-{id}"
        properties = {
            **settings,
            "process.roles": "controller" if listener == "CONTROLLER" else "broker",
            "node.id": str(id),
            "listeners": f"{listener}://127.0.0.1:{port}",
            "log.dirs": str(folder),
        }
        if listener != "CONTROLLER":
            # Brokers speak to each other past the proxy.
            between = f"BETWEEN://127.0.0.1:{free_port()}"
            properties["listeners"] += f",{between}"
            properties["inter.broker.listener.name"] = "BETWEEN"
            properties["advertised.listeners"] = f"{listener}://127.0.0.1:{told},{between}"
        path = self._processes.folder / f"node-{id}.properties"
        path.write_text("".join(f"{key}={_escaped(value)}\n" for key, value in properties.items()))
        return Broker(id, port, folder, path)

    def _format(self, features: Mapping[str, int]) -> None:
        words = ["kafka.tools.StorageTool", "format", "-t", self._id, "-c", str(self._controller.properties)]
        for name, level in features.items():
            words += ["--feature", f"{name}={level}"]
        with (self._processes.folder / "format.log").open("w") as out:
            process = self._processes.java(self._classpath, words, "128m", out)
            code = process.wait(START_SECONDS)
            self._processes.ended(process)
        if code:
            text = (self._processes.folder / "format.log").read_text(errors="replace").strip()
            raise ClusterError(
                f"the storage could not be formatted: {text.splitlines()[-1] if text else code}"
            )
        # A broker needs no more than its name on its disk.
        for broker in self.brokers.values():
            broker.folder.mkdir()
            (broker.folder / "meta.properties").write_text(
                f"version=1\ncluster.id={self._id}\nnode.id={broker.id}\ndirectory.id={_random_id()}\n"
            )

    def _launch(self, broker: Broker) -> None:
        with (self._processes.folder / f"node-{broker.id}.log").open("a") as out:
            heap = "192m" if broker.id == CONTROLLER else _HEAP
            self._running[broker.id] = self._processes.java(
                self._classpath, ["kafka.Kafka", str(broker.properties)], heap, out
            )

    def _await_port(self, broker: Broker) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self._running[broker.id].poll() is not None:
                raise ClusterError(f"broker {broker.id} does not start: {self.said(broker.id)}")
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", broker.port)) == 0:
                    return
            time.sleep(0.1)
        raise ClusterError(f"broker {broker.id} did not start within {START_SECONDS:g} s")


def free_port() -> int:
    """One that nobody listens on, as the system gives it out."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _random_id() -> str:
    """As Kafka makes them: none begins with a dash, which a command would take for an option."""
    while (made := urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return made


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")
