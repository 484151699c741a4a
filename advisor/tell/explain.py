"""What a setting is, in words: for each component that has it, at one version and through the releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..catalog import COMPONENTS, Key, RdKey, Version, fate, history, librdkafka, lookup, resolution
from ..join.effective import shown_default
from ..output.terminal import terminal, wrapped
from ..packs.pack import Rule
from ..tuples import NamedTuple


class Facts(NamedTuple):
    """What one component (or client library) knows of a setting: labels and texts. `absent`: why it is not in
    this version."""

    component: str
    rows: tuple[tuple[str, str], ...]
    absent: str = ""


def setting_facts(name: str, version: Version) -> list[Facts]:
    found = []
    for component in COMPONENTS:
        known = lookup(component, name, version)
        if known is not None:
            found.append(Facts(component, tuple(_facts(known, version))))
        else:
            found += _absent(component, name, version)
    client = librdkafka(name)
    if client is not None:
        found.append(Facts("librdkafka", tuple(_librdkafka(client))))
    return found


def explain_setting(name: str, version: Version, rules: Sequence[Rule]) -> list[str]:
    lines: list[str] = []
    for facts in setting_facts(name, version):
        release = "" if facts.component == "librdkafka" else f", Kafka {version.asked}"
        if facts.absent:
            lines += [f"{name} ({facts.component}): {facts.absent}", ""]
        else:
            rows = [f"  {label:<11}{text}" for label, text in facts.rows]
            lines += [f"{name} ({facts.component}{release})", *rows, ""]
    if lines:
        found = readers(name, rules)
        if found:
            told = "Read by: " + ", ".join(f"{rule.code} {rule.name}" for rule in found)
            lines += wrapped(told, terminal().width, "  ")
        if version.note:
            lines.append(f"Note: {version.note}")
    while lines and not lines[-1]:
        lines.pop()
    return lines


def readers(name: str, rules: Sequence[Rule]) -> list[Rule]:
    """The rules that read a setting, or whose examples turn on it."""
    return [rule for rule in rules if _reads(rule, name) or _turns_on(rule, name)]


def _turns_on(rule: Rule, name: str) -> bool:
    # Kafka's own checks read every key: the one in their example is there by chance.
    if (rule.check or "").startswith("start-"):
        return False
    for example in rule.examples:
        bad, good = (
            {value for table in example[side].values() for key, value in table.items() if key == name}
            for side in ("bad", "good")
        )
        if bad != good:
            return True
    return False


def _absent(component: str, name: str, version: Version) -> list[Facts]:
    found = fate(component, name, version)
    if found.status == "removed":
        what = f"gone in Kafka {version.asked}; {_minor(found.until)} was the last to read it"
    elif found.status == "not-yet":
        what = f"not in Kafka {version.asked}; {_minor(found.since)} is the first to read it"
    else:
        return []
    return [Facts(component, (), what)]


def _facts(key: Key, version: Version) -> Iterator[tuple[str, str]]:
    yield "type", key.type
    if key.required:
        yield "default", "none: it must be set"
    else:
        yield "default", "null" if key.default is None else shown_default(key.default) or '""'
    if key.min is not None or key.max is not None:
        low = key.min if key.min is not None else "…"
        high = key.max if key.max is not None else "…"
        yield "range", f"{low} to {high}"
    if key.valid:
        yield "values", ", ".join(map(str, key.valid)) + (" (any case)" if key.case_insensitive else "")
    if key.valid_items:
        yield "list of", ", ".join(key.valid_items)
    if key.dynamic:
        yield "dynamic", key.dynamic
    table = resolution(version, key.component, key.name)
    if len(table.sources) > 1:
        sources = [
            f"{component} {name}" + (f" × {factor}" if factor != 1 else "")
            for component, name, factor in table.sources[1:]
        ]
        yield "if unset", ", then ".join(sources) + ", then the default"
    found = fate(key.component, key.name, version)
    if found.since:
        until = f" to {_minor(found.until)}" if found.until else " on"
        yield "known", f"from {_minor(found.since)}{until}"
    if key.deprecated:
        since = f" since {_minor(found.deprecated_since)}" if found.deprecated_since else ""
        yield "deprecated", f"yes{since}"
    yield from _changes(key)


def _changes(key: Key) -> Iterator[tuple[str, str]]:
    """How the default moved through the releases, if it did."""
    seen: list[tuple[str, str]] = []
    for record in history(key.component, key.name):
        default = "none" if record.key.required else shown_default(record.key.default) or '""'
        if not seen or seen[-1][1] != default:
            seen.append((_minor(record.since), default))
    if len(seen) > 1:
        yield "history", ", ".join(f"{default} from {since}" for since, default in seen)


def _librdkafka(key: RdKey) -> Iterator[tuple[str, str]]:
    if key.alias_of:
        yield "alias of", key.alias_of
    yield "type", key.type
    yield "default", "none" if key.default is None else str(key.default) or '""'
    if key.min is not None or key.max is not None:
        yield "range", f"{key.min} to {key.max}"
    if key.valid:
        yield "values", ", ".join(key.valid)
    yield "for", {"P": "producers", "C": "consumers"}.get(key.scope, "producers and consumers")


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
    if rule.guarantee in _SEARCHED:
        from ..ask.policies import INTERNAL

        if rule.part in INTERNAL:
            return name in (*INTERNAL[rule.part], "unclean.leader.election.enable")
        racks = any("rack_lost" in faults for faults in rule.faults)
        return name in _SEARCHED[rule.guarantee] or (racks and name == "broker.rack")
    if rule.when is None:
        return False
    from ..packs.conditions import compile_condition

    return any(read.partition(".")[2] == name for read in compile_condition(rule.when).reads)


def _minor(release: str | None) -> str:
    return release.rpartition(".")[0] if release else "?"
