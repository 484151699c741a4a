"""Which lines of a file must not be shown as they are, and from where in the line.

The text is read by its own grammar, every value is judged under its key, and a value that is not known to be
harmless is hidden with all the lines it takes: block scalars, continuations, quotes over several lines. The
lines where the loader found a secret are hidden whatever is thought of them here. What the grammar cannot
read is judged line by line, with the same doubt.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from ..model import Unknown
from ..read.secrets import KNOWN, SECRET, has_secret_words, holds_secret, is_telling, kind_of_key, words_of
from ..read.values import value_of
from ..syntax.properties import entry_spans
from ..tuples import NamedTuple

_YAML_NAME = re.compile(r"\.(?:ya?ml|json)(?:\.\w{1,8})?$", re.IGNORECASE)
# Line ends that a diff does not know: what a grammar takes for two lines would be one.
_ODD_BREAKS = re.compile("\r(?!\n)|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_PAIR = re.compile(
    r"([ \t]*+(?:- +)*+(?:export +)?[\"']?)([A-Za-z_@][\w.@/-]{0,200}+)"
    r"([\"']?[ \t]*+(?:=|:(?=[ \t]|$))[ \t]*+)"
)
_COMMENTED = re.compile(r"[ \t#!;-]*+(?:export +)?([A-Za-z_][\w.-]{0,200}+)[ \t]*+[=:][ \t]*+(\S+)[ \t]*+")
_TEMPLATE_LINE = re.compile(r"\{\{[^\"'`{}]*+\}\}|\{%[^\"'`{}%]*+%\}")
_TRIVIAL = re.compile(r"(?:true|false|yes|no|on|off|null|~|-?\d{1,5}|\{\}|\[\])", re.IGNORECASE)
_OPENS_BLOCK = re.compile(r"[|>][-+0-9]{0,3}[ \t]*+(?:#.*+)?")
# What opens a block of Terraform: `resource "kafka_topic" "orders" {`.
_BLOCK_OPENS = re.compile(
    r"[ \t]*+(?:resource|data|module|provider|locals|variable|output|terraform)"
    r"(?:[ \t]++\"[\w.-]{1,100}+\"){0,2}+[ \t]*+\{[ \t]*+"
)
_QUOTED_LINES_MAX = 40
# So many secrets of a file are looked for in its other lines.
_SECRETS_MAX = 200
# Words of Compose, Kubernetes, Strimzi and Spring that no password stands behind.
_STRUCTURE_WORDS = """
    apiversion kind metadata namespace labels annotations image container_name hostname restart version
    metadataversion replicas ports expose depends_on networks volumes env_file healthcheck interval timeout
    retries start_period condition protocol containerport port targetport nodeport servicename app cluster
    size class deleteclaim id tls topicname partitions roles active on-profile strategy driver external
    platform strimzi.io/cluster app.kubernetes.io/name imagepullpolicy mountpath configmap optional tasksmax
    bootstrapservers fieldpath
    """
_STRUCTURE = frozenset(_STRUCTURE_WORDS.split())


class _Span(NamedTuple):
    """A value: the lines that it takes with its key, where it begins on the line `at`, whether it is hidden,
    and its text if it is a secret by itself; `reference`: it only names what fills it in, `${PW}`. Lines
    count from 0."""

    first: int
    last: int
    at: int
    column: int
    end_column: int
    hidden: bool
    text: str = ""
    reference: bool = False


def hidden_lines(name: str, data: bytes, secrets: Collection[int] = ()) -> dict[int, int]:
    """For each line of the file (from 0) that must not be shown, how many of its bytes may be. `secrets` are
    the lines (from 1) where a secret was read from the file."""
    encoding = "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = "latin-1"
        text = data.decode(encoding)
    lines = text.split("\n")
    if _ODD_BREAKS.search(text):
        return dict.fromkeys(range(len(lines)), 0)
    lines = [line.removesuffix("\r") for line in lines]
    found = _hidden(name, text, lines, frozenset(number - 1 for number in secrets))
    return {number: len(lines[number][:column].encode(encoding)) for number, column in found.items()}


def _hidden(name: str, text: str, lines: list[str], secrets: Collection[int]) -> dict[int, int]:
    spans = _yaml_spans(text, lines) if _YAML_NAME.search(name) else _line_spans(text, lines)
    if spans is None:
        found = _judged_lines(lines, 0, len(lines))
        spans = []
    else:
        found = _hidden_spans(lines, spans, secrets)
    open_lines = {number for span in spans if span.reference for number in range(span.first, span.last + 1)}
    for number in secrets:
        if number < len(lines) and number not in found and number not in open_lines and lines[number].strip():
            found[number] = _value_start(lines[number])
    given = sorted({span.text for span in spans if len(span.text) >= 8}, key=len)[-_SECRETS_MAX:]
    for number, line in enumerate(lines if given else ()):
        place = min((line.find(secret) for secret in given if secret in line), default=-1)
        if place >= 0:
            found[number] = min(place, found.get(number, place))
    return found


def _hidden_spans(lines: list[str], spans: list[_Span], secrets: Collection[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    told: dict[int, int] = {}  # where the last value on a line ends: a comment may follow
    inside: set[int] = set()
    for span in spans:
        taken = range(span.first, min(span.last + 1, len(lines)))
        read_here = not span.reference and any(number in secrets for number in taken if number <= span.at)
        if span.hidden or read_here:
            for number in range(span.at, taken.stop):
                line = lines[number]
                start = span.column if number == span.at else len(line) - len(line.lstrip())
                if line[start:].strip():
                    found[number] = min(start, found.get(number, start))
        else:
            told[span.last] = max(told.get(span.last, 0), span.end_column)
        inside.update(range(span.at + 1, taken.stop))
        inside.discard(span.last)
    for number, line in enumerate(lines):
        if number in inside or number in found or not line.strip():
            continue
        comment = _comment_start(line, told.get(number, 0))
        if comment is not None:
            found[number] = comment
    return found


def _comment_start(line: str, at: int) -> int | None:
    """Where a comment begins that may hold a secret, if one does from `at` on."""
    rest = line[at:]
    sign = next((place for place, letter in enumerate(rest) if letter in "#!"), None)
    if sign is None or (at == 0 and rest[:sign].strip() and not rest[:sign].endswith((" ", "\t"))):
        return None
    comment = rest[sign:]
    return at + sign + 1 if is_telling(comment) or _is_doubtful_setting(comment) else None


def _is_doubtful_setting(comment: str) -> bool:
    """A setting that is commented out is judged as if it were not."""
    pair = _COMMENTED.fullmatch(comment)
    if pair is None or ("." not in pair[1] and "_" not in pair[1]):
        return False
    return not _is_harmless((pair[1],), pair[2])


def _is_harmless(path: tuple[str, ...], text: str) -> bool:
    """Whether a value may be shown under the last of the names, which stand each under the one before."""
    text = text.strip()
    if not text or _is_reference(text):
        return True
    if _is_secret(path):
        return False
    key = path[-1] if path else ""
    known = next((one for one in (key, ".".join(path)) if kind_of_key(one) == KNOWN), None)
    if known is None and key.lower() not in _STRUCTURE:
        return _TRIVIAL.fullmatch(text) is not None
    value = value_of(known or "name", text)
    return value == text or (isinstance(value, Unknown) and value.template == text)


def _is_secret(path: tuple[str, ...]) -> bool:
    """By the last name, by it with the one above it (`api:` over `key:`), or by a name above that is a
    secret's and not only speaks of one, as the name of a service may."""
    if not path:
        return False
    if kind_of_key(path[-1]) == SECRET or kind_of_key(".".join(path[-2:])) == SECRET:
        return True
    return any(_is_parent_of_secrets(part) for part in path[:-1])


