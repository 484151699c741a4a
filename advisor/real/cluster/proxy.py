"""Between the producer and each broker: produce requests and their answers pass when they are told to.

It changes no byte. It holds a request or an answer back, or breaks a connection, as a network does. Other
requests pass at once.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

_PRODUCE = 0
# As the producer writes them for this purpose: `@r0@`.
_NAMES = re.compile(rb"@(r\d+)@")


def marked(name: str) -> str:
    """A record's value by which its request is known on the wire."""
    return f"@{name}@"


class Request:
    """A produce request on a connection. stage: held -> passed -> answered -> done; or lost."""

    def __init__(self, names: tuple[str, ...], broker: int, line: _Line, correlation: int) -> None:
        self.names, self.broker, self.line, self.correlation = names, broker, line, correlation
        self.stage = "held"


class _Line:
    """One connection: the two sockets of it."""

    def __init__(self, client: socket.socket, broker: socket.socket) -> None:
        self.client, self.broker = client, broker

    def close(self, client_only: bool = False) -> None:
        for one in (self.client,) if client_only else (self.client, self.broker):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()


class Proxy:
    """`holding`: produce requests and their answers wait until they are let through."""

    def __init__(self) -> None:
        self.holding = False
        self.requests: list[Request] = []
        self._changed = threading.Condition()
        self.doors: dict[int, int] = {}
        self._doors: list[socket.socket] = []
        self._lines: list[_Line] = []
        self._ended = False

    def before(self, broker: int, port: int) -> int:
        """The port at which clients reach this broker through the proxy."""
        door = socket.create_server(("127.0.0.1", 0))
        self._doors.append(door)
        self._thread(self._accept, door, broker, port)
        self.doors[broker] = int(door.getsockname()[1])
        return self.doors[broker]

    def open(self) -> None:
        """Everything passes from now on, what is held too."""
        with self._changed:
            self.holding = False
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for door in self._doors:
            door.close()
        for line in self._lines:
            line.close()

    # What a run does to requests.

    def find(self, name: str, *stages: str) -> Request | None:
        """The newest request with this record in one of these stages."""
        with self._changed:
            return self._find(name, stages)

    def _find(self, name: str, stages: tuple[str, ...]) -> Request | None:
        return next(
            (one for one in reversed(self.requests) if name in one.names and one.stage in stages), None
        )

    def wait_for(self, name: str, stage: str, within: float) -> Request | None:
        with self._changed:
            self._changed.wait_for(lambda: self._find(name, (stage,)) is not None, within)
            return self._find(name, (stage,))

    def let_through(self, request: Request) -> None:
        """On to the broker; an answer, on to the producer."""
        self._set(request, {"held": "passed", "answered": "done"}[request.stage])

    def break_connection(self, request: Request, client_only: bool = False) -> None:
        """Both ends; or the producer's alone, so that the broker still gets what lies in the line."""
        with self._changed:
            for one in self.requests:
                if one.line is request.line and (one.stage in ("passed", "answered") or not client_only):
                    one.stage = "lost" if one.stage != "done" else one.stage
            self._changed.notify_all()
        request.line.close(client_only)

    def in_flight(self) -> list[Request]:
        with self._changed:
            return [one for one in self.requests if one.stage in ("held", "passed", "answered")]

    # Inside.

    def _set(self, request: Request, stage: str) -> None:
        with self._changed:
            request.stage = stage
            self._changed.notify_all()

    def _thread(self, work: Callable[..., None], *words: Any) -> None:
        threading.Thread(target=work, args=words, daemon=True).start()

    def _accept(self, door: socket.socket, broker: int, port: int) -> None:
        while True:
            try:
                client, _ = door.accept()
            except OSError:
                return
            try:
                line = _Line(client, socket.create_connection(("127.0.0.1", port), 5))
            except OSError:
                client.close()  # it is down
                continue
            line.broker.settimeout(None)
            self._lines.append(line)
            answers: dict[int, Request] = {}
            self._thread(self._up, line, broker, answers)
            self._thread(self._down, line, answers)

    def _up(self, line: _Line, broker: int, answers: dict[int, Request]) -> None:
        """Requests, in their order: one that is held holds those behind it."""
        queue: list[tuple[bytes, Request | None]] = []
        arrived = threading.Condition()

        def forward() -> None:
            while True:
                with arrived:
                    arrived.wait_for(lambda: bool(queue))
                    frame, request = queue.pop(0)
                if not frame:
                    return
                if request is not None and not self._may_pass(request, "held"):
                    continue
                try:
                    line.broker.sendall(frame)
                except OSError:
                    return

        self._thread(forward)
        for frame in _frames(line.client):
            kind, _, correlation = struct.unpack_from(">hhi", frame, 4)
            request = None
            names = tuple(one.decode() for one in _NAMES.findall(frame)) if kind == _PRODUCE else ()
            if names and self.holding:
                request = answers[correlation] = Request(names, broker, line, correlation)
                with self._changed:
                    self.requests.append(request)
                    self._changed.notify_all()
            with arrived:
                queue.append((frame, request))
                arrived.notify_all()
        with arrived:
            queue.append((b"", None))
            arrived.notify_all()
        held = any(one.line is line and one.stage == "held" for one in self.in_flight())
        if not held:
            line.close()

    def _down(self, line: _Line, answers: dict[int, Request]) -> None:
        for frame in _frames(line.broker):
            request = answers.pop(struct.unpack_from(">i", frame, 4)[0], None)
            if request is not None:
                if request.stage == "lost":
                    continue
                self._set(request, "answered")
                if not self._may_pass(request, "answered"):
                    continue
            try:
                line.client.sendall(frame)
            except OSError:
                continue  # the producer gave the connection up
        line.close()

    def _may_pass(self, request: Request, waiting: str) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: request.stage != waiting or not self.holding or self._ended)
            if request.stage == waiting:
                request.stage = {"held": "passed", "answered": "done"}[waiting]
                self._changed.notify_all()
            return request.stage != "lost"


def _frames(end: socket.socket) -> Any:
    """Whole requests or answers, each with its length before it."""
    data = b""
    while True:
        while len(data) >= 4 and len(data) >= 4 + struct.unpack_from(">i", data)[0]:
            size = 4 + struct.unpack_from(">i", data)[0]
            yield data[:size]
            data = data[size:]
        try:
            more = end.recv(65536)
        except OSError:
            return
        if not more:
            return
        data += more


def patient(true: Callable[[], bool], within: float) -> bool:
    """Has it come true within so many seconds?"""
    end = time.monotonic() + within
    while not true():
        if time.monotonic() >= end:
            return False
        time.sleep(0.02)
    return True
