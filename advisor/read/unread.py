"""Files that hold settings of Kafka and that no format reads: they are named, never passed over in silence.

Looked at are files that configure, by their names, and programs that hold a client's map though they load no
library of Kafka's: the client is made elsewhere. A sure word of Kafka's must stand where a key stands, so
that prose, dashboards and definitions of resources are not taken for configurations.
"""

from __future__ import annotations

import re
from functools import cache

# What is longer is data.
BYTES_MAX = 512 * 1024
TEMPLATES = (
    ".j2",
    ".jinja",
    ".jinja2",
    ".erb",
    ".tmpl",
    ".tpl",
    ".template",
    ".ftl",
    ".mustache",
    ".gotmpl",
)
_CONFIGURES = (
    *TEMPLATES,
    ".cfg",
    ".conf",
    ".config",
    ".env",
    ".hcl",
    ".hocon",
    ".ini",
    ".json",
    ".libsonnet",
    ".pkl",
    ".properties",
    ".sh",
    ".tf",
    ".tfvars",
    ".toml",
    ".xml",
    ".yaml",
    ".yml",
    "dockerfile",
)
_PROGRAMS = (".py", ".go", ".js", ".mjs", ".cjs", ".ts")
# Any of these must be there for a closer look; looked for in bytes, which costs next to nothing.
_MARKS = (
    b"bootstrap",
    b"advertised",
    b"ADVERTISED_LISTENERS",
    b"KAFKA_CFG_",
    b"insync",
    b"replication.factor",
    b"replication_factor",
    b"strimzi.io",
    b"kafka-topics",
    b"kafka-configs",
    b"connector.class",
)


@cache
def _key_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?:^|[ \t\"'(,;-])(?:(?:[\w.-]{0,40}\.)?bootstrap[._-]servers"
        r"|(?:KAFKA_(?:CFG_)?)?ADVERTISED_LISTENERS|advertised\.listeners"
        r"|(?:KAFKA_CFG_|KAFKA_)?MIN_INSYNC_REPLICAS|min\.insync\.replicas|offsets\.topic\.replication\.factor"
        r"|(?P<variable>\w{0,60}(?:min_insync_replicas|default_replication_factor"
        r"|offsets_topic_replication_factor))"
        r"|KAFKA_CFG_[A-Z_]{3,60}|zookeeper\.connect|default\.replication\.factor|connector\.class)"
        r"[\"']?(?:[ \t]*[:=]|[ \t]+value=|>)"
        r"|(?P<strimzi>^[ \t-]*apiVersion:[ \t]*[\"']?kafka\.strimzi\.io/)",
        re.MULTILINE,
    )


@cache
def _resource_pattern() -> re.Pattern[str]:
    """Kinds with settings; a KafkaRebalance or KafkaUser has none."""
    return re.compile(
        r"^[ \t-]*kind:[ \t]*[\"']?Kafka(?:Connect|Connector|MirrorMaker2?|NodePool|Topic|Bridge)?[\"']?"
        r"[ \t]*$",
        re.MULTILINE,
    )


@cache
def _map_pattern() -> re.Pattern[str]:
    return re.compile(r"""(["'])bootstrap\.servers\1[ \t]*:""")


@cache
def _command_pattern() -> re.Pattern[str]:
    return re.compile(
        r"kafka-topics(?:\.sh)?\b[^\n]{0,400}--create|kafka-configs(?:\.sh)?\b[^\n]{0,400}--add-config"
    )


def may_configure(name: str) -> bool:
    return name.lower().endswith(_CONFIGURES)


def why_unread(name: str, data: bytes) -> str | None:
    """Why a file that is Kafka's is not read; None if it is not Kafka's."""
    lower = name.lower()
    program = lower.endswith(_PROGRAMS)
    if len(data) > BYTES_MAX or not (program or may_configure(name)):
        return None
    if not any(mark in data for mark in _MARKS):
        return None
    if lower.endswith(".toml") and (
        (b"[pack]" in data and b"[[rule]]" in data) or (data.startswith(b"title =") and b"\nstory =" in data)
    ):
        return None  # a rule pack, a scenario or a schedule of ours: it speaks of settings and has none
    text = data.decode("utf-8", "replace")
    if program:
        if _map_pattern().search(text) is None:
            return None
        return "a map of a client's settings in a program that loads no library of Kafka's"
    if lower.endswith(".sh"):
        joined = text.replace("\\\n", " ")
        if _command_pattern().search(joined):
            return "a script: what it hands to Kafka's tools is not read"
        return None
    found = _key_pattern().search(text)
    if found is None or (found["strimzi"] and _resource_pattern().search(text) is None):
        return None
    if lower.endswith(".tf") and "confluent_connector" in text and "min.insync" not in text:
        return "connectors that Confluent Cloud runs: their settings are its own"
    if lower.endswith(TEMPLATES):
        return "a template of a format that is not read"
    if lower.endswith("dockerfile"):
        return "a Dockerfile: variables that it sets are not read"
    suffix = lower.rpartition(".")[2]
    if found["variable"] and suffix in ("tf", "tfvars"):
        return "variables of Terraform: the module that takes them says what they set"
    if found["variable"] and suffix in ("yml", "yaml"):
        return "variables of a playbook: the templates that they fill are read with these places open"
    if suffix in ("yml", "yaml", "json", "properties", "env", "tf", "tfvars", "conf", "config"):
        return "it holds settings of Kafka in a form that no format knows"
    return f"{suffix} files are not read"
