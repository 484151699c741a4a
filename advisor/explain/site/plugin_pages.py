"""The guide for plugin authors: its texts as they are written, and the whole API from the code itself."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ... import api, hookspecs
from ...packs.vocabulary import BROKER_FAULTS, PRODUCER_FAULTS, TRANSACTION_FAULTS
from ...schemas import load_schema
from ...tell.html.markup import Child, Markup, join, tag, wide
from .layout import Page, code, heading
from .markdown import anchor, inline, markup_of, title_of

PART = "plugins"
_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "guide")


def guide_texts() -> dict[str, str]:
    """By the name of the page, in the order of reading: a file is called by its place and its name."""
    found = {}
    for name in sorted(os.listdir(_FOLDER)):
        with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
            found[name.removesuffix(".md").partition("-")[2]] = file.read()
    return found


def plugin_pages() -> Iterator[Page]:
    texts = guide_texts()
    pages = [_page(name, text) for name, text in texts.items() if name != "index"]
    pages += [_fields_page(), _api_page()]
    items = [
        tag(
            "li",
            tag("a", page.title, href=page.path.partition("/")[2]),
            tag("span", inline(page.about), class_="about"),
        )
        for page in pages
    ]
    first = _page("index", texts["index"])
    yield first._replace(
        kind="list", body=join(first.body, tag("h2", "Pages"), tag("ul", items, class_="list plain"))
    )
    yield from pages


def _page(name: str, text: str) -> Page:
    title = title_of(text)
    about = next(line for line in text.splitlines()[1:] if line)
    body = join(heading("Plugins", title), markup_of(text))
    return Page(f"{PART}/{name}.html", title, "guide", about, body, {}, text)


# -- every field of a pack ---------------------------------------------------------------------------------


def _fields_page() -> Page:
    """From the schema that packs are checked by, so that none is missing."""
    schema = load_schema("pack")
    rule = schema["$defs"]["rule"]
    tables = [
        ("The pack: [pack]", schema["properties"]["pack"], ""),
        ("A rule: [[rule]]", rule, "Exactly one of guarantee, when and check decides it."),
        ("Where it applies: rule.applies", rule["properties"]["applies"], "All of them, if it says nothing."),
        ("An example: [[rule.example]]", schema["$defs"]["example"], ""),
        ("Another pack's rule: [narrow.CODE]", schema["$defs"]["narrowing"], ""),
    ]
    parts: list[Child] = [heading("Plugins", "Every field of a rule pack")]
    for title, table, about in tables:
        parts += [tag("h2", title, id=anchor(title)), tag("p", about) if about else None, _fields(table)]
    parts.append(tag("h2", "The faults that a rule may count", id="faults"))
    parts.append(tag("p", inline("In `faults` they are counted, in `environment` they are free of charge.")))
    for title, faults in (
        (
            "Of brokers: acked-records-survive, replicas-agree, writes-available, group-available",
            BROKER_FAULTS,
        ),
        ("Of a producer: records-stored-once, send-order-kept, search_records", PRODUCER_FAULTS),
        ("Of transactions: only-committed-read, records-visible", TRANSACTION_FAULTS),
    ):
        parts += [tag("h3", title), _rows("fault", faults)]
    about = "what a pack may say, from the schema that it is checked by, and the faults that rules count"
    words = " ".join((*rule["properties"], *BROKER_FAULTS, *PRODUCER_FAULTS))
    return Page(f"{PART}/fields.html", "Every field of a rule pack", "guide", about, join(parts), {}, words)


# What the schema need not say to refuse a wrong value.
_ABOUT = {
    "about": "what the pack is for, in a sentence",
    "message": "what a finding says; {producer.acks}, {topic} and a check's own fields are filled in",
    "why": "what happens if nobody mends it; `explain` tells it",
    "fine_when": "when it is no fault",
    "sources": "where the fact comes from",
    "evidence": "what a finding rests on: a run (trace), what Kafka refuses (start), numbers (budget), a "
    "value that never arrives (plumbing); usually left out",
    "params": "numbers and words that the rule reads; a user changes them in [params] of kafka-advisor.toml",
    "applies": "which components, profiles, client families and Kafka versions it is asked of",
    "covers": "codes or names of rules that it includes: they are told under it",
    "enabled": "false: it is loaded and not asked",
    "example": "settings that show it at work: see below",
    "components": "producer, consumer, admin, broker, topic, connect, connect-standalone, streams, group, "
    "mm2, connector, user",
    "profiles": "dev, prod",
    "clients": "client families, such as java, librdkafka, spring, or one of a plugin",
    "note": "what the example shows",
}


def _fields(table: Mapping[str, Any]) -> Markup:
    needed = table.get("required", ())
    told = {}
    for name, field in table["properties"].items():
        words = field.get("description") or _ABOUT.get(name) or _kind(field)
        told[name + (" (needed)" if name in needed else "")] = words
    return _rows("field", told)


def _kind(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    if "const" in field:
        return f"always {field['const']}"
    if "$ref" in field:
        return _REFERRED.get(field["$ref"].rpartition("/")[2], "a table")
    return {"string": "text", "array": "a list", "object": "a table", "boolean": "true or false"}[
        field["type"]
    ]


_REFERRED = {
    "condition": "a condition on settings: see the page on rules",
    "faults": "a table of faults: name = count",
    "configs": 'settings by component: { producer = { acks = "1" } }',
    "params": "numbers and words that the rule reads",
    "profiles": "dev, prod",
}


def _rows(name: str, told: Mapping[str, str]) -> Markup:
    lines = [tag("tr", tag("td", code(word)), tag("td", about)) for word, about in told.items()]
    head = tag("thead", tag("tr", tag("th", name), tag("th", "what it is")))
    return wide(name, tag("table", head, tag("tbody", lines), class_="plain"))


# -- the API -----------------------------------------------------------------------------------------------

_GROUPS = {
    "What a check or a guarantee reads": (
        "Context Question Deployment Document Setting Fact Dropped Location Origin Secret Undisclosed "
        "Unknown Reader read_alone members_of"
    ),
    "What it gives": "Hit Judgement Edit Fix Change",
    "A guarantee on the search": "search_records Searched Stored",
    "What a format reads and gives": (
        "Source Loaded LoadError setting value_of parse_properties Entry parse_yaml Node parse_json "
        "json_events is_template EditStep CannotEdit Splice spliced"
    ),
    "What an assignor reads": "Member Metadata",
    "What a client family gives": "Accepted Rejected Reason Rewrite would_accept would_accept_librdkafka",
    "Kafka's settings": (
        "keys lookup is_known fate Fate suggest components_of replacement resolve_version Version"
    ),
}


def _api_page() -> Page:
    parts: list[Child] = [heading("Plugins", "The API on one page")]
    parts.append(
        tag(
            "p",
            inline(
                f"Version {hookspecs.API_VERSION}. All of it is imported from `advisor.api`; nothing else of "
                'kafka-advisor stays as it is. A plugin says `api_version = "1.0"` beside its hooks: one for '
                "another first number is refused in one line, a greater second number is taken."
            ),
            class_="lead",
        )
    )
    parts.append(tag("h2", "The six hooks", id="hooks"))
    for name, hook in vars(hookspecs.Hooks).items():
        if name.startswith("advisor_"):
            spec = getattr(hookspecs, str(hook.__annotations__["return"]).rpartition(".")[2].rstrip("]'"))
            parts += _described(spec, f"{name}() gives {spec.__name__}s")
    parts.append(tag("h2", "The types of the functions behind the specs", id="functions"))
    from ... import plugin_functions

    parts.append(tag("pre", _aliases(inspect.getsource(plugin_functions)), tabindex=0, aria_label="types"))
    for title, names in _GROUPS.items():
        parts.append(tag("h2", title, id=anchor(title)))
        for name in names.split():
            parts += _described(getattr(api, name), name)
    told = {name for names in _GROUPS.values() for name in names.split()}
    rest = [name for name in dir(api) if name not in told and not name.endswith(("Spec", "Function"))]
    parts += [tag("h2", "Besides", id="besides"), tag("p", ", ".join(rest), ".")]
    about = "every hook, spec and value with its fields, from the code itself"
    return Page(
        f"{PART}/api.html", "The API on one page", "guide", about, join(parts), {}, " ".join(dir(api))
    )


def _aliases(source: str) -> str:
    return source[source.index("# The JSON report") :].replace(": TypeAlias", "").rstrip()


def _described(value: Any, title: str) -> Iterator[Child]:
    # Setting and setting() are two things.
    yield tag("h3", title, id=re.sub(r"[^A-Za-z0-9]+", "-", title))
    about = inspect.getdoc(value)
    if about and not about.startswith(f"{getattr(value, '__name__', '')}("):
        for part in about.split("\n\n"):
            yield tag("p", inline(" ".join(part.split())))
    lines = list(_lines(value))
    if lines:
        yield tag("pre", "\n".join(lines), tabindex=0, aria_label=title)


def _lines(value: Any) -> Iterator[str]:
    if inspect.isfunction(value):
        yield f"{value.__name__}{_plain(str(inspect.signature(value)))}"
        return
    defaults = getattr(value, "_field_defaults", {})
    for field in getattr(value, "_fields", ()):
        hint = value.__annotations__.get(field, "")
        plain = hint.__name__ if type(hint) is type else getattr(hint, "__forward_arg__", str(hint))
        yield f"{field}: {_plain(plain)}" + (f" = {defaults[field]!r}" if field in defaults else "")
    for name, member in vars(value).items():
        code = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not inspect.isfunction(code):
            continue
        signature = _plain(str(inspect.signature(code)))
        shown = signature.replace("(self, ", "(").replace("(self)", "" if code is not member else "()")
        about = (inspect.getdoc(code) or "").replace("\n", " ").partition(". ")[0].rstrip(".")
        yield f"{name}{shown}" + (f"    # {about}" if about else "")


def _plain(hint: str) -> str:
    """Without the homes of names, which are nobody's to import from."""
    hint = re.sub(r"'([^']+)'", r"\1", hint.replace("ForwardRef(", ""))
    return re.sub(r"(?<![a-z_.])(?:[a-z_]{1,40}+\.){1,9}+(?=[A-Z])", "", hint)
