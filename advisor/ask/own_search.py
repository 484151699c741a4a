"""A guarantee of one's own on the search: every run of a deployment's producer, judged by a plugin.

The model is that of records-stored-once and send-order-kept (`sim/producer/`): one partition, a few records,
requests and answers that get lost, a leader that moves. Its states are never folded into one, so a guarantee
may look at all that a run has come to. That of replicas and elections folds states by what its own guarantees
tell apart (`sim/partition/essence.py`), so it is not offered here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..context import Context, Hit, Judgement
from ..guard.calls import PluginError
from ..model import Deployment, Edit, Location, Setting
from ..packs.vocabulary import PRODUCER_FAULTS
from ..tuples import NamedTuple
from .judge import counts
from .policies import Combination, decode, producer_policies

RECORDS_MAX = 4


class Stored(NamedTuple):
    """What a run has come to. Records are numbered in the order of sending, from 0. `log`: those in the
    partition, in the order of their offsets; a record may be there twice. `acked`, `failed`: what the
    producer was told; the others have no answer yet."""

    log: tuple[int, ...]
    acked: tuple[int, ...]
    failed: tuple[int, ...]


# Why it is broken, in a few words; None: it is not.
Broken = Callable[[Stored], str | None]


class Searched(NamedTuple):
    """What the search came to. verdict: holds | broken (with the shortest run, `trace`) | unknown. `settings`
    are those of the producer that decide how it behaves, `at` the first of them in a file."""

    verdict: str
    reason: str
    at: Location
    settings: tuple[tuple[str, Setting], ...]
    trace: tuple[Mapping[str, Any], ...] = ()
    environment: Mapping[str, int] = {}
    faults: Mapping[str, int] = {}
    bounds: str = ""
    states: int = 0
    depends_on: tuple[str, ...] = ()

    def judgement(
        self, fields: Mapping[str, str] = {}, edits: Sequence[Edit] = (), advice: Sequence[str] = ()
    ) -> Judgement:
        """For the rule that asks. Its message may name `reason`, and these `fields`."""
        hit = None
        if self.verdict == "broken":
            keys = tuple(setting.key for _, setting in self.settings)
            filled = {"reason": self.reason, **fields}
            hit = Hit(self.at, keys, filled, self.settings, edits=tuple(edits), advice=tuple(advice))
        return Judgement(
            self.verdict,
            hit,
            self.trace,
            self.environment,
            self.faults,
            self.bounds,
            self.states,
            self.depends_on,
            self.reason if self.verdict == "unknown" else None,
        )


def search_records(
    deployment: Deployment, context: Context, broken: Broken, records: int = 3
) -> Searched | None:
    """Looks for the shortest run of this deployment's producer after which `broken` gives a reason, under the
    faults that the rule counts. None: no producer is in sight, or its settings contradict each other. Where a
    setting is not in sight, every value is tried: broken only if each of them breaks it."""
    if not 1 <= records <= RECORDS_MAX:
        raise PluginError(f"search_records: records is {records}, must be 1 to {RECORDS_MAX}")
    question = context.question
    _check_faults(question.guarantee, (question.environment, *question.faults))
    decoded = decode(deployment)
    combinations = producer_policies(decoded)
    if not combinations:
        return None
    assert decoded.producer is not None, "it has policies"
    assert deployment.producer is not None, "it has policies"
    decided = tuple(pair for knob in decoded.producer.values() for pair in knob.decided_by)
    settings = tuple(dict.fromkeys(decided))
    written = [one.origin.at for _, one in settings if one.origin.at is not None]
    at = written[0] if written else Location(deployment.producer.file, deployment.producer.line)
    worst: Searched | None = None
    for faults in question.faults or ({},):
        tried = [
            _searched(one, question.environment, faults, broken, records)._replace(at=at, settings=settings)
            for one in combinations
        ]
        found = tried[0]
        if len({one.verdict for one in tried}) > 1:
            unseen = tuple(knob.label for knob in decoded.producer.values() if not knob.seen)
            reason = f"it depends on {', '.join(unseen)}"
            found = found._replace(verdict="unknown", reason=reason, depends_on=unseen, trace=())
        if found.verdict == "broken":
            return found
        if worst is None or found.verdict == "unknown":
            worst = found
    return worst


def _searched(
    combination: Combination,
    environment: Mapping[str, int | str],
    faults: Mapping[str, int | str],
    broken: Broken,
    records: int,
) -> Searched:
    from ..sim.producer import questions
    from ..sim.producer.state import FAULTS, State, initial
    from ..sim.search.explore import explore
    from ..sim.search.small_models import concluded

    policy = combination.policy.searched
    free, counted = counts(environment, policy), counts(faults, policy)
    bounds = questions.BOUNDS._replace(records=records)
    budget = {name: free.get(name, 0) + counted.get(name, 0) for name in FAULTS}
    budget["leader_move"] = min(budget["leader_move"], bounds.elections)
    expected = questions.witnesses(policy, budget)

    def told(state: State) -> str | None:
        reached = [
            tuple(number for number, outcome in enumerate(state.outcomes) if outcome == word)
            for word in ("acked", "failed")
        ]
        return broken(Stored(tuple(number for number, _ in state.log), *reached))

    start = initial(policy, budget, records)
    found = explore(
        start,
        lambda state: questions.successors(policy, state),
        told,
        states_max=bounds.states,
        witnesses=expected,
    )
    blank = Searched("", "", Location(""), (), (), free, counted, bounds.text(), found.states)
    if found.run is not None:
        steps = questions.trace_of(policy, start, found.run)
        spent = {name: count for name in counted if (count := sum(event.name == name for event in found.run))}
        trace = tuple(step.as_dict() for step in steps)
        return blank._replace(verdict="broken", reason=str(found.reason), trace=trace, faults=spent)
    verdict = concluded(found, bounds, expected)
    reason = "" if verdict.verdict == "holds" else verdict.text()
    return blank._replace(verdict=verdict.verdict, reason=reason)


def _check_faults(guarantee: str, tables: Sequence[Mapping[str, int | str]]) -> None:
    for table in tables:
        for name in table:
            if name not in PRODUCER_FAULTS:
                from ..schemas.explain import did_you_mean

                near = did_you_mean(name, PRODUCER_FAULTS)
                raise PluginError(f"{guarantee} is asked about {name!r}, which no producer meets{near}")
