"""Java and Kotlin code: Spring's listeners and their factories, and maps that are filled for Kafka's clients.

Only what is constant is read. Topics and groups may come from the application's own file by `${...}`.
"""

from __future__ import annotations

import re

from advisor.api import Loaded, Source

from .client_maps import client_maps
from .jvm import Placeholders
from .listeners import listeners
from .literals import Code
from .tokens import language_of, tokens_of

_CLAIM = re.compile(
    r"@KafkaListener\b|\bConcurrentKafkaListenerContainerFactory\b|\b(?:Producer|Consumer|Streams)Config\.[A-Z]"
    r"|\.(?:put|setProperty)\(\"bootstrap\.servers\""
)


def claim(name: str, text: str) -> int:
    return 80 if _CLAIM.search(text) else 0


def load(source: Source) -> Loaded:
    language = language_of(source.file) or "java"
    code = Code(tokens_of(source.text, language), language)
    found = [*client_maps(source.file, code), *listeners(source.file, code, Placeholders(source))]
    if not found:
        return Loaded((), "skipped", "no settings of Kafka's stand in it as constants")
    return Loaded(tuple(found), "partial", "it is source code: only what is constant is read")
