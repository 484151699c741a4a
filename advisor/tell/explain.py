"""What a setting is, in words: for each component that has it, at one version and through the releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..catalog import COMPONENTS, Key, RdKey, Version, fate, history, librdkafka, lookup, resolution
from ..join.effective import shown_default
from ..packs.pack import Rule


def explain_setting(name: str, version: Version, rules: Sequence[Rule]) -> list[str]:
    lines: list[str] = []
    for component in COMPONENTS:
        known = lookup(component, name, version)
        if known is not None:
            lines += [f"{name} ({component}, Kafka {version.asked})", *_facts(known, version), ""]
        else:
            lines += _absent(component, name, version)
    client = librdkafka(name)
    if client is not None:
        lines += [f"{name} (librdkafka)", *_librdkafka(client), ""]
    if lines:
        readers = [rule for rule in rules if _reads(rule, name)]
        if readers:
            lines.append("Read by: " + ", ".join(f"{rule.code} {rule.name}" for rule in readers))
        if version.note:
            lines.append(f"Note: {version.note}")
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _absent(component: str, name: str, version: Version) -> list[str]:
    found = fate(component, name, version)
    if found.status == "removed":
        what = f"gone in Kafka {version.asked}; {_minor(found.until)} was the last to read it"
    elif found.status == "not-yet":
        what = f"not in Kafka {version.asked}; {_minor(found.since)} is the first to read it"
    else:
        return []
    return [f"{name} ({component}): {what}", ""]


def _facts(key: Key, version: Version) -> Iterator[str]:
    yield _row("type", key.type)
    if key.required:
        yield _row("default", "none: it must be set")
    else:
        yield _row("default", "null" if key.default is None else shown_default(key.default) or '""')
    if key.min is not None or key.max is not None:
        low = key.min if key.min is not None else "…"
        high = key.max if key.max is not None else "…"
        yield _row("range", f"{low} to {high}")
    if key.valid:
        yield _row("values", ", ".join(key.valid) + (" (any case)" if key.case_insensitive else ""))
    if key.valid_items:
        yield _row("list of", ", ".join(key.valid_items))
    if key.dynamic:
        yield _row("dynamic", key.dynamic)
    table = resolution(version, key.component, key.name)
    if len(table.sources) > 1:
        sources = [
            f"{component} {name}" + (f" × {factor}" if factor != 1 else "")
            for component, name, factor in table.sources[1:]
        ]
        yield _row("if unset", ", then ".join(sources) + ", then the default")
    found = fate(key.component, key.name, version)
    if found.since:
        until = f" to {_minor(found.until)}" if found.until else " on"
        yield _row("known", f"from {_minor(found.since)}{until}")
    if key.deprecated:
        since = f" since {_minor(found.deprecated_since)}" if found.deprecated_since else ""
        yield _row("deprecated", f"yes{since}")
    yield from _changes(key)


def _changes(key: Key) -> Iterator[str]:
    """How the default moved through the releases, if it did."""
    seen: list[tuple[str, str]] = []
    for record in history(key.component, key.name):
        default = "none" if record.key.required else shown_default(record.key.default) or '""'
        if not seen or seen[-1][1] != default:
            seen.append((_minor(record.since), default))
    if len(seen) > 1:
        yield _row("history", ", ".join(f"{default} from {since}" for since, default in seen))


def _librdkafka(key: RdKey) -> Iterator[str]:
    if key.alias_of:
        yield _row("alias of", key.alias_of)
    yield _row("type", key.type)
    yield _row("default", "none" if key.default is None else str(key.default) or '""')
    if key.min is not None or key.max is not None:
        yield _row("range", f"{key.min} to {key.max}")
    if key.valid:
        yield _row("values", ", ".join(key.valid))
    yield _row("for", {"P": "producers", "C": "consumers"}.get(key.scope, "producers and consumers"))


# What the search reads besides the facts: the keys that `ask/policies.py` turns into a policy.
_PRODUCER = (
    "acks",
    "enable.idempotence",
    "retries",
    "max.in.flight.requests.per.connection",
    "transactional.id",
)
_TOPIC = ("acks", "min.insync.replicas", "unclean.leader.election.enable", "default.replication.factor")
_SEARCHED = {
    "acked-records-survive": _TOPIC,
    "writes-available": _TOPIC,
    "group-available": (),
    "records-stored-once": _PRODUCER,
    "send-order-kept": _PRODUCER,
}


def _reads(rule: Rule, name: str) -> bool:
    internal = rule.params.get("internal_topic")
    if rule.guarantee in _SEARCHED and internal is not None:
        from ..ask.policies import INTERNAL

        return name in (*INTERNAL[str(internal)], "unclean.leader.election.enable")
    if rule.guarantee in _SEARCHED:
        racks = any("rack_lost" in faults for faults in rule.faults)
        return name in _SEARCHED[rule.guarantee] or (racks and name == "broker.rack")
    if rule.when is None:
        return False
    from ..packs.conditions import compile_condition

    return any(read.partition(".")[2] == name for read in compile_condition(rule.when).reads)


def _row(label: str, text: str) -> str:
    return f"  {label:<11}{text}"


def _minor(release: str | None) -> str:
    return release.rpartition(".")[0] if release else "?"
