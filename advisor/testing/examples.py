"""The examples of a pack's rules, run: what is `bad` must be found, what is `good` must not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..memo.cache import Cache
from ..packs.pack import Rule, load_packs
from ..registry import load_registry
from ..tuples import NamedTuple
from .audits import audit_settings
from .told import codes

_OPTIONS = ("kafka_version", "client", "profile")


class Example(NamedTuple):
    """One example of one rule; `str()` of it names a test."""

    code: str
    number: int
    table: Mapping[str, Any]
    line: int | None
    files: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.code}-{self.number}"

    def report(self, word: str) -> dict[str, Any]:
        """On its `bad` or its `good` configuration."""
        options = {name: self.table[name] for name in _OPTIONS if name in self.table}
        return audit_settings(self.table[word], rules=self.files, plugins=self.plugins, **options)

    def faults(self) -> Iterator[str]:
        """What is wrong with it, in words; nothing: it shows what it should."""
        for word in ("bad", "good"):
            report = self.report(word)
            failed = [one["message"] for one in report["findings"] if one["code"] == "KA000"]
            if failed:
                yield f"{self.code}: example {self.number}: {failed[0]}"
            elif not report["files"]:
                yield f"{self.code}: example {self.number}: {word} is not recognised as a Kafka configuration"
            elif (self.code in codes(report)) != (word == "bad"):
                found = "not found in bad" if word == "bad" else "found in good"
                yield f"{self.code}: example {self.number}: {found}"

    def check(self) -> None:
        faults = list(self.faults())
        if faults:
            raise AssertionError("; ".join(faults))


def pack_examples(*files: str, plugins: Sequence[str] = ()) -> list[Example]:
    """Those of packs that are files, for `pytest.mark.parametrize(..., ids=str)`. `plugins` are Python files
    that give what the packs name; installed plugins are there anyway."""
    registry = load_registry(plugins)
    paths = tuple(map(str, files))
    rules = load_packs(registry.packs, paths, Cache(None))
    return list(examples_of((rule for rule in rules if rule.at.file in paths), paths, plugins))


def rule_examples(pack: str = "") -> list[Example]:
    """Those of all packs that are loaded: built-in and installed; `pack`: of this one alone."""
    rules = load_packs(load_registry().packs, (), Cache(None))
    return list(examples_of(rule for rule in rules if pack in ("", rule.pack)))


def examples_of(
    rules: Iterable[Rule], files: Sequence[str] = (), plugins: Sequence[str] = ()
) -> Iterator[Example]:
    """`files` and `plugins`: what was given besides what is installed."""
    for rule in rules:
        for number, table in enumerate(rule.examples, 1):
            yield Example(rule.code, number, table, rule.at.line, tuple(files), tuple(plugins))
