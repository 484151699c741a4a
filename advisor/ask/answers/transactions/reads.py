"""Transactions: what readers are shown, for how long they wait, and whether the work can be committed at all.

`only-committed-read` and the part of `records-visible` that hangs for ever are searched; what a clock decides
(an abandoned transaction, work longer than its timeout, a name that was forgotten) is run in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from ....context import Again, Context, Hit, Judgement, Step
from ....join.reader import Reader
from ....model import Change, Deployment, Document, Edit, Fix, Location, Origin, Setting
from ....sim.search.verdict import Broken, Unknown, Verdict, as_dict, from_dict
from ....sim.transactions.step import TransactionPolicy
from ....tuples import NamedTuple
from ...policies import Combination

Pair = tuple[str, Setting]
Ask = Callable[[str, TransactionPolicy, Mapping[str, int], Mapping[str, int]], Verdict]
GUARANTEES = ("only-committed-read", "records-visible")
ISOLATIONS = ("read_committed", "read_uncommitted")


class Seen(NamedTuple):
    """Who writes and who reads, as far as files tell. `open` are the labels of what they do not."""

    combinations: tuple[Combination, ...]
    settings: tuple[Pair, ...]
    open: tuple[str, ...]


def is_transactional(look: Reader) -> bool:
    """The name may be a template: that there is one is what counts."""
    return "transactional.id" in look.layers.get("producer", {})


def seen(look: Reader, group: Document | None) -> Seen:
    """Every behaviour that is possible; the defaults of the version where a broker is not in sight."""
    given = look.layers.get("producer", {}).get("transactional.id")
    isolation, isolation_found = isolation_of(look, group)
    verifies, verifies_found = look.flag("broker", "transaction.partition.verification.enable")
    number = look.version.number
    asks_first = number >= (3, 6) and verifies is not False
    choices: dict[str, tuple[Any, ...]] = {
        "transactional": (given is not None,),
        "isolation": ISOLATIONS if isolation is None else (isolation,),
        "verifies": (asks_first,),
        "bumps": (number >= (2, 5),),
        # transaction.version is a feature of the cluster, in no file: 2 where it was formatted at 4.0 or
        # later. With verification it changes no answer, which the tests of the model show.
        "epoch_each": (True, False) if number >= (4, 0) and not asks_first else (False,),
    }
    combinations = [
        Combination(TransactionPolicy(**fields), fields)
        for values in product(*choices.values())
        if (fields := dict(zip(choices, values, strict=True)))
    ]
    found = (("producer", given), ("consumer", isolation_found), ("broker", verifies_found))
    settings = tuple((component, setting) for component, setting in found if setting is not None)
    unseen = tuple(_LABELS[name] for name, values in choices.items() if len(values) > 1)
    return Seen(tuple(combinations), settings, unseen)


_LABELS = {"isolation": "isolation.level", "epoch_each": "transaction.version"}


def isolation_of(look: Reader, group: Document | None) -> tuple[str | None, Setting | None]:
    """None where no reader is in sight or a template fills it in. librdkafka's own default is stricter."""
    if group is None:
        return None, None
    text, found = look.text("consumer", "isolation.level")
    if group.client == "librdkafka" and not look.is_set("consumer", "isolation.level"):
        own = Setting("isolation.level", "read_committed", Origin("default", None, "default of librdkafka"))
        return "read_committed", own
    return (text.lower() if text is not None and text.lower() in ISOLATIONS else None), found


# -- searched ----------------------------------------------------------------------------------------------


class Searched(NamedTuple):
    """One answer over all behaviours; `drawn` is the verdict to show."""

    verdict: str
    drawn: Verdict
    depends_on: tuple[str, ...] = ()
    reason: str | None = None


