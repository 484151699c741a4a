"""The names that a pack's `when` reads. A name that nothing can ever have is a slip, and its rule would be
silent for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..catalog import NEWEST, components_of, edit_distance, fate, is_known, librdkafka, suggest
from ..hookspecs import ClientSpec
from ..model import UsageError
from .pack import FIRST_PARTY, Rule

# Components whose keys Kafka defines; connectors and users have whatever their classes read.
_DEFINED = ("producer", "consumer", "admin", "broker", "topic", "group", "streams")
# Facts that formats find and nobody states.
_FOUND = ("version", "subscription", "names", "ack_mode", "type")


def check_names(rule: Rule, names: Iterable[str], clients: Mapping[str, ClientSpec]) -> None:
    """Our own packs are checked by our tests. A key of one's own is allowed; one that is nearly Kafka's, or
    another component's, is refused, unless a client family lists it among its keys."""
    if rule.at.file.startswith(f"{FIRST_PARTY}/"):
        return
    for name in names:
        head, _, key = name.partition(".")
        if head in _DEFINED:
            wrong = _wrong_key(head, key, clients)
        elif head in ("fact", "workload"):
            wrong = _wrong_word(head, key)
        else:
            continue
        if wrong:
            raise UsageError(f"{rule.at}: rule {rule.code}: when reads {name!r}, which is unknown; {wrong}")


def _wrong_key(component: str, key: str, clients: Mapping[str, ClientSpec]) -> str:
    if is_known(component, key, NEWEST) or fate(component, key, NEWEST).status != "never":
        return ""
    if librdkafka(key) is not None and component in ("producer", "consumer", "admin"):
        return ""
    if any(_lists(spec, key) for spec in clients.values()):
        return ""
    near = suggest(component, key, NEWEST)
    if near is not None:
        return f"did you mean {component}.{near}?"
    others = components_of(key, NEWEST)
    return f"it is a setting of {' and '.join(others)}" if others else ""


def _lists(spec: ClientSpec, key: str) -> bool:
    return key in spec.aliases or any(
        key.startswith(name[:-1]) if name.endswith("*") else key == name for name in spec.keys
    )


def _wrong_word(head: str, key: str) -> str:
    """What kafka-advisor.toml can state, and what formats find. A format of a plugin may find other facts, so
    only a near miss of these is refused; nobody else states a workload."""
    from ..schemas import load_schema

    table = "Facts" if head == "fact" else "Workload"
    known = [*load_schema("project")["$defs"][table]["properties"], *(_FOUND if head == "fact" else ())]
    if key in known:
        return ""
    near = sorted((distance, word) for word in known if (distance := edit_distance(key, word, 2)) <= 2)
    if near:
        return f"did you mean {head}.{near[0][1]}?"
    return "" if head == "fact" else f"there is {', '.join(sorted(known))}"
