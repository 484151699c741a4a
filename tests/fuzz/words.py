"""What mutants are made with: keys of the catalog and of the corpus, and values that break readers."""

from __future__ import annotations

import re
from functools import cache

from advisor.catalog import COMPONENTS, NEWEST, RELEASES, is_password, keys, librdkafka_names

from .corpus import PROJECT_FILE, corpus

# `key = value`, `key: value`, `- KEY=value`, quoted keys: near enough to every syntax we read.
ASSIGNMENT = re.compile(r"""^([ \t]*(?:- +)?)(["']?)([\w.$\[\]/-]{1,120})\2([ \t]*[:=][ \t]*)(.*)$""")

NUMBERS = (
    *("0", "-1", "1", "2", "-2", "10", "100", "1000", "32767", "32768", "65536", "1000000", "500000000"),
    *(str(2**31 - 1), str(2**31), str(-(2**31) - 1), str(2**63 - 1), str(2**63), str(-(2**63)), str(10**30)),
    *(
        "0.5",
        "1.",
        ".5",
        "-0",
        "+5",
        "00",
        "007",
        "1e3",
        "1e999",
        "NaN",
        "inf",
        "-inf",
        "0x10",
        "0b1",
        "0o17",
    ),
    *("²", "٣", "1_000", "1,000", "5 ", "9" * 5000, "-" + "9" * 5000, "0." + "3" * 400, "½"),
)
DURATIONS = (
    *("1d", "0s", "-1s", "5m", "1.5h", "999999999d", "106751991d", "5000 ms", "P1D", "PT0S", "1h30m", "1w"),
    *("292y", "1us", "1ns", "ms", "1 fortnight", "1GiB", "10MB", "0b", "-1MB", "99999999TB"),
)
TEMPLATES = (
    *(
        "${X}",
        "${X:5}",
        "${X:-${Y:-1}}",
        "${X",
        "}${",
        "${}",
        "${:}",
        "${env:X}",
        "${file:/x:y}",
        "$X",
        "$(X)",
    ),
    *("{{ x }}", "{{ .Values.acks }}", "{% if x %}1{% endif %}", "{{" * 300, "@x@", "#{x}", "%X%", "<X>"),
    *("${A}" * 200, "${" * 300, "${X:" * 50),
)
WORDS = (
    *("true", "false", "TRUE", "yes", "no", "on", "null", "~", "", '""', "''", "none", "all", "latest"),
    *(
        "a,b,,",
        ",",
        "a,b",
        "*",
        "**",
        "(",
        "[a-z",
        "(a+)+$",
        "\\",
        "x\\",
        "a b",
        "=",
        ":",
        "#",
        "!",
        "%",
        "...",
    ),
    *("a" * 20_000, "x." * 2_000, "(" * 2_000, "," * 2_000, " " * 2_000, "." * 300, "-" * 300, "/" * 300),
    *("PLAINTEXT://:9092", "kafka:9092,kafka:9093", "://", "[::1]:9092", "a" * 300 + ":9092", "kafka:999999"),
)
TYPED = (
    *("[]", "{}", "[1, 2]", '["a", "b"]', "[[1], [2]]", "{a: 1}", "{ a = 1 }", "[{}]", "[" * 200, "[null]"),
    *("&a 1", "*a", "&a [*a]", "!!binary aGk=", "!!float .nan", "!!set {a}", "!!str 1", "!x y", "!!int x"),
    *("!!python/object:os.system x", "|", ">", "? x", "2001-01-01", "1:30", "0o7", ".inf", "<<: *a", "- x"),
    *("1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "1.5", "'''x'''", '"""x"""', "1e5", "nan", "0.0"),
)
ODD = (
    *("\ufeff", "\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b[31m", "\x1b]0;x\x07", "\x7f", "\x80"),
    *("\x85", "\x9b31m", "\xa0", "\u200b", "\u202e", "\u2066", "\u2028", "\u2029", "\ufffe", "\uffff", "²"),
    *(
        "é",
        "e\u0301",
        "ß",
        "İ",
        "ſ",
        "\U0001f600",
        "\ud800",
        "\udcff",
        "\\ud800",
        "\\udfff",
        "\\u0000",
        "\\x9b",
    ),
    *(
        "\\u202e",
        "\\u",
        "\\u12",
        "\\U00110000",
        "\\\n",
        "\\",
        "\r",
        "\r\n",
        "\t",
        "\n",
        "---\n",
        "...\n",
        "\n\n",
    ),
    *("<<: *x", "&x ", "*x", "#", "# kafka-advisor: ignore", "# kafka-advisor: ignore KA101 -- x", "'", '"'),
    *(
        "'''",
        '"""',
        "{",
        "}",
        "[",
        "]",
        "[[",
        "]]",
        ",",
        "=",
        ":",
        ": ",
        "- ",
        "%YAML 1.2\n",
        "!!",
        "@",
        "`",
        "|",
    ),
)
# What a reader of numbers takes, so that it comes to those who use it.
WHOLE = tuple(number for number in NUMBERS if re.fullmatch("-?[0-9]{1,19}", number))
VALUES = (NUMBERS, NUMBERS, DURATIONS, TEMPLATES, WORDS, TYPED)

VERSIONS = (*RELEASES, "0.8", "0.9", "0.10", "0.11", "1.0", "4.3.1", "9.9", "41", "", "x", "²", "9" * 5000)


@cache
def catalog_keys() -> tuple[str, ...]:
    names = {
        name for component in COMPONENTS for version in (NEWEST, "2.4") for name in keys(component, version)
    }
    return tuple(sorted(names | set(librdkafka_names())))


@cache
def component_keys() -> tuple[str, ...]:
    """As --set takes them."""
    return tuple(
        sorted(f"{component}.{name}" for component in COMPONENTS for name in keys(component, NEWEST))
    )


@cache
def password_keys() -> tuple[str, ...]:
    return tuple(name for name in catalog_keys() if is_password(name) and "." in name)


@cache
def corpus_keys() -> tuple[str, ...]:
    """Every key of every seed: of project files, scenarios, packs, Spring, compose and what comes next."""
    return tuple(sorted({found[3] for found in _assignments()}))


@cache
def corpus_values() -> tuple[str, ...]:
    return tuple(sorted({found[5] for found in _assignments() if len(found[5]) <= 200}))


@cache
def values_by_key() -> dict[str, tuple[str, ...]]:
    """What the seeds say of a key: other values that are likely to be understood."""
    held: dict[str, set[str]] = {}
    for found in _assignments():
        if len(found[5]) <= 200:
            held.setdefault(found[3], set()).add(found[5])
    return {key: tuple(sorted(values)) for key, values in held.items()}


@cache
def lines_by_suffix() -> dict[str, tuple[str, ...]]:
    """Assignments as they are written in files of this kind."""
    held: dict[str, set[str]] = {}
    for seed in corpus():
        for name, data in seed.files:
            lines = data.decode("utf-8", "replace").split("\n")
            held.setdefault(suffix_of(name), set()).update(line for line in lines if ASSIGNMENT.match(line))
    return {suffix: tuple(sorted(lines)) for suffix, lines in held.items()}


def suffix_of(name: str) -> str:
    return PROJECT_FILE if name.endswith(PROJECT_FILE) else name.rpartition(".")[2]


@cache
def file_names() -> tuple[str, ...]:
    return tuple(sorted({name for seed in corpus() for name, _ in seed.files}))


def _assignments() -> list[re.Match[str]]:
    texts = (data.decode("utf-8", "replace") for seed in corpus() for _, data in seed.files)
    return [found for text in texts for line in text.split("\n") if (found := ASSIGNMENT.match(line))]
