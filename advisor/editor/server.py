"""The language server: the protocol on one side, open files on the other.

An audit runs on the main thread, for the time limit of plugins needs it; it starts when nobody has typed for
a moment, and what was answered before is not asked again.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Any, BinaryIO, cast

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from .. import __version__
from ..engine import Options
from ..guard.calls import PluginError
from ..model import Finding, UsageError
from ..output.text import printable
from ..read.files import PROJECT_FILE
from ..syntax.numbers import count
from .completion import Offer, offers
from .hover import hover_text
from .open_files import OpenFiles, Shown
from .quick_fix import CannotFix, Edit, changes_text, edits, is_fixable, title_of

# So long nobody must have typed.
QUIET_SECONDS = 0.25
_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
SOURCE = "kafka-advisor"


def serve(options: Options) -> None:
    """Until the client says exit, or its end of the pipe is closed."""
    # pygls closes what it is given; and nothing else may speak where the client listens.
    spoken = cast(BinaryIO, os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    with redirect_stdout(sys.stderr):
        _Advisor(options).server.start_io(stdout=spoken)


class _Advisor:
    def __init__(self, options: Options) -> None:
        self.server = LanguageServer("kafka-advisor", __version__)
        self.files = OpenFiles(options)
        self.uris: dict[str, str] = {}
        self.waiting: asyncio.Task[None] | None = None
        self.told = ""
        self._answer(lsp.TEXT_DOCUMENT_DID_OPEN, self.opened)
        self._answer(lsp.TEXT_DOCUMENT_DID_CHANGE, self.changed)
        self._answer(lsp.TEXT_DOCUMENT_DID_SAVE, self.saved)
        self._answer(lsp.TEXT_DOCUMENT_DID_CLOSE, self.closed)
        self._answer(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, self.saved)
        self._answer(lsp.TEXT_DOCUMENT_HOVER, self.hover)
        self._answer(lsp.TEXT_DOCUMENT_COMPLETION, self.completion, lsp.CompletionOptions(["=", "."]))
        actions = lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix], resolve_provider=True)
        self._answer(lsp.TEXT_DOCUMENT_CODE_ACTION, self.actions, actions)
        self._answer(lsp.CODE_ACTION_RESOLVE, self.resolved)

    def _answer(self, name: str, handler: Callable[[Any], Any], options: Any = None) -> None:
        # pygls marks what it is given, and a method cannot be marked.
        self.server.feature(name, options)(lambda params: handler(params))

    # Texts come and go.

    def opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        self._typed(params.text_document.uri)

    def changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        self._typed(params.text_document.uri)

    def saved(self, params: Any) -> None:
        self.files.files_changed()
        self._audit_soon()

    def closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        path = to_fs_path(params.text_document.uri)
        if path is not None and self.uris.pop(path, None) is not None:
            self.files.close(path)
            self._publish(params.text_document.uri, [])
            self._audit_soon()

    def _typed(self, uri: str) -> None:
        path = to_fs_path(uri)
        if path is not None and uri.startswith("file:"):
            self.uris[path] = uri
            self.files.put(path, self.server.workspace.get_text_document(uri).source)
            self._audit_soon()

    # Findings.

    def _audit_soon(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
        self.waiting = asyncio.get_running_loop().create_task(self._audit_when_quiet())

    async def _audit_when_quiet(self) -> None:
        await asyncio.sleep(QUIET_SECONDS)
        self._audit()

    def _audit(self) -> None:
        problem = ""
        try:
            self.files.audit()
        except (UsageError, PluginError) as error:
            problem = str(error)
        for path, uri in self.uris.items():
            found = [] if problem else [self._diagnostic(uri, shown) for shown in self.files.findings(path)]
            self._publish(uri, found or _project_problem(path, problem))
        if problem and problem != self.told:
            message = lsp.ShowMessageParams(lsp.MessageType.Error, printable(f"kafka-advisor: {problem}"))
            self.server.window_show_message(message)
        self.told = problem

    def _publish(self, uri: str, found: Sequence[lsp.Diagnostic]) -> None:
        document = self.server.workspace.text_documents.get(uri)
        version = document.version if document is not None else None
        params = lsp.PublishDiagnosticsParams(uri, list(found), version)
        self.server.text_document_publish_diagnostics(params)

    def _diagnostic(self, uri: str, shown: Shown) -> lsp.Diagnostic:
        finding = shown.finding
        return lsp.Diagnostic(
            range=self._range(uri, shown.line, shown.span),
            message=_printable(_message(finding)),
            severity=_SEVERITY[finding.severity],
            code=finding.code,
            source=SOURCE,
            related_information=self._related(shown),
        )

    def _related(self, shown: Shown) -> list[lsp.DiagnosticRelatedInformation]:
        """The settings elsewhere that decide together with this one."""
        found = []
        for _, setting in shown.finding.settings:
            at = setting.origin.at
            if at is not None and at.line is not None and at != shown.finding.at:
                uri = from_fs_path(f"{shown.root.workspace.root}/{at.file}")
                place = lsp.Range(lsp.Position(at.line - 1, 0), lsp.Position(at.line, 0))
                text = printable(f"together with {setting.key}={setting.value}")
                if uri is not None:
                    found.append(lsp.DiagnosticRelatedInformation(lsp.Location(uri, place), text))
        return found

    def _range(self, uri: str, line: int, span: tuple[int, int]) -> lsp.Range:
        """In the units that the client counts columns in."""
        document = self.server.workspace.get_text_document(uri)
        place = lsp.Range(lsp.Position(line, span[0]), lsp.Position(line, span[1]))
        return document.position_codec.range_to_client_units(document.lines, place)

    # A line, and what to do about it.

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        path = to_fs_path(params.text_document.uri) or ""
        found = self.files.record(path)
        if found is None:
            return None
        text = hover_text(*found, params.position.line, list(self.files.findings(path)))
        if not text:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, _printable(text)))

    def completion(self, params: lsp.CompletionParams) -> lsp.CompletionList:
        uri = params.text_document.uri
        found = self.files.record(to_fs_path(uri) or "")
        document = self.server.workspace.get_text_document(uri)
        if found is None or params.position.line >= len(document.lines):
            return lsp.CompletionList(False, [])
        place = document.position_codec.position_from_client_units(document.lines, params.position)
        line = document.lines[place.line].rstrip("\r\n")
        items = [self._offered(uri, params.position, one) for one in offers(*found, line, place.character)]
        return lsp.CompletionList(False, items)

    def _offered(self, uri: str, cursor: lsp.Position, offer: Offer) -> lsp.CompletionItem:
        start = self._range(uri, cursor.line, (offer.start, offer.start)).start
        return lsp.CompletionItem(
            offer.text,
            kind=lsp.CompletionItemKind.Property if offer.is_key else lsp.CompletionItemKind.Value,
            detail=offer.detail or None,
            documentation=offer.says or None,
            text_edit=lsp.TextEdit(lsp.Range(start, cursor), offer.text + ("=" if offer.is_key else "")),
        )

    def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        first, last = params.range.start.line, params.range.end.line
        # What one change mends is one action.
        alike: dict[Any, list[Shown]] = {}
        for shown in self.files.findings(to_fs_path(uri) or ""):
            if first <= shown.line <= last and is_fixable(shown.finding):
                alike.setdefault(shown.finding.fixes[0].changes, []).append(shown)
        made = [self._action(uri, group) for group in alike.values()]
        return made if self._resolves_later() else [self.resolved(action) for action in made]

    def _action(self, uri: str, group: Sequence[Shown]) -> lsp.CodeAction:
        shown = group[0]
        return lsp.CodeAction(
            title=printable(title_of([one.finding for one in group])),
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[self._diagnostic(uri, one) for one in group],
            data=[uri, shown.finding.code, shown.line, shown.finding.message],
        )

    def _resolves_later(self) -> bool:
        """A fix is tried when it is chosen, where the client can wait for it."""
        document = self.server.client_capabilities.text_document
        action = document.code_action if document is not None else None
        later = action.resolve_support if action is not None else None
        return later is not None and "edit" in later.properties

    def resolved(self, action: lsp.CodeAction) -> lsp.CodeAction:
        uri, code, line, message = action.data or ("", "", 0, "")
        for shown in self.files.findings(to_fs_path(uri) or ""):
            if (shown.finding.code, shown.line, shown.finding.message) == (code, line, message):
                try:
                    action.edit = self._workspace_edit(edits(self.files.options, shown))
                except (CannotFix, UsageError, PluginError) as reason:
                    action.disabled = lsp.CodeActionDisabled(printable(str(reason)))
                return action
        action.disabled = lsp.CodeActionDisabled("the text has changed since")
        return action

    def _workspace_edit(self, found: dict[str, list[Edit]]) -> lsp.WorkspaceEdit:
        changes = {}
        for path, lines in found.items():
            uri = next((uri for known, uri in self.uris.items() if known == path), from_fs_path(path))
            changes[uri or ""] = [
                lsp.TextEdit(lsp.Range(lsp.Position(one.start, 0), lsp.Position(one.end, 0)), one.text)
                for one in lines
            ]
        return lsp.WorkspaceEdit(changes=changes)


def _message(finding: Finding) -> str:
    lines = [finding.message]
    if finding.fixes:
        lines.append(f"Fix: {changes_text(finding)}")
    lines += finding.advice
    return "\n".join(lines)


def _printable(text: str) -> str:
    """Line by line: what a value holds ends no line and drives nothing."""
    return "\n".join(map(printable, text.split("\n")))


def _project_problem(path: str, problem: str) -> list[lsp.Diagnostic]:
    """A kafka-advisor.toml that is refused, at its line."""
    found = re.match(rf"(.*{re.escape(PROJECT_FILE)}):(\d+): (.*)", problem)
    if found is None or not path.endswith(PROJECT_FILE):
        return []
    line = (count(found[2]) or 1) - 1
    place = lsp.Range(lsp.Position(line, 0), lsp.Position(line + 1, 0))
    return [lsp.Diagnostic(place, printable(found[3]), lsp.DiagnosticSeverity.Error, source=SOURCE)]
