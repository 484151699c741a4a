"""every-record-processed, processed-once, processed-in-order: what a group passes over, repeats, mixes up.

The rule that asks says by its `part` which way of losing a record it is about:

    style       commits before the work, beside workers that are busy, or into a store that nobody seeks to
    race        auto-commit of the consumer protocol around a poll (REAL: 4.3.1)
    stored      librdkafka stores an offset when it hands the message over (a race that is always lost)
    growth, expiry, retention   no offset holds and auto.offset.reset decides: resets.py

and of doing one twice: crash (a crash or a rebalance), assign (instances that no coordinator keeps apart).
The first three and both of these are searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....context import Context, Hit, Judgement, Step
from ....model import ADVICE, REVIEW, Deployment, Edit
from ....sim.groups.consumer import BEFORE, FINISHED, POLLED
from .settings import STORE, STYLES, Asked, groups_of

if TYPE_CHECKING:
    from ....sim.groups.search.states import GroupPolicy


def judge(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    name = context.part
    by = _PROCESSED.get(name)
    if by is None:
        from .resets import RESETS

        by = RESETS[name]
    for group in groups_of(deployment, context):
        yield from by(group, context)


def judge_in_order(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """Asked of pools of workers: whoever works in the poll loop keeps the order of a partition."""
    for group in groups_of(deployment, context):
        if group.style == "workers":
            yield from _searched(group, context, "processed_in_order", _overtakes)


def _overtakes(group: Asked, found: dict[str, Any]) -> Hit:
    return Hit(
        group.at("group.id"),
        ("group.id",),
        {"group": group.name},
        (*group.shown("max.poll.records"), *group.stated("processing")),
        numbers=_numbers(group, found, ("records at work at once", _polled(group))),
        advice=("give all records of a key (or of a partition) to the same worker, as by a queue for each",),
    )


def _polled(group: Asked) -> str:
    batch = group.setup.reading.batch
    return f"up to {batch} of a poll (max.poll.records), and more if poll() goes on"


def judge_once(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """After a crash it is asked only where exactly-once is claimed."""
    by = context.part
    for group in groups_of(deployment, context):
        if by == "assign":
            yield from _by_each(group, context)
        elif group.look.workload("exactly_once") is True:
            yield from _searched(group, context, "processed_once", _once)


# -- the searched ones -------------------------------------------------------------------------------------


def _style(group: Asked, context: Context) -> Iterable[Judgement]:
    elsewhere = group.setup.protocol == "consumer" or group.librdkafka
    if group.setup.reading.commits == "auto" and group.style == "loop" and elsewhere:
        return  # what is lost there has a rule of its own
    yield from _searched(group, context, "every_record_processed", _skips)


def _race(group: Asked, context: Context) -> Iterable[Judgement]:
    if group.setup.reading.late_commit and group.style == "loop":
        yield from _searched(group, context, "every_record_processed", _races)


def _stored(group: Asked, context: Context) -> Iterable[Judgement]:
    look = group.look
    automatic, setting = look.flag("consumer", "enable.auto.commit")
    stores, _ = look.text("consumer", "enable.auto.offset.store")
    if not group.librdkafka or group.style != "loop" or (stores or "true").lower() != "true":
        return
    if automatic is False or (setting is not None and automatic is None):
        return
    # A message counts as done when it is handed over: what KIP-848's race does now and then, always.
    late = group._replace(setup=group.setup._replace(reading=group.setup.reading._replace(late_commit=True)))
    written = look.is_set("consumer", "enable.auto.commit")
    yield from _searched(late, context, "every_record_processed", _stores(written))


def _searched(
    group: Asked, context: Context, question: str, hit: Callable[[Asked, dict[str, Any]], Hit]
) -> Iterable[Judgement]:
    deciding = {"consumer.enable.auto.commit", "consumer.group.protocol", "consumer.enable.auto.offset.store"}
    if group.style == "external":
        deciding.add("consumer.auto.offset.reset")
    unknown = tuple(sorted(deciding & set(group.unknown)))
    if unknown:
        yield Judgement("unknown", reason=f"{', '.join(unknown)} is a template", depends_on=unknown)
        return
    faults = {name: int(count) for option in context.question.faults for name, count in option.items()}
    answers = [(one, _asked(one, context, question, faults)) for one in group.stores]
    one, found = answers[0]
    common = {"faults": faults, "bounds": found["bounds"], "states": found["states"]}
    if len({answer["verdict"] for _, answer in answers}) > 1:
        open_questions = {
            "offset_seek": "does every new owner seek there?",
            "offset_fenced": "is a late writer refused?",
        }
        asked = [open_questions[name] for name in group.store_unstated]
        fields = tuple(f"[workload] {name}" for name in group.store_unstated)
        reason = f"offsets are kept outside of Kafka: {' '.join(asked)}"
        yield Judgement("unknown", reason=reason, depends_on=fields, **common)
    elif found["verdict"] == "broken":
        again = one.again(context, lambda other: _same_faults(other, found["trace"]))
        yield Judgement("broken", hit(one, found), tuple(found["trace"]), again=again, **common)
    else:
        yield Judgement(found["verdict"], reason=found["reason"] or None, **common)


def _asked(group: Asked, context: Context, question: str, faults: dict[str, int]) -> dict[str, Any]:
    policy = _policy(group)

    def search() -> dict[str, Any]:
        from ....sim.groups.search import questions as group_questions

        answer = getattr(group_questions, question)(policy, faults)
        return {**answer._asdict(), "bounds": group_questions.BOUNDS}

    found: dict[str, Any] = context.remember(question, repr((policy, sorted(faults.items()))), search)
    return found


def _policy(group: Asked) -> GroupPolicy:
    from ....sim.groups.search.states import GroupPolicy

    setup = group.setup
    cooperative = setup.cooperative.issuperset(setup.strategies)
    reading = setup.reading._replace(batch=min(setup.reading.batch, 2))
    alone = min(group.members()[0], 2) if group.alone else 0
    return GroupPolicy(
        setup.protocol,
        cooperative or setup.protocol == "consumer",
        reading,
        assigned=tuple(range(alone)),
        reset=setup.reset if reading.store else "",
        instances=alone or 2,
    )


def _same_faults(group: Asked, broken: Sequence[Step]) -> Sequence[Step]:
    from ....sim.same_faults import same_faults_of_group

    return same_faults_of_group(_policy(group), broken) or ()


def _numbers(group: Asked, found: dict[str, Any], *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    origin = "stated" if group.style_stated else "assumed: [workload] processing is not stated"
    spent = ", ".join(f"{name} {count}" for name, count in sorted(found["faults"].items()))
    return (
        ("spent", spent or "none"),
        ("records are processed", f"{STYLES[group.style]} ({origin})"),
        *more,
        ("what happened", str(found["reason"])),
    )


def _at_stake(group: Asked) -> tuple[str, str]:
    batch = group.setup.reading.batch
    store = group.setup.reading.store
    if store is not None and not store.seeks:
        return "records at stake in one crash", "all between the stored offset and where reading goes on"
    return "records at stake in one crash", f"up to {batch} (max.poll.records)" if batch > 1 else "1"


def _no_auto_commit(group: Asked) -> tuple[Edit, ...]:
    return group.edits(Edit("commits", "consumer", "enable.auto.commit", "false", safety=ADVICE))


def _skips(group: Asked, found: dict[str, Any]) -> Hit:
    cause, edits, advice = _cause(group)
    external = group.style == "external"
    return Hit(
        group.at("enable.auto.commit", "group.id"),
        ("enable.auto.commit", "auto.offset.reset") if external else ("enable.auto.commit",),
        {"group": group.name, "cause": cause},
        (
            *group.shown("enable.auto.commit", "max.poll.records"),
            *(group.shown("auto.offset.reset") if external else ()),
            *group.stated("processing", "workers_commit", *STORE),
        ),
        numbers=_numbers(group, found, _at_stake(group)),
        edits=edits,
        advice=(advice,),
    )


def _cause(group: Asked) -> tuple[str, tuple[Edit, ...], str]:
    """Why records are passed over, which setting would help, and what to do in the application."""
    reading = group.setup.reading
    if reading.store is not None and reading.commits != BEFORE:
        reset = group.setup.reset
        return (
            f"does not seek to the offsets it stores, so that auto.offset.reset={reset} decides"
            if not reading.store.auto_commit
            else "does not seek to the offsets it stores and goes on where auto-commit left",
            (
                *group.edits(Edit("reset", "consumer", "auto.offset.reset", "earliest", safety=REVIEW)),
                *(_no_auto_commit(group) if reading.store.auto_commit else ()),
            ),
            "in onPartitionsAssigned() seek() every partition to its stored offset; then state "
            "[workload] offset_seek = true",
        )
    if reading.store is not None:
        return (
            "stores the offset before the output it stands for",
            (),
            "write offset and output in one transaction of the store (or the offset after the output, and "
            "records may be done twice)",
        )
    if group.style == "before":
        return (
            "commits before it processes",
            (),
            "commit after the work is done: poll, process, then commitSync() or acknowledge()",
        )
    in_order = "commit only up to the first record that no worker has finished"
    if reading.carries == FINISHED:
        return "lets each worker commit its own record, while others are busy with earlier ones", (), in_order
    if reading.carries == POLLED:
        return "commits what it has polled, while workers are busy with it", (), in_order
    return (
        "auto-commits while workers are busy",
        _no_auto_commit(group),
        f"with enable.auto.commit=false {in_order}",
    )


def _races(group: Asked, found: dict[str, Any]) -> Hit:
    return Hit(
        group.at("enable.auto.commit", "group.protocol"),
        ("enable.auto.commit", "group.protocol"),
        {"group": group.name},
        group.shown("group.protocol", "enable.auto.commit", "auto.commit.interval.ms", "max.poll.records"),
        numbers=_numbers(
            group,
            found,
            _at_stake(group),
            ("seen on a real 4.3.1 cluster", "8 of 10 crashes skipped the batch in hand"),
        ),
        edits=(
            *_no_auto_commit(group),
            *group.edits(Edit("protocol", "consumer", "group.protocol", "classic", safety=REVIEW)),
        ),
        advice=("with enable.auto.commit=false commit after each batch: commitSync()",),
    )


def _stores(written: bool) -> Callable[[Asked, dict[str, Any]], Hit]:
    def hit(group: Asked, found: dict[str, Any]) -> Hit:
        return Hit(
            group.at("enable.auto.commit", "enable.auto.offset.store"),
            ("enable.auto.commit", "enable.auto.offset.store"),
            {"group": group.name},
            group.shown("enable.auto.commit", "enable.auto.offset.store"),
            numbers=_numbers(
                group, found, ("records at stake in one crash", "those handed over and not done")
            ),
            severity="warning" if written else None,
            edits=group.edits(
                Edit("stores", "consumer", "enable.auto.offset.store", "false", safety=ADVICE),
                Edit("commits", "consumer", "enable.auto.commit", "false", safety=ADVICE),
            ),
            advice=("call store_offsets() (or commit()) after the work on a message is done",),
        )

    return hit


def _once(group: Asked, found: dict[str, Any]) -> Hit:
    store = group.setup.reading.store
    advice = (
        "make output and offsets take effect together: a transactional producer with "
        "sendOffsetsToTransaction(), or a store that keeps the offset beside the result; "
        'then state [workload] processing = "transaction" or "external"'
    )
    if store is not None and not store.seeks:
        advice = "in onPartitionsAssigned() seek() every partition to its stored offset"
    elif store is not None and not store.fences:
        advice = (
            "Kafka does not fence writers of your store: let it refuse what does not begin at the offset it "
            "holds (a condition on the offset in the same write, or a unique key of topic, partition and "
            "offset); then state [workload] offset_fenced = true"
        )
    return Hit(
        group.at("enable.auto.commit", "group.id"),
        ("enable.auto.commit",),
        {"group": group.name},
        (
            *group.shown("enable.auto.commit", "isolation.level"),
            *group.stated("exactly_once", "processing", *STORE),
        ),
        numbers=_numbers(group, found, _at_stake(group)),
        edits=_no_auto_commit(group) if group.style == "transaction" else (),
        advice=(advice,),
    )


# -- consumers that assign their partitions themselves -----------------------------------------------------


def _by_each(group: Asked, context: Context) -> Iterable[Judgement]:
    """Several instances of a consumer that does not subscribe: nobody shares the partitions out."""
    members, why = group.members()
    if group.alone and members > 1:
        yield from _searched(group, context, "processed_once", _each(members, why))


def _each(members: int, why: str) -> Callable[[Asked, dict[str, Any]], Hit]:
    def hit(group: Asked, found: dict[str, Any]) -> Hit:
        return Hit(
            group.at("group.id"),
            ("group.id",),
            {"group": group.name, "members": str(members)},
            (*group.shown("group.id", "enable.auto.commit"), *group.stated("subscription")),
            numbers=(
                ("instances", why),
                ("a record is processed", f"{members} times, without any fault"),
                ("offsets", "each commit overwrites the others', be it behind them"),
                ("assumed", "every instance assigns itself the same partitions"),
            ),
            advice=(
                "subscribe() and let the group share the partitions out, or give each instance partitions of "
                "its own and a group.id of its own",
            ),
        )

    return hit


_PROCESSED: dict[str, Callable[[Asked, Context], Iterable[Judgement]]] = {
    "style": _style,
    "race": _race,
    "stored": _stored,
}
