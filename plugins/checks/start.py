"""Would Kafka start with this, and would it use every value? What refuses, rewrites or ignores a setting.

One look at a document answers for all the `start-*` checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from advisor.api import (
    COMPONENTS,
    Accepted,
    Change,
    Fix,
    Hit,
    Location,
    Rejected,
    Undisclosed,
    Unknown,
    components_of,
    edit_distance,
    fact_count,
    fate,
    is_digits,
    is_known,
    keys,
    lookup,
    suggest,
    value_of,
    would_accept,
)

if TYPE_CHECKING:
    from advisor.api import Context, Document, Reason, Setting, Value, Version


def hits(document: Document, context: Context) -> Iterable[Hit]:
    """Every fault of one document, each under the check of its kind: `start-type`, `start-range`, ..."""
    return _Look(document, context).faults() if document.component in COMPONENTS else ()


# Each component has a limit for the size of records, and each calls it something else.
_COUNTERPARTS = {
    ("broker", "max.request.size"): "message.max.bytes",
    ("broker", "max.message.bytes"): "message.max.bytes",
    ("topic", "max.request.size"): "max.message.bytes",
    ("topic", "message.max.bytes"): "max.message.bytes",
    ("producer", "message.max.bytes"): "max.request.size",
    ("producer", "max.message.bytes"): "max.request.size",
}


# int16 and int32 of Kafka's CreateTopics.
_COUNTED = {"topic.replication_factor": 2**15 - 1, "topic.partitions": 2**31 - 1}


class _Look:
    def __init__(self, document: Document, context: Context) -> None:
        self.document = document
        self.version: Version = context.version_of(document)
        self.client = context.clients.get(document.client)
        self.replaced = self.client is not None and self.client.replaces
        self.refusal = context.refusal(document.client)
        self.vendors = context.clients.values()
        spec = context.formats.get(document.format)
        self.whole = spec is None or spec.whole
        self.settings: dict[str, Setting] = {setting.key: setting for setting in document.settings}

    def faults(self) -> Iterator[Hit]:
        yield from self._counts()
        if not self.replaced:
            yield from self._keys()
        config: dict[str, Value] = {key: setting.value for key, setting in self.settings.items()}
        if self.client is not None and not self.replaced:
            known = keys(self.document.component, self.version)
            for key, value in self.client.defaults.items():
                if key in known:
                    config.setdefault(key, value)
        verdict = self._judge(config)
        if isinstance(verdict, Rejected):
            told: set[tuple[str, str]] = set()
            for reason in verdict.reasons:
                # Streams hands one setting to several clients, and each refuses it: told once.
                mark = (reason.kind, reason.keys[0] if reason.keys else reason.detail)
                if mark not in told:
                    told.add(mark)
                    yield from self._refusal(reason, config)
            # What would be rewritten once the refused values are mended, whatever they become.
            mended = {key: Unknown("mended") for reason in verdict.reasons for key in reason.keys[:1]}
            verdict = self._judge({**config, **mended})
        if isinstance(verdict, Accepted):
            for rewrite in verdict.rewrites:
                yield self._hit("rewrite", (rewrite.key, *rewrite.because), rewrite.detail)

    def _judge(self, config: dict[str, Value]) -> Accepted | Rejected:
        """What Kafka's classes say, and then what the client family's own check does."""
        if self.replaced:
            return self._family(config)
        kafka = would_accept(self.document.component, self.version, config)
        return _both(kafka, self._family(config)) if self.refusal is not None else kafka

    def _family(self, config: dict[str, Value]) -> Accepted | Rejected:
        if self.refusal is None:
            return Accepted()
        # A key that Kafka does not know is the family's to judge: it is shown what stands there.
        told = {k: v.compared() if isinstance(v, Undisclosed) else v for k, v in config.items()}
        found: Accepted | Rejected = self.refusal(self.document.component, told)
        if self.document.client == "librdkafka" or isinstance(found, Accepted):
            return found
        return Rejected(
            tuple(
                reason._replace(detail=f"{reason.detail} (refused by {self.document.client})")
                for reason in found.reasons
            )
        )

    # What a file counts and is no key: the replicas of a topic, its partitions.

    def _counts(self) -> Iterator[Hit]:
        for fact in self.document.facts:
            most = _COUNTED.get(fact.name)
            digits = fact.value.removeprefix("-")
            if most is None or not is_digits(digits) or fact_count(fact.name, fact.value) is not None:
                continue
            if fact.value == "-1":
                continue  # the cluster's own
            shown = fact.value if len(fact.value) <= 20 else f"a number of {len(digits)} digits"
            told = f"{fact.name.partition('.')[2].replace('_', ' ')} = {shown}: Kafka takes 1 to {most}"
            hit = self._hit("range", (fact.name,), told)
            yield hit._replace(
                at=fact.origin.at or hit.at, fields={**hit.fields, "told": told, "value": shown}
            )

    # Keys that Kafka does not know, or will not for long.

    def _keys(self) -> Iterator[Hit]:
        component, version = self.document.component, self.version
        for setting in self.document.settings:
            key = setting.key
            if is_known(component, key, version):
                known = lookup(component, key, version)
                if known is not None and known.deprecated:
                    yield self._hit("deprecated-key", (key,), self._deprecation(key))
            elif not self._vendor_knows(key):
                yield self._stranger(setting)

    def _vendor_knows(self, key: str) -> bool:
        return any(
            key.startswith(name[:-1]) if name.endswith("*") else key == name
            for vendor in self.vendors
            for name in vendor.keys
        )

    def _deprecation(self, key: str) -> str:
        since = fate(self.document.component, key, self.version).deprecated_since
        return f"deprecated since {_minor(since)}" if since else "deprecated"

    def _stranger(self, setting: Setting) -> Hit:
        component, key, version = self.document.component, setting.key, self.version
        history = fate(component, key, version)
        if history.status == "removed":
            detail = f"Kafka {_minor(history.until)} was the last to read it"
            return self._hit("removed-key", (key,), detail)
        if history.status == "not-yet":
            detail = f"Kafka {_minor(history.since)} is the first to read it"
            return self._hit("newer-key", (key,), detail)
        severity = "error" if component == "topic" else None
        others = [other for other in components_of(key, version) if other != component]
        if others:
            detail = f"it is a setting of {_listed(others)}"
            meant = _COUNTERPARTS.get((component, key))
            if meant is not None and is_known(component, meant, version):
                detail += f"; the limit of a {component} is {meant}"
            return self._hit("wrong-component", (key,), detail)._replace(severity=severity)
        near = suggest(component, key, version)
        detail = f"; did you mean {near}?" if near else ""
        fixes = (self._renamed(setting, near),) if near and self._takes(near, setting.value) else ()
        return self._hit("unknown-key", (key,), detail)._replace(severity=severity, fixes=fixes)

    def _takes(self, key: str, value: Value) -> bool:
        """The key is free, and Kafka has nothing against the value there."""
        if key in self.settings:
            return False
        config: dict[str, Value] = {name: one.value for name, one in self.settings.items()}
        verdict = self._judge({**config, key: value})
        return isinstance(verdict, Accepted) or not any(key in reason.keys for reason in verdict.reasons)

    def _renamed(self, setting: Setting, near: str) -> Fix:
        component, at = self.document.component, setting.origin.at
        file, line = (at.file, at.line) if at is not None else (None, None)
        # A misspelt password is one all the same: what the right name makes a secret is not shown.
        shown = str(value_of(near, str(setting.value)))
        return Fix(
            (
                Change(component, setting.key, shown, None, file, line, "remove"),
                Change(component, near, None, shown, file, line, "add"),
            ),
            ("the key is one that Kafka reads",),
            smallest=True,
        )

    # Values that Kafka refuses.

    def _refusal(self, reason: Reason, config: dict[str, Value]) -> Iterator[Hit]:
        if reason.kind in ("unknown-key", "removed") and not self.replaced:
            return  # said already, with what was meant
        if reason.kind == "unknown-key" and self._vendor_knows(reason.keys[0]):
            return
        if not self._can_tell(reason):
            return
        kind, fixes, detail = reason.kind, (), reason.detail
        if kind == "unknown-key":
            detail = f": {detail}"
        setting = self.settings.get(reason.keys[0]) if reason.keys else None
        if setting is not None and isinstance(setting.value, str):
            if kind == "type" and _unit(setting):
                kind = "unit"
            fixes = tuple(self._repairs(setting, config, kind))
        # The application's code may set what a client's file lacks.
        absent = setting is None and self.document.component != "broker" and kind == "security"
        severity = "note" if absent else None
        if kind == "required" and self.document.component == "broker":
            severity = "error"  # a broker reads this file and nothing else
        yield self._hit(kind, reason.keys, detail)._replace(fixes=fixes, severity=severity)

    def _can_tell(self, reason: Reason) -> bool:
        """Only what this file proves: no class path, disk or DNS is known here, and where something else
        completes the file, only settings that are all in it."""
        if reason.needs is not None and not (reason.needs == "classpath" and reason.near):
            return False
        if not self.whole:
            return bool(reason.keys) and all(key in self.settings for key in reason.keys)
        return True

    def _repairs(self, setting: Setting, config: dict[str, Value], kind: str) -> Iterator[Fix]:
        known = lookup(self.document.component, setting.key, self.version)
        candidates: list[str] = []
        text = str(setting.value).strip()
        if kind == "unit":
            candidates = [_unit(setting) or ""]
        elif known is not None and kind == "enum" and known.valid:
            near = sorted((edit_distance(choice.lower(), text.lower(), 2), choice) for choice in known.valid)
            candidates = [choice for distance, choice in near[:1] if distance <= 2]
        elif known is not None and kind == "range":
            bounds = [bound for bound in (known.min, known.max) if bound is not None]
            candidates = [str(bound) for bound in bounds]
        for candidate in candidates:
            verdict = self._judge({**config, setting.key: candidate})
            if isinstance(verdict, Rejected) and any(
                setting.key in reason.keys for reason in verdict.reasons
            ):
                continue
            at = setting.origin.at or Location(self.document.file)
            change = Change(self.document.component, setting.key, text, candidate, at.file, at.line, "set")
            yield Fix((change,), ("Kafka accepts the value",), smallest=True)
            return

    def _hit(self, kind: str, involved: tuple[str, ...], detail: str) -> Hit:
        written = [self.settings[key] for key in involved if key in self.settings]
        places = [setting.origin.at for setting in written if setting.origin.at is not None]
        key = involved[0] if involved else ""
        own = self.settings.get(key)
        fields = {
            "key": key,
            "told": _told(key, own, detail),
            "others": ", ".join(f"{other.key} = {other.value}" for other in written if other is not own),
            "value": str(own.value) if own is not None else "",
            "detail": detail,
            "component": self.document.component,
            "kafka": self.document.client if self.replaced else f"Kafka {self.version.asked}",
        }
        return Hit(
            places[0] if places else Location(self.document.file, self.document.line),
            involved,
            fields,
            tuple((self.document.component, setting) for setting in written),
            also_at=tuple(place for place in dict.fromkeys(places[1:]) if place != places[0]),
            check=f"start-{kind}",
        )


def _both(one: Accepted | Rejected, other: Accepted | Rejected) -> Accepted | Rejected:
    if isinstance(one, Rejected):
        return Rejected((*one.reasons, *other.reasons)) if isinstance(other, Rejected) else one
    return other if isinstance(other, Rejected) else Accepted((*one.rewrites, *other.rewrites))


def _told(key: str, own: Setting | None, detail: str) -> str:
    """The reason with the value it is about, which some reasons name themselves."""
    if not key or detail.startswith(f"{key} = "):
        return detail
    shown = f"{key} = {own.value}" if own is not None else f"{key} (not set)"
    if detail.startswith((f"{key} ", f"{key}:")):
        return shown + detail[len(key) :]
    return f"{shown}: {detail}"


def _unit(setting: Setting) -> str | None:
    from advisor.api import meant

    return meant(setting.key, str(setting.value))


def _minor(release: str | None) -> str:
    return release.rpartition(".")[0] if release else "some release"


def _listed(names: list[str]) -> str:
    article = [("an " if name[0] in "aeiou" else "a ") + name for name in names]
    return article[0] if len(article) == 1 else ", ".join(article[:-1]) + " or " + article[-1]
