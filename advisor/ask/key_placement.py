"""How a producer places keys: by its settings, with the simulator's hashes or a plugin's code."""

from __future__ import annotations

from collections.abc import Callable

from ..guard.calls import PluginError
from ..join.effective import by_key
from ..model import Document
from ..tuples import NamedTuple

Place = Callable[[bytes, int], int]


class KeyPlacer(NamedTuple):
    """`name`: java, librdkafka's word, or the class of a plugin's partitioner (`own`). `key`: the setting
    that names it."""

    name: str
    key: str
    place: Place
    own: bool = False

    @property
    def like_java(self) -> bool:
        return self.name in ("java", "murmur2", "murmur2_random")


def placer_of(document: Document, partitioner: Callable[[str], Place | None]) -> KeyPlacer | None:
    """None where a template decides, or a class that no plugin explains; `partitioner` gives the plugins'."""
    settings = by_key(document)
    if document.client == "librdkafka":
        chosen = settings.get("partitioner")
        given = chosen.value if chosen is not None else "consistent_random"
        return _hashed(given) if isinstance(given, str) else None
    written = settings.get("partitioner.class")
    named = written.value if written is not None else None
    if named is None:
        return _hashed("java")
    place = partitioner(named) if isinstance(named, str) else None
    if not isinstance(named, str) or place is None:
        return None
    return KeyPlacer(named, "partitioner.class", _within(named, place), own=True)


def _hashed(scheme: str) -> KeyPlacer | None:
    if scheme != "java":
        from ..sim.placing.partitioner import SCHEMES

        if scheme not in SCHEMES:
            return None

    def place(key: bytes, partitions: int) -> int:
        from ..sim.placing.partitioner import partition_for  # loaded where two producers meet

        return partition_for(key, partitions, scheme)

    return KeyPlacer(scheme, "partitioner", place)


def _within(name: str, place: Place) -> Place:
    def placed(key: bytes, partitions: int) -> int:
        found = place(key, partitions)
        if not 0 <= found < partitions:
            raise PluginError(f"the partitioner {name} put a key on partition {found} of {partitions}")
        return found

    return placed
