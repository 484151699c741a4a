"""Amazon MSK: what its brokers get where a configuration says nothing, for Terraform and CloudFormation.

MSK's own defaults differ from Kafka's in what matters most, and they hold for custom configurations too:
properties that are not set get the values of the default configuration (developer guide, "Default Amazon MSK
configuration"). Some depend on the number of availability zones.
"""

from __future__ import annotations

from collections.abc import Sequence

from advisor.api import Entry, LoadError, Origin, Setting, Unknown, integer, parse_properties, setting

from ..maps.node_settings import completed

_DEFAULTS = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "true",
    "num.partitions": "1",
    "num.replica.fetchers": "2",
    "replica.lag.time.max.ms": "30000",
    "unclean.leader.election.enable": "true",
}
_BY_ZONES = {"default.replication.factor": {2: "2", 3: "3"}, "min.insync.replicas": {2: "1", 3: "2"}}
SERVICE = "Amazon MSK"


def with_defaults(
    settings: Sequence[Setting],
    zones: int | None,
    brokers: str | None,
    tiered: bool = False,
    express: bool = False,
) -> tuple[Setting, ...]:
    """The settings and what MSK adds. Where the zones are not known, neither is what depends on them."""
    zones = zones or _zones(brokers)
    chosen = dict(_DEFAULTS)
    if tiered or express:
        chosen["unclean.leader.election.enable"] = "false"
    found = completed(settings, chosen, SERVICE)
    written = {one.key for one in found}
    for key, by_zones in _BY_ZONES.items():
        if key not in written:
            value = by_zones[3 if express else zones] if express or zones in by_zones else None
            either = Unknown(f"{by_zones[3]} in three availability zones, {by_zones[2]} in two")
            origin = Origin("default", None, f"default of {SERVICE}")
            found = (*found, Setting(key, either if value is None else value, origin))
    return found


def _zones(brokers: str | None) -> int | None:
    """Brokers are spread evenly over two or three zones, so some numbers say which."""
    count = integer(brokers) if brokers is not None else None
    if count is None or count <= 0:
        return None
    by_two, by_three = count % 2 == 0, count % 3 == 0
    return 2 if by_two and not by_three else 3 if by_three and not by_two else None


def text_settings(text: str, file: str, line: int) -> tuple[Setting, ...]:
    """Properties in a text whose first line is `line`; of equal keys the last."""
    try:
        entries: list[Entry] = parse_properties(text)
    except LoadError as error:
        raise LoadError(error.message, line + (error.line or 1) - 1) from None
    held = {entry.key: entry for entry in entries if not entry.key.startswith(("%{", "${"))}
    found = []
    for entry in held.values():
        one = setting(entry.key, entry.value.strip(), file, line + entry.line - 1)
        if "%{" in text and isinstance(one.value, str):
            one = one._replace(value=Unknown("a condition of the template decides"))
        found.append(one)
    return tuple(found)