def search(
    guarantee: str, found: Seen, environment: Mapping[str, int], faults: Mapping[str, int], ask: Ask
) -> Searched:
    answers = [ask(guarantee, one.policy, environment, faults) for one in found.combinations]
    drawn = next((answer for answer in answers if answer.verdict == "broken"), answers[0])
    kinds = {answer.verdict for answer in answers}
    if len(kinds) == 1:
        reason = drawn.reason if isinstance(drawn, Broken | Unknown) else None
        return Searched(drawn.verdict, drawn, (), reason)
    ways = "; ".join(
        f"{answer.verdict} with {_choice(one, found.open)}"
        for one, answer in zip(found.combinations, answers, strict=True)
    )
    return Searched("unknown", drawn, found.open, ways)


def _choice(combination: Combination, unseen: tuple[str, ...]) -> str:
    words = {True: "2", False: "below 2"}
    return ", ".join(
        f"{label} = {words.get(combination.choices[name], combination.choices[name])}"
        for name, label in _LABELS.items()
        if label in unseen
    )


def _asking(context: Context) -> Ask:
    def ask(
        guarantee: str, policy: TransactionPolicy, environment: Mapping[str, int], faults: Mapping[str, int]
    ) -> Verdict:
        def compute() -> dict[str, Any]:
            from ....sim.transactions.questions import ask as search_it

            return as_dict(search_it(guarantee, policy, environment, faults))

        mark = f"{guarantee}|{policy!r}|{sorted(environment.items())}|{sorted(faults.items())}"
        return from_dict(context.remember("transactions", mark, compute))

    return ask


def _faults(context: Context) -> dict[str, int]:
    return {name: int(count) for faults in context.question.faults[:1] for name, count in faults.items()}


def readers(deployment: Deployment) -> list[Document]:
    return [group for group in deployment.groups if group.component == "consumer"]