def _is_parent_of_secrets(name: str) -> bool:
    words = words_of(name)
    while words and words[-1] in ("config", "options", "data", "values", "info"):
        words.pop()
    return bool(words) and has_secret_words(words[-1])


def _is_reference(text: str) -> bool:
    """`${PW}` and `{{ pw }}`, with no default and no text around them."""
    if text[:1] not in ("$", "{", "<"):
        return False
    value = value_of("", text)
    return isinstance(value, Unknown) and value.template == text


# Lines of `key = value`: properties and env files.


def _line_spans(text: str, lines: list[str]) -> list[_Span]:
    spans: list[_Span] = []
    until = -1
    for entry in entry_spans(text):
        first, last = entry.first - 1, entry.last - 1
        if first <= until:
            continue  # inside the quotes of the value before
        last = max(last, _closing_line(lines, last, entry.value))
        until = last
        key = entry.key.removeprefix("\ufeff")
        column, value = entry.column, entry.value
        if key == "export" and (pair := _PAIR.match(lines[first])):
            key, column, value = pair[2], pair.end(), lines[first][pair.end() :]
        hidden = not _is_harmless((key,), value) or (last > first and last != entry.last - 1)
        hidden = hidden and not (first == last and _BLOCK_OPENS.fullmatch(lines[first]))
        secret = value.strip().strip("\"'") if hidden and kind_of_key(key) == SECRET else ""
        reference = not hidden and _is_reference(value.strip())
        spans.append(_Span(first, last, first, column, len(lines[last]), hidden, secret, reference))
    return spans


