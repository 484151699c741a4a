"""`audit --what-if`: what a rolling restart, a broker's outage or the loss of a rack does to each deployment.

Each is played on the clock (answers/outage); a side that is not in sight is the reference deployment's, and
said so. The answer is short: for how long writes stop, what expires, what is lost, who leads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..ask.answers.producer import outage
from ..ask.answers.producer.setup import MILLISECOND, Timed, timed
from ..ask.policies import RACKS_UNPLACED, decode, rack_policies, replication_policies
from ..ask.verdicts import Verdicts
from ..join.racks import worst_placement
from ..join.reader import Reader
from ..model import Deployment, UsageError
from ..syntax.units import spring_millis
from ..tuples import NamedTuple
from .by_hand import completed

LONGEST_MS = 3_600_000
_TOO_LONG = (
    f"an outage is played for {outage.PLAYED_MAX_MS // 60_000} minutes at the most, and what follows "
    "is not simply more of the same here; ask for a shorter one"
)
# Shorter than this nobody calls it a stop.
STOPPED_MS = 500


class Question(NamedTuple):
    """`kind`: roll, outage or rack; `length_ms`: of an outage."""

    text: str
    kind: str
    length_ms: int = 0


def parse(text: str) -> Question:
    kind, equals, length = text.partition("=")
    shown = text if len(text) <= 60 else text[:60] + "..."
    if kind in ("roll", "rack") and not equals:
        return Question(text, kind)
    if kind == "outage" and re.fullmatch(r"[0-9]+[a-z]+", length):
        found = spring_millis(length)
        if found is not None and 0 < found <= LONGEST_MS:
            return Question(text, kind, found)
        raise UsageError(f"--what-if {shown}: a time such as 30s or 5m, at most an hour")
    raise UsageError(f"--what-if {shown}: write roll, outage=30s or rack")


def answers(
    deployment: Deployment, questions: Sequence[Question], remember: outage.Remember, verdicts: Verdicts
) -> list[dict[str, Any]]:
    """Empty where nothing is written to."""
    if not questions or not outage.is_written_to(deployment):
        return []
    try:
        whole = completed(deployment)
    except UsageError as error:
        return [_unknown(question, str(error)) for question in questions]
    on_clock = timed(whole)
    if on_clock is None:
        return [
            _unknown(question, "the producer does not start with these settings") for question in questions
        ]
    if on_clock.unknown:
        named = ", ".join(dict.fromkeys(on_clock.unknown))
        return [_unknown(question, f"{named}: filled in elsewhere") for question in questions]
    return [_answer(whole, question, on_clock, remember, verdicts) for question in questions]


def _unknown(question: Question, reason: str) -> dict[str, Any]:
    return {"question": question.text, "answer": f"not known: {reason}", "known": False}


def _answer(
    deployment: Deployment,
    question: Question,
    on_clock: Timed,
    remember: outage.Remember,
    verdicts: Verdicts,
) -> dict[str, Any]:
    setup = on_clock.setup
    look = Reader(deployment)
    said: list[str] = []
    load = outage.load_of(look, "one broker" if question.kind == "outage" else "all")
    if question.kind == "roll":
        steps = outage.roll(setup)
    elif question.kind == "outage":
        length = min(question.length_ms, outage.PLAYED_MAX_MS)
        if length < question.length_ms and not outage.settles(setup):
            return _unknown(question, _TOO_LONG)
        steps = outage.crash(setup, length * MILLISECOND)
    else:
        placed = _rack(deployment)
        if isinstance(placed, str):
            return _unknown(question, placed)
        rack, away = placed
        said.append(
            f"rack {rack} holds {len(away)} of {setup.partition.replicas} replicas of the worst partition, "
            "and all records go to such"
        )
        steps = outage.lost_rack(setup, away)
    figures = outage.play(setup, steps, load, remember)
    if question.length_ms > outage.PLAYED_MAX_MS:
        whole = outage.longer(figures, load, question.length_ms - outage.PLAYED_MAX_MS)
        if whole is None:
            return _unknown(question, _TOO_LONG)
        figures = whole
    lost = figures.stranded if question.kind == "rack" else figures.lost
    found = _survival(deployment, question, verdicts)
    if found.calm == "broken":
        # Whether it happens is a matter of a moment, and no phase of the clock may have met it.
        lost = (lost[0], max(1, lost[1]))
    assumed = [*said, *load.assumptions]
    if on_clock.assumed:
        assumed.append(f"not in sight, so assumed: {', '.join(on_clock.assumed)}")
    return {
        "question": question.text,
        "answer": "; ".join(_words(question, figures, load, lost, found)),
        "known": True,
        "stopped_ms": list(figures.stopped),
        "resumes": figures.resumes,
        "failed": list(figures.failed),
        "refused": list(figures.refused),
        "blocked_ms": list(figures.blocked),
        "acked_lost": list(lost),
        "duplicates": list(figures.duplicates),
        "errors": list(figures.errors),
        "leads": [None if place < 0 else place + 1 for place in figures.leaders],
        "records_per_second": load.total,
        "rate_stated": load.stated,
        "assumptions": assumed,
    }


def _rack(deployment: Deployment) -> tuple[str, list[int]] | str:
    """The rack whose loss takes most replicas of a partition, and their places; or why it is not known."""
    decoded = decode(deployment)
    if decoded.racks_unplaced:
        return RACKS_UNPLACED
    if decoded.racks is None:
        return "which rack a broker stands in (broker.rack, or [facts] racks) is not in sight"
    placed = worst_placement(decoded.racks, decoded.knobs["replicas"].values[0], decoded.kraft)
    if placed is None:
        return "Kafka cannot place so many replicas"
    rack = max(placed.racks, key=lambda name: (placed.racks.count(name), placed.racks[0] == name))
    return rack, [place for place, name in enumerate(placed.racks) if name == rack]


class _Survival(NamedTuple):
    """What the search says of acknowledged records under the same fault: with all replicas in sync, and with
    followers that may lag."""

    calm: str
    lagging: str


_FAULTS = {"roll": {"roll": 1}, "outage": {"broker_crash": 1}, "rack": {"rack_lost": 1}}


def _survival(deployment: Deployment, question: Question, verdicts: Verdicts) -> _Survival:
    """Of the behaviour that the clock played: the first of those that are possible."""
    decoded = decode(deployment)
    policies = rack_policies(decoded) if question.kind == "rack" else replication_policies(decoded)
    policy, faults = policies[0].policy, _FAULTS[question.kind]
    calm, lagging = (
        verdicts.ask("acked-records-survive", policy, environment, faults).verdict
        for environment in ({}, {"slow_follower": policy.replicas - 1} if policy.replicas > 1 else {})
    )
    return _Survival(calm, lagging)


def _words(
    question: Question, figures: outage.Figures, load: outage.Load, lost: outage.Range, found: _Survival
) -> Iterator[str]:
    if question.kind == "rack" and figures.resumes is False:
        yield "writes stop until the rack is back"
    elif figures.stopped[1] < STOPPED_MS:
        yield f"writes go on, with pauses of up to {outage.seconds((figures.stopped[1],) * 2)}"
    else:
        yield f"writes stop for {outage.seconds(figures.stopped)}"
    at = outage.rate_text(load) + ("" if load.stated else " (none is stated)")
    fail = "expire" if set(figures.errors) <= {"TimeoutException", outage.REFUSED} else "fail"
    yield f"{outage.count(figures.failed)} records {fail} {at}" if figures.failed[1] else "no record expires"
    if figures.refused[1]:
        yield f"send() refuses {outage.count(figures.refused)} records"
    elif figures.blocked[1] >= STOPPED_MS:
        yield f"send() blocks for {outage.seconds(figures.blocked)}"
    if lost[1]:
        yield f"{outage.count(lost)} acknowledged records are lost"
    elif found.lagging == "broken":
        yield "no acknowledged record is lost while all followers keep up"
    else:
        yield "no acknowledged record is lost"
    if figures.duplicates[1]:
        yield f"{outage.count(figures.duplicates)} are stored twice"
    leaders = ["nobody" if place < 0 else f"replica {place + 1}" for place in figures.leaders]
    yield f"{' or '.join(leaders)} leads afterwards"