def judge_committed(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """Does a reader process what was aborted? Of a producer without transactions it is asked only where
    exactly-once is claimed: nobody else expects it."""
    if deployment.producer is None:
        return
    unnamed = context.part == "unfinished"
    for group in readers(deployment):
        look = Reader(deployment, context.clients, group)
        if is_transactional(look) == unnamed or (unnamed and look.workload("exactly_once") is not True):
            continue
        found = seen(look, group)
        answer = search("only-committed-read", found, {}, _faults(context), _asking(context))
        hit = _committed_hit(look, group, found, answer, unnamed)
        yield _judged(answer, context, hit, _again(answer, group, context))


def _committed_hit(look: Reader, group: Document, found: Seen, answer: Searched, unnamed: bool) -> Hit:
    isolation, setting = isolation_of(look, group)
    fields = {
        **names(look.deployment),
        "consumer": group.name,
        "isolation": isolation or "unknown",
        "why_broken": answer.reason or "",
    }
    if unnamed:
        producer = look.deployment.producer or group
        where = Location(producer.file, producer.line)
        advice = (
            "give the producer a transactional.id that its successor has too, and write in transactions",
            "set isolation.level = read_committed in the readers",
        )
        return Hit(where, ("transactional.id",), fields, found.settings, advice=advice)
    at = setting.origin.at if setting is not None else None
    hit = Hit(at or Location(group.file, group.line), ("isolation.level",), fields, found.settings)
    if len(readers(look.deployment)) > 1:
        # An edit would be made to every consumer of the deployment: this is the change of one.
        return hit._replace(fixes=(_isolated(group, setting),))
    return hit._replace(edits=(Edit("isolation", "consumer", "isolation.level", "read_committed"),))


def _isolated(group: Document, setting: Setting | None) -> Fix:
    """With read_committed no run is found, whatever else is set: the tests of the model ask it."""
    at = setting.origin.at if setting is not None else None
    before = str(setting.value) if setting is not None and at is not None else None
    file, line = (group.file, None) if at is None else (at.file, at.line)
    action = "add" if at is None else "set"
    change = Change("consumer", "isolation.level", before, "read_committed", file, line, action)
    return Fix((change,), ("only-committed-read holds",), smallest=True)


def names(deployment: Deployment) -> dict[str, str]:
    """Who is who, for a message."""
    producer, topic = deployment.producer, deployment.topic
    return {
        "producer": producer.name if producer is not None else "the producer",
        "topic": topic.name if topic is not None else "its topic",
        "cluster": deployment.cluster[0].name if deployment.cluster else "the cluster",
    }


def _again(answer: Searched, group: Document, context: Context) -> Again:
    """The same faults while a reader of the same name reads in another deployment."""

    def played(changed: Deployment) -> Sequence[Step]:
        from ....sim.same_faults import same_faults

        reader = next((one for one in readers(changed) if one.name == group.name), None)
        found = seen(Reader(changed, context.clients, reader), reader)
        broken = [step.as_dict() for step in getattr(answer.drawn, "trace", ())]
        run = same_faults("only-committed-read", found.combinations[0].policy, broken)
        return [step.as_dict() for step in run or ()]

    return played


def _judged(answer: Searched, context: Context, hit: Hit, again: Again | None = None) -> Judgement:
    drawn = answer.drawn
    trace = tuple(step.as_dict() for step in drawn.trace) if isinstance(drawn, Broken) else ()
    faults = dict(drawn.faults) if isinstance(drawn, Broken) else {}
    spent = ", ".join(f"{name} {count}" for name, count in sorted(faults.items()))
    hit = hit._replace(numbers=(("spent", spent or "none"), *hit.numbers))
    bounds = drawn.bounds.text() if drawn.bounds is not None else None
    broken = answer.verdict == "broken"
    return Judgement(
        answer.verdict,
        hit if broken else None,
        trace if broken else (),
        {},
        _faults(context),
        bounds,
        drawn.states,
        answer.depends_on,
        answer.reason if not broken else None,
        again if broken else None,
    )


def judge_visible(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """Is what was committed shown to readers? For ever not, where a record opens a transaction that no
    coordinator knows."""
    look = Reader(deployment, context.clients)
    if deployment.producer is not None and not is_transactional(look):
        return
    off, setting = look.flag("broker", "transaction.partition.verification.enable")
    old = look.version.number < (3, 6)
    if (not old and off is not False) or (old and deployment.producer is None):
        return  # nothing points to it
    found = _hanging_readers(deployment, context)
    answer = search("records-visible", found, {}, _faults(context), _asking(context))
    edits = (Edit("verifies", "broker", "transaction.partition.verification.enable", "true"),)
    advice = ("upgrade the brokers to Kafka 3.6 or later",) if old else ()
    find = "kafka-transactions.sh --bootstrap-server HOST:9092 find-hanging --broker-id N"
    hit = Hit(
        look.place(setting, *(one for _, one in found.settings)),
        ("transaction.partition.verification.enable",) if not old else ("transactional.id",),
        {**names(deployment), "why_broken": answer.reason or "", "version": deployment.version},
        found.settings,
        edits=() if old else edits,
        advice=(*advice, f"look for hanging transactions: {find}"),
    )
    yield _judged(answer, context, hit)


def _hanging_readers(deployment: Deployment, context: Context) -> Seen:
    """The reader that waits: one that is in sight, else any that reads what was committed."""
    for group in readers(deployment):
        look = Reader(deployment, context.clients, group)
        if isolation_of(look, group)[0] == "read_committed":
            return _named(seen(look, group))
    found = seen(Reader(deployment, context.clients), None)
    committed = tuple(one for one in found.combinations if one.choices["isolation"] == "read_committed")
    return _named(
        found._replace(combinations=committed, open=tuple(o for o in found.open if o != "isolation.level"))
    )


def _named(found: Seen) -> Seen:
    """Some producer has transactions, though none may be in sight."""
    return found._replace(
        combinations=tuple(
            one._replace(policy=one.policy._replace(transactional=True)) for one in found.combinations
        )
    )
