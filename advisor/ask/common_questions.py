"""Makes the table of common verdicts: which questions are common, asked, and written down.

Policies are those that common settings come to; the questions are those of the first-party rules and of the
headline, put by the code that puts them in an audit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from ..catalog import RELEASES, resolve_version
from ..memo.cache import Cache, digest
from ..packs.pack import FIRST_PARTY, Rule, load_packs
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..sim.partition.state import Policy
from ..sim.producer.policy import FAMILIES, ProducerPolicy
from ..sim.questions import ask
from ..sim.search.verdict import Bounds, Broken, Holds, Step, Unknown, Verdict
from ..sim.tolerance import Ask, headline, tolerance
from ..tuples import NamedTuple
from .common_verdicts import FILE, FORMAT, key_of, question_text, simulator_digest
from .judge import counts
from .policies import behaviour
from .tolerance import SEARCHED_UP_TO, TOLERANCE_FAULTS

ACKS = ("all", "1", "0")
REPLICAS = (1, 2, 3, 4)
MINIMUMS = (1, 2, 3)
IN_FLIGHT = (1, 2, 3, 4, 5, 10, 1_000_000)
RETRIES = (None, 0, 1)
PARTITION_GUARANTEES = ("acked-records-survive", "replicas-agree", "writes-available", "group-available")
# Eligible leader replicas exist since then.
_ELR_SINCE = (4, 0)


class Question(NamedTuple):
    guarantee: str
    policy: Any
    environment: Mapping[str, int]
    faults: Mapping[str, int]


def common_verdicts() -> Iterator[tuple[Question, Verdict]]:
    """Every common question once, with what the search answers."""
    known: dict[str, Verdict] = {}
    new: list[tuple[Question, Verdict]] = []

    def put(
        guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
    ) -> Verdict:
        text = question_text(guarantee, policy, environment, faults)
        if text not in known:
            known[text] = ask(guarantee, policy, environment, faults)
            new.append((Question(guarantee, policy, dict(environment), dict(faults)), known[text]))
        return known[text]

    rules = _searched_rules()
    policies: list[Any] = [*partition_policies(), *producer_policies()]
    for policy in policies:
        of_producer = isinstance(policy, ProducerPolicy)
        for rule in rules:
            if (rule.guarantee in PRODUCER_GUARANTEES) == of_producer and _is_asked(rule, policy):
                _ask_rule(rule, policy, put)
        if not of_producer:
            headline(policy, put)
            for guarantee, names in TOLERANCE_FAULTS.items():
                for fault in names:
                    tolerance(policy, guarantee, fault, SEARCHED_UP_TO, ask=put)
        yield from new
        new.clear()


def _ask_rule(rule: Rule, policy: Any, put: Ask) -> None:
    """As an audit asks it, and as a fix is held against it: how many of a fault are survived."""
    guarantee, environment = rule.guarantee or "", counts(rule.environment, policy)
    for faults in rule.faults or ({},):
        wanted = counts(faults, policy)
        put(guarantee, policy, environment, wanted)
        if len(wanted) == 1:
            ((fault, most),) = wanted.items()
            tolerance(policy, guarantee, fault, most, environment, put)


def partition_policies() -> list[Policy]:
    found: dict[Policy, None] = {}
    for name in RELEASES:
        version = resolve_version(name)
        fields = behaviour(version, own_protocol=False)
        elrs = (False, True) if version.number >= _ELR_SINCE else (False,)
        for replicas, acks, minimum, unclean, elr in product(REPLICAS, ACKS, MINIMUMS, (False, True), elrs):
            found[Policy(replicas, acks, minimum, unclean, elr, **fields)] = None
    return list(found)


def producer_policies() -> list[ProducerPolicy]:
    found = []
    for family, acks, idempotence, in_flight, retries in product(
        FAMILIES, ACKS, (True, False), IN_FLIGHT, RETRIES
    ):
        try:
            found.append(ProducerPolicy(family, acks, idempotence, in_flight, retries))
        except ValueError:  # no client starts with it
            continue
    return found


def _searched_rules() -> list[Rule]:
    from ..registry import load_registry

    packs = [spec for spec in load_registry().packs if spec.package == FIRST_PARTY]
    rules = load_packs(packs, (), Cache(None))
    return [rule for rule in rules if rule.guarantee in (*PARTITION_GUARANTEES, *PRODUCER_GUARANTEES)]


def _is_asked(rule: Rule, policy: Any) -> bool:
    """Racks are of one cluster, so no placement is common; what Kafka writes for itself it writes with
    acks=all."""
    if any("rack_lost" in faults for faults in rule.faults):
        return False
    return rule.guarantee != "group-available" or policy.acks == "all"


class Lines:
    """What verdicts are made of, each value once and on a line of its own."""

    def __init__(self, first: int) -> None:
        self.texts: list[str] = []
        self._first = first
        self._places: dict[str, int] = {}

    def place(self, value: object) -> int:
        """The line of a value."""
        text = _dump(value)
        if text not in self._places:
            self._places[text] = self._first + len(self.texts)
            self.texts.append(text)
        return self._places[text]

    def verdict(self, verdict: Verdict) -> int:
        match verdict:
            case Holds(bounds, states, witnesses):
                return self.place(["holds", self._bounds(bounds), states, self.place(witnesses)])
            case Broken(guarantee, trace, faults, states, bounds, reason):
                steps = [self._step(step) for step in trace]
                return self.place(
                    ["broken", guarantee, steps, dict(faults), states, self._bounds(bounds), reason]
                )
            case Unknown(reason, decided_by, bounds_or_none, states):
                place = None if bounds_or_none is None else self._bounds(bounds_or_none)
                return self.place(["unknown", reason, decided_by, place, states])

    def _bounds(self, bounds: Bounds) -> int:
        return self.place(bounds)

    def _step(self, step: Step) -> int:
        state = dict(step.state)
        replicas = [self.place(replica) for replica in state.get("replicas", ())]
        if "replicas" in state:
            state["replicas"] = 0
        return self.place([self.place(step.event), step.effects, self.place(state), replicas])


def table_text(verdicts: Sequence[tuple[Question, Verdict]]) -> str:
    lines = Lines(1 + len(verdicts))
    keys = sorted(
        (key_of(question_text(*question)), lines.verdict(verdict)) for question, verdict in verdicts
    )
    rest = ",\n".join([*(_dump([key, place]) for key, place in keys), *lines.texts]) + "\n]\n"
    head = {
        "format": FORMAT,
        "simulator": simulator_digest(),
        "questions": len(keys),
        "sum": digest(rest.encode("ascii")),
    }
    return f"[{_dump(head)},\n{rest}"


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def main(arguments: Sequence[str]) -> int:
    if arguments:
        print("usage: python -m advisor.ask.common_questions")
        return 2
    from ..model import UsageError
    from ..output.files import write_file

    path = os.path.join(os.path.dirname(__file__), FILE)
    verdicts = list(common_verdicts())
    try:
        write_file(path, table_text(verdicts))
    except UsageError as error:
        print(error)
        return 2
    print(f"{path} written: {len(verdicts)} verdicts")
    return 0


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
