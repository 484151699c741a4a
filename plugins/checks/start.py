"""Would Kafka start with this, and would it use every value? What refuses, rewrites or ignores a setting.

One look at a document answers for all the `start-*` checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from advisor.api import (
    COMPONENTS,
    Accepted,
    Change,
    Edit,
    Fix,
    Hit,
    Location,
    Rejected,
    Secret,
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
    replacement,
    suggest,
    value_of,
    would_accept,
)

if TYPE_CHECKING:
    from advisor.api import Context, Document, Fate, Reason, Setting, Value, Version


def hits(document: Document, context: Context) -> Iterable[Hit]:
    """Every fault of one document, each under the check of its kind: `start-type`, `start-range`, ..."""
    if document.component not in COMPONENTS:
        return ()
    found = list(_Look(document, context).faults())
    # What is ignored already is told as that, and not as deprecated too.
    ignored = {hit.keys[:1] for hit in found if hit.check == "start-rewrite"}
    found = [hit for hit in found if hit.check != "start-deprecated-key" or hit.keys[:1] not in ignored]
    # A file without most of what it needs is a part: a script or a program gives the rest.
    lacking = [hit for hit in found if hit.check == "start-required"]
    if len(lacking) >= _LACKING_MIN and document.component in ("broker", *_WORKERS):
        found = [hit for hit in found if hit not in lacking]
    return _deprecated_together(found)


def _deprecated_together(hits: list[Hit]) -> list[Hit]:
    """The next upgrade is one thing to prepare: all deprecated keys of a configuration are one finding."""
    deprecated = [hit for hit in hits if hit.check == "start-deprecated-key"]
    if len(deprecated) < 2:
        return hits
    first, more = deprecated[0], deprecated[1:]
    named = ", ".join(hit.keys[0] for hit in more)
    detail = f"{first.fields['detail']}, and so {'is' if len(more) == 1 else 'are'} {named}"
    merged = first._replace(
        fields={**first.fields, "detail": detail},
        also_at=(*first.also_at, *(hit.at for hit in more)),
        settings=(*first.settings, *(one for hit in more for one in hit.settings)),
    )
    return [merged if hit is first else hit for hit in hits if hit not in more]


# Each component has a limit for the size of records, and each calls it something else.
_COUNTERPARTS = {
    ("broker", "max.request.size"): "message.max.bytes",
    ("broker", "max.message.bytes"): "message.max.bytes",
    ("topic", "max.request.size"): "max.message.bytes",
    ("topic", "message.max.bytes"): "max.message.bytes",
    ("producer", "message.max.bytes"): "max.request.size",
    ("producer", "max.message.bytes"): "max.request.size",
}


# The component's own settings for the same thing: with one of them set, the stray key costs nobody anything.
_OWN_INSTEAD = {
    ("connect", "zookeeper.connect"): ("bootstrap.servers",),
    ("connect", "replication.factor"): tuple(
        f"{topic}.storage.replication.factor" for topic in ("config", "offset", "status")
    ),
    ("consumer", "zookeeper.connect"): ("group.id",),
    ("broker", "bootstrap.servers"): ("zookeeper.connect", "controller.quorum.voters"),
}
_LACKING_MIN = 3


_CLIENTS = ("producer", "consumer", "admin", "streams")
_WORKERS = ("connect", "connect-standalone")
# Asked where nobody says which release it is: the last with ZooKeeper, and the last before 3.0.
_OLDER = ("3.9", "2.8")
_FOR_IDEMPOTENCE = {
    "acks": "all",
    "retries": "2147483647",
    "max.in.flight.requests.per.connection": "5",
}
# Keys that are gone, and what Kafka has done ever since.
_LAST_WORD = {
    "rest.port": "8083",
    "internal.key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "internal.value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "internal.key.converter.schemas.enable": "false",
    "internal.value.converter.schemas.enable": "false",
}


@cache
def keys_of(component: str) -> frozenset[str]:
    """All keys that the component has had."""
    return frozenset(name for version in ("2.0", "3.9", "4.3") for name in keys(component, version))


# Names of clients before 0.9, which no release in the catalog knows, and what took their place.
_OLD_NAMES = {
    ("consumer", "fetch.message.max.bytes"): "max.partition.fetch.bytes",
    ("consumer", "fetch.wait.max.ms"): "fetch.max.wait.ms",
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
        self.whole = (spec is None or spec.whole) and not document.partial
        self.settings: dict[str, Setting] = {setting.key: setting for setting in document.settings}
        if document.component == "consumer" and "bootstrap.servers" not in self.settings:
            self.whole = False  # a part of one, as Kafka's tools take it beside their own options

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
                involved = (rewrite.key, *rewrite.because)
                # What comes of nothing but absent lines is for the application's code to say; that Streams
                # commits more often where it must is no surprise.
                meant = rewrite.key == "commit.interval.ms" and rewrite.key not in self.settings
                # Who waits for no answer never sends again, and wants no idempotence.
                meant = meant or (rewrite.because == ("acks",) and self.settings["acks"].value == "0")
                if any(key in self.settings for key in involved) and not meant:
                    yield self._hit("rewrite", rewrite.detail, involved)

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
            hit = self._hit("range", told, (fact.name,))
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
                told = known is not None and known.deprecated and not version.assumed
                if told and not self._is_as_before(setting):
                    yield self._hit("deprecated-key", self._deprecation(key), (key,))
            elif not self._vendor_knows(key) and not self._is_handed_on(key):
                yield from self._stranger(setting)

    def _is_handed_on(self, key: str) -> bool:
        """A worker gives all that it is told to the clients of its own topics (KafkaConfigBackingStore,
        Worker.adminConfigs)."""
        return self.document.component in _WORKERS and any(
            is_known(client, key, self.version) for client in ("producer", "consumer", "admin")
        )

    def _vendor_knows(self, key: str) -> bool:
        return any(
            key.startswith(name[:-1]) if name.endswith("*") else key == name
            for vendor in self.vendors
            for name in vendor.keys
        )

    def _deprecation(self, key: str) -> str:
        since = fate(self.document.component, key, self.version).deprecated_since
        return f"deprecated since {_minor(since)}" if since else "deprecated"

    def _stranger(self, setting: Setting) -> Iterator[Hit]:
        component, key, version = self.document.component, setting.key, self.version
        history = fate(component, key, version)
        if history.status in ("removed", "not-yet"):
            # Which release reads the file is only assumed: it may well be one that knows the key.
            if not version.assumed and not self._is_as_before(setting):
                yield self._of_other_release(history, setting)
            return
        severity = "error" if component == "topic" else None
        others = [other for other in components_of(key, version) if other != component]
        if others:
            if component == "admin" or any(
                own in self.settings for own in _OWN_INSTEAD.get((component, key), ())
            ):
                return  # what an admin client is given, other clients are given too
            detail = f"it is a setting of {_listed(others)}"
            meant = _COUNTERPARTS.get((component, key))
            if meant is not None and is_known(component, meant, version):
                detail += f"; the limit of a {component} is {meant}"
            yield self._hit("wrong-component", detail, (key,))._replace(severity=severity)
            return
        if key.startswith("client.quota.callback."):
            return  # the class behind client.quota.callback.class reads them
        near = _OLD_NAMES.get((component, key)) or suggest(component, key, version)
        if near in self.settings:
            near = None  # it has its own line
        if near is None and component != "topic" and not self._is_among_kafkas(key):
            return  # a serializer, a reporter or the application itself may read it
        detail = f"; did you mean {near}?" if near else ""
        fixes = (self._renamed(setting, near),) if near and self._takes(near, setting.value) else ()
        yield self._hit("unknown-key", detail, (key,))._replace(severity=severity, fixes=fixes)

    def _of_other_release(self, history: Fate, setting: Setting) -> Hit:
        if history.status != "removed":
            return self._hit(
                "newer-key", f"Kafka {_minor(history.since)} is the first to read it", (setting.key,)
            )
        detail = f"Kafka {_minor(history.until)} was the last to read it"
        instead = replacement(self.document.component, setting.key)
        if instead is not None:
            detail += f"; {instead.text()}"
        hit = self._hit("removed-key", detail, (setting.key,))
        if instead is not None and instead.keys and not isinstance(setting.value, Secret):
            component, version = self.document.component, self.version
            free = (
                is_known(component, key, version) and self._takes(key, setting.value) for key in instead.keys
            )
            if all(free):
                return hit._replace(fixes=(self._renamed(setting, *instead.keys),))
        return hit

    def _is_as_before(self, setting: Setting) -> bool:
        """A key that is gone, with the value that Kafka now has for ever: nothing has changed."""
        last = _LAST_WORD.get(setting.key)
        return last is not None and setting.value == last

    def _is_among_kafkas(self, key: str) -> bool:
        """It begins as a key of this component does, up to its second dot."""
        start = ".".join(key.split(".")[:2]) + "."
        return key.count(".") > 1 and any(
            known.startswith(start) for known in keys_of(self.document.component)
        )

    def _takes(self, key: str, value: Value) -> bool:
        """The key is free, and Kafka has nothing against the value there."""
        if key in self.settings:
            return False
        config: dict[str, Value] = {name: one.value for name, one in self.settings.items()}
        verdict = self._judge({**config, key: value})
        return isinstance(verdict, Accepted) or not any(key in reason.keys for reason in verdict.reasons)

    def _renamed(self, setting: Setting, *names: str) -> Fix:
        component, at = self.document.component, setting.origin.at
        file, line = (at.file, at.line) if at is not None else (None, None)
        # A misspelt password is one all the same: what the right name makes a secret is not shown.
        value = setting.value
        shown = value.template if isinstance(value, Unknown) else str(value_of(names[0], str(value)))
        return Fix(
            (
                Change(component, setting.key, shown, None, file, line, "remove"),
                *(Change(component, name, None, shown, file, line, "add") for name in names),
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
        if not self._can_tell(reason) or self._is_left_to_code(reason):
            return
        kind, fixes, detail = reason.kind, (), reason.detail
        taken_by = self._taken_by(reason, config) if self.version.assumed else None
        if kind == "unknown-key":
            detail = f": {detail}"
        setting = self.settings.get(reason.keys[0]) if reason.keys else None
        if setting is not None and isinstance(setting.value, str):
            if kind == "type" and _unit(setting):
                kind = "unit"
            fixes = tuple(self._repairs(setting, config, kind))
        severity = None
        if kind == "required" and self.document.component == "broker":
            severity = "error"  # a broker reads this file and nothing else
        if taken_by is not None:
            severity, detail = "note", f"{detail} (Kafka {taken_by} still takes it)"
        hit = self._hit(kind, detail, reason.keys)
        yield hit._replace(fixes=fixes, severity=severity, edits=self._agreeing(reason))

    def _agreeing(self, reason: Reason) -> tuple[Edit, ...]:
        """What idempotence and transactions need, where a setting contradicts it."""
        return tuple(
            Edit(key, "producer", key, value)
            for key, value in _FOR_IDEMPOTENCE.items()
            if self.document.component == "producer" and reason.kind == "cross-key"
            if key in reason.keys and key in self.settings
        )

    def _is_left_to_code(self, reason: Reason) -> bool:
        """What a client's file lacks, the application, a tool or the JVM may give."""
        own = self.settings.get(reason.keys[0]) if reason.keys else None
        if own is not None and own.key == "bootstrap.servers" and own.value == "":
            return self.document.component in _CLIENTS  # a place to fill in
        left = ("required", "security", "format")
        return own is None and self.document.component in _CLIENTS and reason.kind in left

    def _taken_by(self, reason: Reason, config: dict[str, Value]) -> str | None:
        """Where nobody says which release it is: an older one that has nothing against it."""
        if not self._refused_by(self.version, reason, config):
            return None  # by the client family itself, whatever the release
        return next((older for older in _OLDER if not self._refused_by(older, reason, config)), None)

    def _refused_by(self, version: Version | str, reason: Reason, config: dict[str, Value]) -> bool:
        verdict = would_accept(self.document.component, version, config)
        refused = verdict.reasons if isinstance(verdict, Rejected) else ()
        # A release may name another key of the same contradiction.
        return any(one.kind == reason.kind and {*one.keys} & {*reason.keys} for one in refused)

    def _can_tell(self, reason: Reason) -> bool:
        """Only what this file proves: no class path, disk or DNS is known here, and where something else
        completes the file, only settings that are all in it."""
        if reason.kind == "class" and self.document.component in _WORKERS:
            named = self.settings.get(reason.keys[0])
            if named is not None and isinstance(named.value, str) and "." not in named.value:
                return False  # plugins of a worker go by their short names too (PluginUtils)
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

    def _hit(self, kind: str, detail: str, involved: tuple[str, ...]) -> Hit:
        written = [self.settings[key] for key in involved if key in self.settings]
        places = [setting.origin.at for setting in written if setting.origin.at is not None]
        key = involved[0] if involved else ""
        own = self.settings.get(key)
        fields = {
            "key": key,
            "told": _told(key, own, detail),
            "because": f"{_shown([one for one in written if one is not own] or written)}: {detail}",
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


def _shown(settings: Iterable[Setting]) -> str:
    return ", ".join(f"{one.key} = {one.value}" for one in settings)


def _unit(setting: Setting) -> str | None:
    from advisor.api import meant

    return meant(setting.key, str(setting.value))


def _minor(release: str | None) -> str:
    return release.rpartition(".")[0] if release else "some release"


def _listed(names: list[str]) -> str:
    article = [("an " if name[0] in "aeiou" else "a ") + name for name in names]
    return article[0] if len(article) == 1 else ", ".join(article[:-1]) + " or " + article[-1]
