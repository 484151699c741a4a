"""A language client at the pipes of a real `kafka-advisor lsp`: frames and JSON, and no library."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Client:
    """Speaks as an editor does. `diagnostics` are the newest of each file since it last said something."""

    def __init__(self, root: Path, *words: str, resolves: bool = True, cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "advisor", "lsp", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
        )  # fmt: skip
        # A server that falls silent fails the test, and does not hang it.
        self.patience = threading.Timer(120, self.process.kill)
        self.patience.start()
        self.diagnostics: dict[str, Any] = {}
        self.messages: list[str] = []
        self._last = 0
        action = {"resolveSupport": {"properties": ["edit"]}} if resolves else {}
        self.answer = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "capabilities": {"textDocument": {"codeAction": action}},
            },
        )
        self.notify("initialized", {})

    def request(self, method: str, params: Any) -> Any:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        while True:
            got = self._receive()
            if got.get("id") == self._last and "method" not in got:
                assert "error" not in got, got["error"]
                return got["result"]

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def tell(self, method: str, params: Any) -> None:
        """A change: what was found before it no longer counts."""
        nowhere = {"textDocument": {"uri": "file:///nowhere"}, "position": {"line": 0, "character": 0}}
        self.request("textDocument/hover", nowhere)
        self.diagnostics.clear()
        self.notify(method, params)

    def open(self, path: Path, text: str | None = None) -> None:
        text = path.read_text() if text is None else text
        item = {"uri": path.as_uri(), "languageId": "properties", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def type(self, path: Path, text: str, version: int) -> None:
        self.tell(
            "textDocument/didChange",
            {
                "textDocument": {"uri": path.as_uri(), "version": version},
                "contentChanges": [{"text": text}],
            },
        )

    def found(self, path: Path) -> list[dict[str, Any]]:
        while path.as_uri() not in self.diagnostics:
            self._receive()
        return list(self.diagnostics[path.as_uri()]["diagnostics"])

    def actions(self, path: Path, line: int) -> list[dict[str, Any]]:
        place = {"line": line, "character": 0}
        return list(
            self.request(
                "textDocument/codeAction",
                {
                    "textDocument": {"uri": path.as_uri()},
                    "range": {"start": place, "end": place},
                    "context": {"diagnostics": []},
                },
            )
        )

    def hover(self, path: Path, line: int) -> str | None:
        params = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": 2}}
        answer = self.request("textDocument/hover", params)
        return None if answer is None else str(answer["contents"]["value"])

    def end(self) -> int:
        self.request("shutdown", None)
        self.notify("exit", None)
        code = self.process.wait(60)
        self.patience.cancel()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return code

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        data = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read().decode() if self.process.stderr else "ended"
            if line == b"\r\n":
                break
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        got: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if got.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[got["params"]["uri"]] = got["params"]
        elif got.get("method") == "window/showMessage":
            self.messages.append(got["params"]["message"])
        return got


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """The text with the edits made, as an editor makes them: the last first."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda one: -one["range"]["start"]["line"]):
        start, end = (
            min(starts[edit["range"][side]["line"]] + edit["range"][side]["character"], len(text))
            for side in ("start", "end")
        )
        text = text[:start] + edit["newText"] + text[end:]
    return text
