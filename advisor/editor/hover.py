"""What an editor shows for a line: the facts of its setting, and how what is wrong with it happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..catalog import Version, resolve_version
from ..engine import Root
from ..explain.values import says
from ..join.versions import choose_version
from ..model import Document, Finding, Setting, members_of
from ..read.load import FileRecord
from ..tell.explain import setting_facts
from ..tell.run import run_lines, run_of
from ..tell.run.faults import faults_text, spent_in
from ..tell.run.text import legend_lines
from .open_files import Shown

_WIDTH = 84


def hover_text(root: Root, record: FileRecord, line: int, findings: Sequence[Shown]) -> str | None:
    """Markdown for a line, counted from 0; None where nothing is set on it."""
    settings = list(_settings_at(record, line + 1))
    parts = [*(_facts(root, *pair) for pair in settings)]
    parts += [_how(shown.finding) for shown in findings if shown.line == line]
    return "\n\n---\n\n".join(part for part in dict.fromkeys(parts) if part) or None


def _settings_at(record: FileRecord, line: int) -> Iterator[tuple[Document, Setting]]:
    seen = set()
    for document in record.documents:
        for setting in document.settings:
            at = setting.origin.at
            if at is not None and at.line == line and at.file == record.file:
                if (document.component, setting.key) not in seen:
                    yield document, setting
                seen.add((document.component, setting.key))


def _facts(root: Root, document: Document, setting: Setting) -> str:
    version = version_of(root, document)
    found = setting_facts(setting.key, version)
    wanted = [one for one in found if one.component in (document.component, document.client)]
    lines = []
    for facts in wanted or found[:1]:
        of = (
            facts.component
            if facts.component == "librdkafka"
            else f"{facts.component}, Kafka {version.asked}"
        )
        lines.append(f"**{setting.key}** ({of})" + (f": {facts.absent}" if facts.absent else ""))
        lines += [f"- {label}: `{text}`" for label, text in facts.rows]
    if not lines:
        return ""
    told = says(setting.key)
    more = f"`kafka-advisor explain {setting.key}` tells what each value costs and gains." if told else ""
    return "\n".join([*lines[:1], *([told, ""] if told else [""]), *lines[1:], *(["", more] if more else [])])


def version_of(root: Root, document: Document) -> Version:
    known = root.versions.get(id(document))
    if known is not None:
        return known
    for deployment in root.deployments:
        if any(member.file == document.file for member in members_of(deployment)):
            return resolve_version(deployment.version)
    return choose_version(root.project.kafka_version, ())[0]


def _how(finding: Finding) -> str:
    """The finding with its run, as `audit` prints it."""
    lines = [f"**{finding.severity}[{finding.code}]** {_escaped(finding.message)}"]
    trace = finding.evidence.trace
    if trace:
        run = run_of(trace, finding.evidence.guarantee)
        faults = faults_text(spent_in(trace))
        lines += ["", "How it happens" + (f" ({faults}):" if faults else ":"), "```text"]
        lines += run_lines(run, _WIDTH, brief=True, indent="", all_rows=False)
        lines += ["", *legend_lines(run, _WIDTH, brief=True), "```"]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """A value in a message may hold anything: none of it is Markdown or HTML."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|!" else sign for sign in text)
