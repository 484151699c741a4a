"""Conditions: what each operator means, and the laws of three-valued logic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.model import Secret, Unknown, Value
from advisor.packs.conditions import ConditionError, Get, compile_condition

Values = Mapping[str, tuple[Value | None, bool]]


def reader(values: Values) -> Get:
    return lambda name: values.get(name, (None, False))


def ask(when: Mapping[str, Any], **values: Value | None) -> bool | None:
    """Names are given as topic__retention_ms or fact__brokers."""
    spelt = {name.replace("__", ".", 1): (value, value is not None) for name, value in values.items()}
    dotted = {
        name if name.startswith(("fact", "workload", "param")) else name.replace("_", "."): value
        for name, value in spelt.items()
    }
    return compile_condition(when).test(reader(dotted))


RETENTION = "topic.retention.ms"


@pytest.mark.parametrize(
    ("when", "value", "answer"),
    [
        ({"eq": "1"}, "1", True),
        ({"eq": 1}, "1", True),
        ({"eq": 1}, " 1.0 ", True),
        ({"eq": "all"}, "ALL", False),
        ({"eq": True}, "TRUE", True),
        ({"eq": "true"}, "False", False),
        ({"ne": "1"}, "2", True),
        ({"in": ["all", -1]}, "-1", True),
        ({"not_in": ["all", "-1"]}, "1", True),
        ({"not_in": ["all", "-1"]}, "all", False),
        ({"lt": "1h"}, "3599999", True),
        ({"lt": "1h"}, "3600000", False),
        ({"le": "1h"}, "3600000", True),
        ({"ge": 0, "lt": "1h"}, "-1", False),
        ({"gt": "1.5s"}, "1501", True),
        ({"ge": "10MiB"}, "10485760", True),
        ({"ge": "10MB"}, "9999999", False),
        ({"lt": 5}, "many", None),
        ({"matches": "compact"}, "delete,compact", True),
        ({"matches": "^compact$"}, "delete,compact", False),
        # The config's own value carries no units: Kafka would not read them.
        ({"lt": "1h"}, "30m", None),
        # No value equals nothing.
        ({"eq": "1"}, None, False),
        ({"ne": "1"}, None, True),
        ({"lt": 5}, None, False),
        ({"matches": "."}, None, False),
        ({"eq": "1"}, Unknown("${X}"), None),
        ({"matches": "."}, Unknown("${X}"), None),
        ({"eq": "hunter2"}, Secret("hunter2"), None),
        ({"matches": "hunter2"}, Secret("hunter2"), None),
        ({"set": True}, Secret("hunter2"), True),
    ],
)
def test_operators(when: dict[str, Any], value: Value | None, answer: bool | None) -> None:
    assert ask({"key": RETENTION, **when}, topic__retention_ms=value) is answer


def test_durations_follow_the_unit_of_the_key() -> None:
    assert ask({"key": "broker.log.retention.hours", "lt": "7d"}, broker__log_retention_hours="167") is True
    assert ask({"key": "broker.log.retention.hours", "lt": "7d"}, broker__log_retention_hours="168") is False
    week = {"key": "broker.offsets.retention.minutes", "eq": "7d"}
    assert ask(week, broker__offsets_retention_minutes="10080") is True
    assert ask({"key": "workload.longest_outage", "ge": "30s"}, workload__longest_outage="1m") is True


def test_versions_are_no_decimals() -> None:
    key = "broker.inter.broker.protocol.version"
    value = {"broker__inter_broker_protocol_version": "3.10"}
    assert ask({"key": key, "eq": "3.1"}, **value) is False
    assert ask({"key": key, "gt": "3.9"}, **value) is True
    assert ask({"key": key, "lt": "3.0"}, broker__inter_broker_protocol_version="2.8-IV1") is True


def test_another_name_in_braces() -> None:
    when = {"key": "topic.min.insync.replicas", "ge": "{fact.replication_factor}"}
    condition = compile_condition(when)
    assert condition.reads == ("fact.replication_factor", "topic.min.insync.replicas")
    assert ask(when, topic__min_insync_replicas="3", fact__replication_factor="3") is True
    assert ask(when, topic__min_insync_replicas="2", fact__replication_factor="3") is False
    # The cluster has a replication factor even if nobody stated it.
    assert ask(when, topic__min_insync_replicas="2") is None


@pytest.mark.parametrize(
    ("value", "is_set", "answer"),
    [
        ("1", True, True),
        ("1", False, False),
        (None, False, False),
        (Unknown("${X}"), True, True),
        (Unknown("not in sight"), False, None),
    ],
)
def test_set_tells_written_from_default(value: Value | None, is_set: bool, answer: bool | None) -> None:
    get = reader({"producer.acks": (value, is_set)})
    assert compile_condition({"key": "producer.acks", "set": True}).test(get) is answer
    opposite = None if answer is None else not answer
    assert compile_condition({"key": "producer.acks", "set": False}).test(get) is opposite


@pytest.mark.parametrize(
    ("when", "path", "says"),
    [
        ({}, (), "exactly one of all, any, not, key"),
        ({"all": []}, ("all",), "one or more"),
        ({"all": [{"key": "topic.a", "eq": 1}], "eq": 2}, ("eq",), "cannot stand beside"),
        ({"any": [{"key": "topic.a"}]}, ("any", 0), "no operator"),
        ({"not": {"key": "acks", "eq": "1"}}, ("not", "key"), "starts with one of producer"),
        ({"key": "topic.a", "equals": 1}, ("equals",), "operators are eq"),
        ({"key": "topic.a", "lt": "soon"}, ("lt",), "a duration such as 1h"),
        ({"key": "topic.a", "lt": "{brokers}"}, ("lt",), "no name"),
        ({"key": "topic.a", "matches": "("}, ("matches",), "no regular expression"),
        ({"key": "topic.a", "set": "yes"}, ("set",), "true or false"),
    ],
)
def test_bad_shapes_are_found_when_compiled(when: dict[str, Any], path: tuple[Any, ...], says: str) -> None:
    with pytest.raises(ConditionError) as caught:
        compile_condition(when)
    assert caught.value.path == path
    assert says in str(caught.value)


# The laws

KEYS = ("producer.acks", "topic.retention.ms", "topic.cleanup.policy", "fact.brokers")
TEXTS = ("all", "1", "-1", "0", "true", "3600000")

leaves = st.one_of(
    st.builds(
        lambda key, op, right: {"key": key, op: right},
        st.sampled_from(KEYS),
        st.sampled_from(("eq", "ne")),
        st.sampled_from((*TEXTS, "{fact.brokers}", "{producer.acks}")),
    ),
    st.builds(
        lambda key, op, right: {"key": key, op: right},
        st.sampled_from(KEYS),
        st.sampled_from(("lt", "le", "gt", "ge")),
        st.sampled_from((0, 1, "1h", "{fact.brokers}")),
    ),
    st.builds(
        lambda key, op, right: {"key": key, op: right},
        st.sampled_from(KEYS),
        st.sampled_from(("in", "not_in")),
        st.lists(st.sampled_from((*TEXTS, "{fact.brokers}")), min_size=1, max_size=3),
    ),
    st.builds(lambda key, yes: {"key": key, "set": yes}, st.sampled_from(KEYS), st.booleans()),
    st.builds(lambda key: {"key": key, "matches": "^[a1]"}, st.sampled_from(KEYS)),
)
conditions: st.SearchStrategy[dict[str, Any]] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda parts: {"all": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"any": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=8,
)
decided = st.one_of(
    st.tuples(st.sampled_from(TEXTS), st.booleans()),
    st.just((None, False)),
)
anything = st.one_of(
    decided,
    st.tuples(st.builds(Unknown, st.just("${X}")), st.booleans()),
    st.just((Secret("1"), True)),
)
readings = st.fixed_dictionaries(dict.fromkeys(KEYS, anything))


@given(conditions, readings)
def test_double_negation(when: dict[str, Any], values: Values) -> None:
    twice = compile_condition({"not": {"not": when}})
    assert twice.test(reader(values)) is compile_condition(when).test(reader(values))


@given(st.lists(conditions, min_size=1, max_size=3), readings)
def test_de_morgan(parts: list[dict[str, Any]], values: Values) -> None:
    get = reader(values)
    negated = [{"not": part} for part in parts]
    for one, other in (("all", "any"), ("any", "all")):
        left = compile_condition({"not": {one: parts}})
        assert left.test(get) is compile_condition({other: negated}).test(get)
        assert left.reads == compile_condition({other: negated}).reads


@given(conditions, readings, st.fixed_dictionaries(dict.fromkeys(KEYS, decided)))
def test_more_information_never_flips_an_answer(when: dict[str, Any], values: Values, known: Values) -> None:
    condition = compile_condition(when)
    before = condition.test(reader(values))
    filled = {}
    for key, (value, is_set) in values.items():
        if isinstance(value, Unknown):
            # A template that is written stays written; it becomes some text.
            filled[key] = (known[key][0] or "1", True) if is_set else known[key]
        else:
            filled[key] = (value, is_set)
    if before is not None:
        assert condition.test(reader(filled)) is before


@given(conditions, readings)
def test_only_what_is_named_is_read(when: dict[str, Any], values: Values) -> None:
    condition = compile_condition(when)
    asked = set()

    def get(name: str) -> tuple[Value | None, bool]:
        asked.add(name)
        return values[name]

    condition.test(get)
    assert asked <= set(condition.reads)
    assert list(condition.reads) == sorted(set(condition.reads))
