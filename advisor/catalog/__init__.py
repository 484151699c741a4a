"""What each configuration key is, in each Kafka release and in librdkafka.

The facts come from the data files beside this package; nothing here knows what a setting is good for.
"""

from .families import is_known
from .history import Fate, Record, fate, history
from .librdkafka import RdKey, librdkafka, librdkafka_aliases, librdkafka_names, librdkafka_only
from .names import edit_distance, is_password, known_anywhere, suggest
from .replaced import Replacement, replacement
from .resolution import Resolution, resolution, resolution_table
from .store import COMPONENTS, Key, components_of, keys, lookup
from .versions import NEWEST, RELEASES, Version, resolve_version

__all__ = [
    "COMPONENTS",
    "NEWEST",
    "RELEASES",
    "Fate",
    "Key",
    "RdKey",
    "Record",
    "Replacement",
    "Resolution",
    "Version",
    "components_of",
    "edit_distance",
    "fate",
    "history",
    "is_known",
    "is_password",
    "keys",
    "known_anywhere",
    "librdkafka",
    "librdkafka_aliases",
    "librdkafka_names",
    "librdkafka_only",
    "lookup",
    "replacement",
    "resolution",
    "resolution_table",
    "resolve_version",
    "suggest",
]
