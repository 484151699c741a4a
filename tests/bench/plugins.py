"""What plugins cost: 200 more rules in an audit of 1000 files, ten installed plugins in an audit of one."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from advisor.author.new_plugin import plugin_files

from .files import COUNT, properties_text
from .measure import installed, medians

RULES = 200
PLUGINS = 10
# Settings that the files have, and some that they leave to their defaults; bounds that no file is beyond.
_KEYS = (
    ("producer.linger.ms", "gt", 5_000),
    ("producer.batch.size", "gt", 1_000_000),
    ("producer.delivery.timeout.ms", "lt", 30_000),
    ("producer.retries", "lt", 3),
    ("consumer.max.poll.records", "gt", 2_000),
    ("consumer.session.timeout.ms", "lt", 10_000),
    ("topic.retention.ms", "lt", 3_600_000),
    ("topic.segment.bytes", "lt", 1_000_000),
)


def pack_text(loud: bool = False) -> str:
    """Nine in ten are conditions, on one component or on two; the others ask the simulator. Of a policy one
    rule finds something, in one file of twelve; a `loud` one finds nine things in every file."""
    parts = ['[pack]\nname = "many"\nschema = 1\nprefix = "MANY"\n']
    for number in range(RULES):
        key, sign, bound = _KEYS[number % len(_KEYS)]
        bound = 7 * number if loud else 50 if number == 0 else bound
        if number % 10 == 9:
            decides = 'guarantee = "acked-records-survive"\nfaults = { broker_crash = 1 }\n'
            decides += 'applies = { components = ["producer"] }\n'
        elif number % 10 == 8:
            decides = 'when = { key = "producer.batch.size", gt = "{topic.max.message.bytes}" }\n'
        else:
            decides = f'when = {{ key = "{key}", {sign} = {bound} }}\n'
        parts.append(
            f'[[rule]]\ncode = "MANY{number:03}"\nname = "rule-{number}"\nseverity = "note"\n'
            f'message = "found"\nwhy = "A bench."\n{decides}'
        )
    return "\n".join(parts)


# Names that two plugins cannot both give.
_OWN = re.compile(r"nameless-client|tenants-in-order|short-retention|lost-in-a-crash|tenants-mixed")


def write_plugins(site: Path) -> None:
    """As installed: each a package of its own with rules, a check, a guarantee and a format."""
    for letter in "abcdefghij"[:PLUGINS]:
        name = f"plug{letter}-kafka"
        for path, text in plugin_files(name).items():
            if path.startswith("src/"):
                text = _OWN.sub(lambda found: f"{found[0]}-{letter}", text)  # noqa: B023
                target = site / path.removeprefix("src/")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text.replace(".kafka.ini", f".kafka-{letter}.ini"))
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text(f"[kafka_advisor]\n{name} = {name.replace('-', '_')}\n")


def run() -> dict[str, Any]:
    with installed() as programs, tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        many = here / "many"
        many.mkdir()
        names = ("producer", "consumer", "topic")
        for number in range(COUNT):
            (many / f"{names[number % 3]}-{number:04}.properties").write_text(properties_text(number))
        (here / "extra.toml").write_text(pack_text())
        (here / "loud.toml").write_text(pack_text(loud=True))
        (here / "producer.properties").write_text(properties_text(0))
        write_plugins(here / "site")
        command = programs / "kafka-advisor"
        cache = {"KAFKA_ADVISOR_CACHE": str(here / ".cache")}
        files = medians(
            {
                "plain": [command, "audit", "many"],
                "with_rules": [command, "audit", "many", "--rules", "extra.toml"],
                "with_loud_rules": [command, "audit", "many", "--rules", "loud.toml"],
            },
            here,
            rounds=5,
            env=cache,
        )
        one = medians(
            {
                "plain": [command, "audit", "producer.properties"],
                "with_plugins": [
                    "env",
                    f"PYTHONPATH={here / 'site'}",
                    command,
                    "audit",
                    "producer.properties",
                ],
            },
            here,
            rounds=15,
            env=cache,
        )
    return {
        "name": "plugins",
        "ratio": round(files["with_rules"] / files["plain"], 2),
        "goal": f"{RULES} more rules at most double an audit of {COUNT} files",
        "others": {
            "the same with rules that find nine things in every file": round(
                files["with_loud_rules"] / files["plain"], 2
            ),
            f"audit of one file with {PLUGINS} plugins / without (goal: at most 1.3)": round(
                one["with_plugins"] / one["plain"], 2
            ),
        },
        "cpu_seconds": {
            **{f"files_{name}": round(value, 3) for name, value in files.items()},
            **{f"one_{name}": round(value, 4) for name, value in one.items()},
        },
    }