def _closing_line(lines: list[str], number: int, value: str) -> int:
    """The line where a quote closes that an env file leaves open."""
    quote = value.strip()[:1]
    if quote not in ("'", '"') or not quote or value.count(quote) != 1:
        return number
    for last in range(number + 1, min(len(lines), number + _QUOTED_LINES_MAX)):
        if quote in lines[last]:
            return last
    return number


# YAML.


class _Open:
    """A mapping or a list that is open, the names above it, and a mapping's key that waits for its value."""

    __slots__ = ("is_mapping", "key", "key_at", "named", "path", "scalars")

    def __init__(self, is_mapping: bool, path: tuple[str, ...]) -> None:
        self.is_mapping = is_mapping
        self.path = path
        self.key: str | None = None
        self.key_at = (0, 0)
        self.named = ""
        self.scalars: list[tuple[str, tuple[int, int], Any]] = []


def _yaml_spans(text: str, lines: list[str]) -> list[_Span] | None:
    """The scalars of a YAML text; None if it cannot be read as one."""
    from ..model import LoadError
    from ..syntax.yamltree import DEPTH_MAX, parse_yaml, yaml_events

    try:
        parse_yaml(text)  # the limits, and what only the tree can tell
    except LoadError:
        return None
    spans: list[_Span] = []
    stack: list[_Open] = []
    for event in yaml_events(text):
        kind = type(event).__name__
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            if len(stack) > DEPTH_MAX:
                return None
            stack.append(_Open(kind == "MappingStartEvent", _path(stack)))
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            spans += _mapping_spans(stack.pop(), lines)
            _settled(stack)
        elif kind == "AliasEvent":
            _settled(stack)
        elif kind == "ScalarEvent":
            _scalar(stack, event, spans, lines)
    return spans


def _path(stack: list[_Open]) -> tuple[str, ...]:
    if not stack:
        return ()
    above = stack[-1]
    return (*above.path, above.key) if above.is_mapping and above.key is not None else above.path


def _settled(stack: list[_Open]) -> None:
    """A node is done: if its mapping waits for a key, it was one, else the value of one."""
    if stack and stack[-1].is_mapping:
        stack[-1].key = "" if stack[-1].key is None else None


def _scalar(stack: list[_Open], event: Any, spans: list[_Span], lines: list[str]) -> None:
    start = event.start_mark.line, event.start_mark.column
    if not stack:
        spans.append(_span("", (), start, event, False))
        return
    here = stack[-1]
    if not here.is_mapping:
        spans += _spans_of(here.path, start, event, lines)
    elif here.key is None:
        here.key, here.key_at = event.value, start
        if holds_secret(event.value):
            spans.append(_span("", (), start, event, False))
    else:
        if here.key == "name":
            here.named = event.value
        here.scalars.append((here.key, here.key_at, event))
        here.key = None


def _mapping_spans(done: _Open, lines: list[str]) -> Iterator[_Span]:
    for key, key_at, event in done.scalars:
        # A container's variable is a name and a value.
        path = (*done.path, done.named) if key == "value" and done.named else (*done.path, key)
        yield from _spans_of(path, key_at, event, lines)


