"""The mutant of a seed and an index: files, the command that reads them, and what is looked for besides."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from advisor.join.link import FACT_NAMES

from .changes import any_key, any_value, mutate, plant_secret
from .corpus import CHECKPOINT, CONFIGURATION, PACK, PROJECT_FILE, SCENARIO, SCHEDULE, Seed, corpus, of_kind
from .words import VERSIONS, WHOLE, component_keys, file_names

FAMILIES = ("KA0", "KA1", "KA2", "KA3", "KA4", "KA5", "KA6")


class Mutant(NamedTuple):
    files: dict[str, bytes]
    words: tuple[str, ...]
    # Where the files come from, for people.
    origin: str
    # Planted as the value of a password: must not be shown. With the line that makes it one.
    secret: str | None = None
    planted: str | None = None
    twice: bool = False
    by_schema: bool = False

    @property
    def command(self) -> str:
        return " ".join(word for word in self.words[:2] if word == self.words[0] or word == "--schedule")

    @property
    def size(self) -> int:
        return sum(len(data) for data in self.files.values()) + sum(map(len, self.words))


def mutant(seed: int, index: int) -> Mutant:
    """The same one for the same numbers and the same tree."""
    chance = Random(f"{seed}:{index}")
    made = chance.choices(MAKERS, WEIGHTS)[0](chance)
    if made.files and chance.random() < 0.15:
        secret, name = f"hunter2-{index}", chance.choice(sorted(made.files))
        data, planted = plant_secret(chance, made.files[name], secret)
        if planted is not None:
            made = made._replace(files={**made.files, name: data}, secret=secret, planted=planted)
    return made._replace(twice=chance.random() < 0.05, by_schema=chance.random() < 0.2)


def changed(chance: Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """One to six changes of contents, and now and then one of the files themselves."""
    files = dict(files)
    if chance.random() < 0.08:
        files = change_files(chance, files)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 6))):
        if files:
            name = chance.choice(sorted(files))
            files[name] = mutate(chance, name, files[name])
    return files


def change_files(chance: Random, files: dict[str, bytes]) -> dict[str, bytes]:
    name = chance.choice(sorted(files))
    stem, dot, suffix = name.rpartition(".")
    match chance.randrange(7):
        case 0:
            files.pop(name)
        case 1:
            files[chance.choice(file_names())] = files.pop(name)
        case 2:
            files[f"{stem}-2{dot}{suffix}" if dot else f"{name}-2"] = files[name]
        case 3:
            files[name] = b""
        case 4:
            other = chance.choice(sorted(files))
            files[name], files[other] = files[other], files[name]
        case 5:
            for added, data in chance.choice(of_kind(CONFIGURATION)).files:
                files.setdefault(added, data)
        case 6:
            files[f"more/{name}"] = files.pop(name)
    return _without_clashes(files)


def _without_clashes(files: dict[str, bytes]) -> dict[str, bytes]:
    """A name cannot be a file and a folder at once."""
    folders = {"/".join(name.split("/")[:depth]) for name in files for depth in range(1, name.count("/") + 1)}
    return {name: data for name, data in files.items() if name not in folders}


# -- what is made of a seed ----------------------------------------------------------------------------------


def audit(chance: Random) -> Mutant:
    seed, files = _configuration(chance)
    words = ["audit", *_audit_options(chance), *_report_options(chance)]
    for option, likely in (("--show-effective", 0.1), ("--no-link", 0.05), ("--hook", 0.02)):
        words += [option] if chance.random() < likely else []
    if chance.random() < 0.05:
        words += ["--what-if", chance.choice(("roll", "rack", "outage=30s", f"outage={any_value(chance)}"))]
    return Mutant(files, _words([*words, *_paths(chance, files)]), seed.name)


def fix(chance: Random) -> Mutant:
    seed, files = _configuration(chance)
    words = ["fix", *_audit_options(chance)] + (["--write"] if chance.random() < 0.2 else [])
    return Mutant(files, _words([*words, *_paths(chance, files)]), seed.name)


def compare(chance: Random) -> Mutant:
    """The seed is what runs today, the mutant what is to be deployed."""
    seed, files = _configuration(chance)
    words = ["compare", *_audit_options(chance), *_report_options(chance)]
    if chance.random() < 0.3:
        versions = ["--from-version", chance.choice(VERSIONS), "--to-version", chance.choice(VERSIONS)]
        return Mutant(files, _words([*words, *versions, "."]), seed.name)
    sides = {f"old/{name}": data for name, data in seed.files} | {
        f"new/{name}": data for name, data in files.items()
    }
    return Mutant(sides, _words([*words, "old", "new"]), seed.name)


def simulate_files(chance: Random) -> Mutant:
    seed, files = _configuration(chance)
    return Mutant(files, _words(["simulate", *_simulate_options(chance), *_paths(chance, files)]), seed.name)


def simulate_settings(chance: Random) -> Mutant:
    words = ["simulate", *_simulate_options(chance), *_set(chance), *_set(chance)]
    return Mutant({}, _words(words), "--set")


def scenario(chance: Random) -> Mutant:
    seed, files = _of(chance, SCENARIO)
    options = _simulate_options(chance) if chance.random() < 0.3 else _format(chance)
    return Mutant(files, _words(["simulate", *options, *sorted(files)]), seed.name)


def schedule(chance: Random) -> Mutant:
    seed, files = _of(chance, SCHEDULE)
    words = ["simulate", "--schedule", *(sorted(files)[:1] or ["missing.toml"]), *_format(chance)]
    words += _set(chance) if chance.random() < 0.3 else []
    if chance.random() < 0.1:
        other = chance.choice(of_kind(CONFIGURATION))
        files |= {f"config/{name}": data for name, data in other.files}
        words.append("config")
    return Mutant(files, _words(words), seed.name)


def checkpoint(chance: Random) -> Mutant:
    seed, files = _of(chance, CHECKPOINT)
    words = ["simulate", "--checkpoint", *(sorted(files)[:1] or ["missing"]), *_format(chance)]
    words += ["--log-end-offset", any_value(chance)] if chance.random() < 0.3 else []
    return Mutant(files, _words(words), seed.name)


def pack(chance: Random) -> Mutant:
    """A pack of few rules beside a configuration that is as it was."""
    seed = chance.choice(of_kind(PACK))
    ((_, data),) = seed.files
    head, *rules = re.split(rb"^(?=\[\[rule\]\]$)", data, flags=re.M)
    kept = chance.sample(rules, min(len(rules), chance.choice((1, 1, 2, 3))))
    files = {"pack.toml": b"".join([head, *kept])}
    for _ in range(chance.choice((1, 1, 2, 3, 5))):
        files["pack.toml"] = mutate(chance, "pack.toml", files["pack.toml"])
    other = chance.choice(of_kind(CONFIGURATION))
    files |= {f"config/{name}": data for name, data in other.files}
    prefix = "ZZ" if b"ZZ" in head else "PLAT"
    words = [
        "audit",
        "--rules",
        "pack.toml",
        *_either(chance, "--select", prefix),
        *_report_options(chance),
        "config",
    ]
    return Mutant(files, _words(words), f"{seed.name} on {other.name}")


MAKERS: tuple[Callable[[Random], Mutant], ...] = (
    *(audit, fix, compare, simulate_files, simulate_settings),
    *(scenario, schedule, checkpoint, pack),
)
WEIGHTS = (36, 16, 10, 10, 4, 11, 3, 1, 9)


def _configuration(chance: Random) -> tuple[Seed, dict[str, bytes]]:
    return _of(chance, CONFIGURATION)


def _of(chance: Random, kind: str) -> tuple[Seed, dict[str, bytes]]:
    # Now and then something that is not of this kind at all.
    seed = chance.choice(corpus() if chance.random() < 0.01 else of_kind(kind))
    return seed, changed(chance, dict(seed.files))


# -- options -------------------------------------------------------------------------------------------------


def _words(words: list[str]) -> tuple[str, ...]:
    """As a shell could hand them over: no NUL, nothing that no bytes stand for."""
    return tuple(re.sub("[\x00\ud800-\udfff]", "?", word)[:8000] for word in words)


def _paths(chance: Random, files: dict[str, bytes]) -> list[str]:
    named = sorted(name for name in files if name != PROJECT_FILE)
    return [chance.choice(named)] if named and chance.random() < 0.25 else ["."]


def _audit_options(chance: Random) -> list[str]:
    words = []
    if chance.random() < 0.75:
        words += ["--select", chance.choice(FAMILIES)]
    if chance.random() < 0.12:
        words += _set(chance)
    if chance.random() < 0.12:
        words += ["--kafka-version", chance.choice(VERSIONS)]
    if chance.random() < 0.1:
        words += ["--profile", chance.choice(("dev", "prod"))]
    return words


def _report_options(chance: Random) -> list[str]:
    words = _format(chance)
    if chance.random() < 0.1:
        words += ["--runs"]
    if chance.random() < 0.1:
        words += ["--fail-on", chance.choice(("never", "warning", "note"))]
    return words


def _either(chance: Random, *words: str) -> list[str]:
    return list(words) if chance.random() < 0.5 else []


def _format(chance: Random) -> list[str]:
    return ["--format", "json"] if chance.random() < 0.5 else []


def _simulate_options(chance: Random) -> list[str]:
    from advisor.packs.vocabulary import BROKER_FAULTS, PRODUCER_FAULTS, TRANSACTION_FAULTS
    from advisor.simulate.guarantees import asked_by_hand

    faults = [*BROKER_FAULTS, *PRODUCER_FAULTS, *TRANSACTION_FAULTS]
    words = _format(chance)
    if chance.random() < 0.5:
        words += ["--guarantee", chance.choice(list(asked_by_hand()))]
        for option in ("--faults", "--environment"):
            if chance.random() < 0.15:
                count = chance.choice(("0", "1", "2", "rf", "rf-1", "100", "-1"))
                words += [option, f"{chance.choice(faults)}={count}"]
    if chance.random() < 0.3:
        words += _set(chance)
    if chance.random() < 0.15:
        words += ["--kafka-version", chance.choice(VERSIONS)]
    return words


def _set(chance: Random) -> list[str]:
    key = chance.choice(component_keys()) if chance.random() < 0.6 else f"fact.{chance.choice(FACT_NAMES)}"
    key = key if chance.random() < 0.95 else any_key(chance)
    value = chance.choice(WHOLE) if chance.random() < 0.6 else any_value(chance)
    return ["--set", f"{key}={value}"]
