"""members-admitted, asked about a consumer that assigns its partitions under the group.id of another that
subscribes (part "assigned").

While the group has members, a commit that carries no generation is refused with UNKNOWN_MEMBER_ID
(ClassicGroup and ConsumerGroup.validateOffsetCommit). While it is empty, the commit is taken, and the members
begin there when they come back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....context import Context, Hit, Judgement
from ....sim.groups.consumer import AFTER, Reading
from .settings import Asked, asked


def judge(group: Asked, context: Context) -> Iterable[Judgement]:
    mine, _ = group.look.text("consumer", "group.id")
    if not group.alone or not mine:
        return
    for document in group.look.deployment.groups:
        if document is group.document or document.component != "consumer":
            continue
        other = asked(group.look.deployment, document, context)
        theirs, _ = other.look.text("consumer", "group.id")
        if theirs == mine and not other.alone:
            yield _clash(group, other, mine, context)
            return


def _clash(group: Asked, other: Asked, name: str, context: Context) -> Judgement:
    protocol = other.setup.protocol
    found = context.remember("clash", protocol, lambda: clash(protocol))
    automatic = group.look.flag("consumer", "enable.auto.commit")[0] is not False
    hit = Hit(
        group.at("group.id"),
        ("group.id",),
        {"group": name, "one": group.document.file, "other": other.document.file},
        (*group.shown("group.id", "enable.auto.commit"), *other.shown("group.id")),
        numbers=(
            ("while a member is there", f"every commit is refused: {found['refused']}"),
            (
                "the application learns it by",
                "a warning in the log, auto-commit goes on" if automatic else "CommitFailedException",
            ),
            ("while the group is empty", "its commits are taken, and members begin where they point"),
        ),
        also_at=(other.at("group.id"),),
        advice=(
            "give the consumer that assigns its partitions a group.id of its own, or let it commit nothing",
        ),
    )
    return Judgement("broken", hit, tuple(found["trace"]))


def clash(protocol: str) -> dict[str, Any]:
    """m0 subscribes, m1 assigns itself the same partitions; m1 works, commits, dies and comes back."""
    from ....sim.groups.search.questions import trace_of
    from ....sim.groups.search.states import Event, GroupPolicy
    from ....sim.groups.search.step import initial

    policy = GroupPolicy(protocol, protocol == "consumer", Reading(2, AFTER), assigned=(1,)).searched
    start = initial(policy, {"member_crash": 1})
    names = ("poll", "process", "process", "commit", "member_crash", "restart")
    trace = trace_of(policy, start, [Event(name, 1) for name in names])
    refused = next(effect for row in trace for effect in row["effects"] if effect.startswith("refused"))
    return {"trace": list(trace), "refused": refused.split()[-1]}
