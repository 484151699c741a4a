"""Real clients in a process of their own, told what to do line by line: Java's (`Driver.java`), or a producer
of librdkafka (`librdkafka_driver.py`)."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from .processes import Processes

Event = Mapping[str, Any]
_LIBRDKAFKA = Path(__file__).parent / "librdkafka_driver.py"


class DriverError(Exception):
    """What a client was told to do ended with an exception of Kafka's."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(f"{error}: {message}")
        self.error = error


class Driver:
    """One process with any number of clients; killing it is a client's crash."""

    def __init__(
        self, processes: Processes, classpath: str, name: str = "clients", family: str = "java"
    ) -> None:
        self._processes = processes
        with (processes.folder / f"{name}.log").open("a") as out:
            if family == "librdkafka":
                self._process = processes.start([sys.executable, str(_LIBRDKAFKA)], out, into=True)
            else:
                self._process = processes.java(classpath, ["Driver"], "160m", out, into=True)
        self.events: list[Event] = []
        self._answers: dict[int, Event] = {}
        self._numbers = count(1)
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._listen, daemon=True).start()

    def tell(self, do: str, within: float = 60, **words: Any) -> Event:
        """The answer to one command; what a client throws is a DriverError."""
        number = next(self._numbers)
        self.hand_over(do, number=number, **words)
        with self._changed:
            self._changed.wait_for(lambda: number in self._answers or self._ended, within)
            answer = self._answers.pop(number, None)
        if answer is None:
            raise DriverError("no answer", f"{do} took more than {within:g} s")
        if "error" in answer:
            raise DriverError(answer["error"], answer["message"])
        return answer

    def hand_over(self, do: str, number: int = 0, **words: Any) -> None:
        """One command, whose answer nobody waits for."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, "number": number, **words}) + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise DriverError("gone", "the clients' process has ended") from None

    def wait_for(self, true: Callable[[list[Event]], Any], within: float) -> bool:
        """Has it come true of the events within so many seconds?"""
        with self._changed:
            return bool(self._changed.wait_for(lambda: true(self.events) or self._ended, within)) and bool(
                true(self.events)
            )

    def told(self, *names: str, id: str | None = None) -> list[Event]:
        with self._changed:
            return [one for one in self.events if one["event"] in names and id in (None, one["id"])]

    def freeze(self) -> None:
        """All its clients pause, as in a long collection of garbage."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._processes.kill(self._process)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                said = json.loads(line)
                with self._changed:
                    if "event" in said:
                        self.events.append({**said, "heard": time.monotonic()})
                    else:
                        self._answers[said["answers"]] = said
                    self._changed.notify_all()
        except (OSError, ValueError):
            pass  # it was killed in the middle of a line
        with self._changed:
            self._ended = True
            self._changed.notify_all()
