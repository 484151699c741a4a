"""Where a cluster's or a team's fleet disagrees with itself: most say one thing, a few another.

Counted over distinct configurations, so a million rows with five hundred behaviours cost five hundred. A
key that most set and one does not is a difference too: its value is `(unset)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..canonical import BETWEEN, ENTRY, HIDDEN, NAMED
from .gathered import Document, Row

UNSET = "(unset)"
# Fewer configurations than this have no usual value.
CONFIGS_MIN = 4
# A value that fewer than this share have in common is a choice of each, not a custom.
SHARE_MIN = 0.6


def drift(documents: Iterable[Document], texts: Mapping[str, str]) -> list[Row]:
    """The outliers first."""
    entries = {fp: _entries(text) for fp, text in texts.items()}
    places: dict[tuple[str, str, str], dict[str, int]] = {}
    for document in documents:
        for scope, name in (("cluster", document.cluster), ("team", document.owner)):
            if name is not None:
                counted = places.setdefault((scope, name, document.component), {})
                counted[document.fp] = counted.get(document.fp, 0) + document.configs
    found: list[Row] = []
    for place, counted in places.items():
        found += _differences(place, counted, entries)
    place_of = ("scope", "name", "component", "key", "value")
    return sorted(found, key=lambda row: (-row["usual_share"], -row["of"], *(row[name] for name in place_of)))


def _entries(text: str) -> list[tuple[str, str]]:
    found = (entry.partition(BETWEEN) for entry in text.split(ENTRY))
    return [
        (key, value) for key, _, value in found if key[:1] not in ("", "@") and value not in (HIDDEN, NAMED)
    ]


def _differences(
    place: tuple[str, str, str], counted: Mapping[str, int], entries: Mapping[str, list[tuple[str, str]]]
) -> Iterable[Row]:
    of = sum(counted.values())
    if of < CONFIGS_MIN:
        return
    values: dict[str, dict[str, int]] = {}
    for fp, count in counted.items():
        for key, value in entries[fp]:
            one = values.setdefault(key, {})
            one[value] = one.get(value, 0) + count
    scope, name, component = place
    for key, given in values.items():
        unset = of - sum(given.values())
        said = {**given, UNSET: given.get(UNSET, 0) + unset} if unset else given
        usual, most = min(said.items(), key=lambda item: (-item[1], item[0]))
        if len(said) > 1 and most / of >= SHARE_MIN:
            for value, configs in said.items():
                if value != usual:
                    yield {
                        "scope": scope,
                        "name": name,
                        "component": component,
                        "key": key,
                        "usual": usual,
                        "usual_share": round(most / of, 4),
                        "value": value[:200],
                        "configs": configs,
                        "of": of,
                    }