def _spans_of(
    path: tuple[str, ...], key_at: tuple[int, int], event: Any, lines: list[str]
) -> Iterator[_Span]:
    text = event.value
    first, last = event.start_mark.line, event.end_mark.line
    if event.style in ("|", ">"):
        yield from _block_spans(path, key_at, event, lines)
        return
    start = first, event.start_mark.column
    name, equals, given = text.partition("=")
    if equals and not _is_secret(path) and (pair := _PAIR.match(text)) and pair.start(2) == 0:
        # - KAFKA_NODE_ID=1
        path, text = (*path, name.strip()), given
        written = lines[first].find(f"{name}=", start[1])
        if 0 <= written <= start[1] + 1:
            start = first, written + len(name) + 1
    # A value over several lines is shown as a whole or not at all.
    harmless = _is_harmless(path, text) and (first == last or not text)
    yield _span(text if _is_secret(path) else "", key_at, start, event, harmless)


def _span(secret: str, key_at: tuple[int, ...], start: tuple[int, int], event: Any, harmless: bool) -> _Span:
    first = key_at[0] if key_at else start[0]
    last, end = event.end_mark.line, event.end_mark.column
    reference = harmless and _is_reference(event.value.rpartition("=")[2].strip())
    return _Span(first, last, start[0], start[1], end, not harmless, secret.strip(), reference)


def _block_spans(
    path: tuple[str, ...], key_at: tuple[int, int], event: Any, lines: list[str]
) -> Iterator[_Span]:
    """A block of text: a file in a ConfigMap, whose lines are judged one by one, or a value."""
    first, last = event.start_mark.line, event.end_mark.line - (event.end_mark.column == 0)
    if _is_secret(path):
        yield _Span(first, last, first, event.start_mark.column, len(lines[min(last, len(lines) - 1)]), True)
        return
    hidden = _judged_lines(lines, first + 1, min(last + 1, len(lines)))
    for number in range(first + 1, min(last + 1, len(lines))):
        line = lines[number]
        yield _Span(number, number, number, hidden.get(number, 0), len(line), number in hidden)


# Line by line, without a grammar.


def _judged_lines(lines: list[str], first: int, end: int) -> dict[int, int]:
    found: dict[int, int] = {}
    below: int | None = None  # lines deeper than this belong to something hidden
    number = first
    while number < end:
        line = lines[number]
        here = number
        number += 1
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if not bare:
            continue
        if below is not None and indent > below:
            found[here] = indent
            continue
        below = None
        start, opens = _judged_line(line, bare, indent)
        if start is not None:
            found[here] = start
        if opens:
            below = indent
        while lines[number - 1].endswith("\\") and number < end:
            if here in found:
                found[number] = len(lines[number]) - len(lines[number].lstrip())
            number += 1
    return found


def _judged_line(line: str, bare: str, indent: int) -> tuple[int | None, bool]:
    """Where the line must be hidden from, if it must, and whether what is indented below goes with it."""
    if bare[0] in "#!":
        return _comment_start(line, 0), False
    if _TEMPLATE_LINE.fullmatch(bare):
        return None, False
    pair = _PAIR.match(line)
    if pair is None:
        return (indent, True) if not _TRIVIAL.fullmatch(bare.lstrip("- ")) else (None, False)
    value = line[pair.end() :].strip()
    if not value or _OPENS_BLOCK.fullmatch(value):
        return None, has_secret_words(pair[2])
    inner = _PAIR.match(value.strip("\"'"))
    if inner is not None and inner.end() < len(value) and has_secret_words(inner[2]):
        return pair.end(), True
    cut, sign, comment = value.partition(" #")
    if sign and is_telling(comment):
        return pair.end(), True
    value = cut.strip()
    quoted = value[:1] in ("'", '"')
    if quoted and (len(value) < 2 or value[-1] != value[0]):
        return pair.end(), True
    return (None, False) if _is_harmless((pair[2],), value.strip("\"'")) else (pair.end(), True)


def _value_start(line: str) -> int:
    pair = _PAIR.match(line)
    return pair.end() if pair is not None else len(line) - len(line.lstrip())
