"""Runs of consumer groups: members as columns, the partitions that each reads, what was committed.

Those of the search know every record ("p0:1" is the record at offset 1 of partition 0); those on the clock
know who owns what, and when.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .build import made
from .endings import ending_of
from .values import Cell, Column, Run, Said

Step = Mapping[str, Any]

_EVENTS = {
    "poll": "{m} polls",
    "process": "{m} processes {done}",
    "commit": "{m} commits",
    "deliver": "{m}'s commit arrives",
    "store": "{m} stores its offsets",
    "restart": "{m} is started again",
    "member_crash": "{m} crashes",
    "expire": "{m}'s session ends",
    "leave": "{m} leaves the group",
    "drop": "{m} is dropped from the group",
    "return": "{m} joins again",
}
_HOW = {
    "committing": " and auto-commits",
    "committing late": " and auto-commits what it just got",
}
_MEMBER = re.compile(r"\bm(\d{1,6})\b")
LEGEND = (
    "m0 p0@2 | p0:1: member 0 reads partition 0 from offset 2 and has the record at offset 1 of it in hand",
)
LEGEND_CLOCK = ("m0 p0: member 0 owns partition 0",)


def member(number: int | str) -> str:
    return f"member {number}"


def in_full(text: str) -> str:
    """m0 gives up p0 -> member 0 gives up p0."""
    return _MEMBER.sub(r"member \1", text)


def build(trace: Sequence[Step], guarantee: str | None) -> Run:
    searched = "members" in trace[0]["state"]
    names = list(dict.fromkeys(name for step in trace for name in step["state"]["cells"]))
    columns = [_column(name) for name in names]
    # Members first: they are what a reader looks at.
    order = sorted(range(len(names)), key=lambda place: columns[place].kind != "member")
    columns = [columns[place] for place in order]
    rows = [[_cell(step, names[place]) for place in order] for step in trace]
    said = [_searched(step) if searched else _timed(step) for step in trace]
    legend = LEGEND if searched else LEGEND_CLOCK
    who = [str(trace[0]["event"].get("member", ""))]
    return made("group", trace, columns, rows, said, ending_of(guarantee, trace), legend, who)


def _column(name: str) -> Column:
    if _MEMBER.fullmatch(name):
        return Column(name, member(name[1:]), "member")
    return Column(name, name, "coordinator", name not in ("generation", "strategy"))


def _cell(step: Step, name: str) -> Cell:
    state = step["state"]
    text = state["cells"].get(name, "")
    for one in state.get("members", ()):
        if one["id"] == name:
            data = {
                "alive": one["alive"],
                "owns": sorted(one["positions"]),
                "positions": one["positions"],
                "in_hand": one["in_hand"],
            }
            return Cell(text, False, () if one["alive"] else ("gone",), data)
    if name in state.get("owned", {}):
        return Cell(text, data={"owns": list(state["owned"][name])})
    return Cell(
        text, data={"offsets": state[name]} if name in ("committed", "stored") and name in state else {}
    )


def _searched(step: Step) -> Said:
    event = step["event"]
    name = event["name"]
    who = member(event["member"][1:])
    how = event["text"].removeprefix(f"{name} {event['member']}").strip()
    done = [
        effect.removeprefix("processed ") for effect in step["effects"] if effect.startswith("processed ")
    ]
    if name == "process" and not done:
        sentence = f"{who} works on {how or 'a record'}"
    else:
        sentence = _EVENTS.get(name, name.replace("_", " ")).format(m=who, done=", ".join(done))
    if name == "poll":
        sentence += _HOW.get(how, "")
    notes = [note for effect in step["effects"] if (note := _effect(effect, name))]
    return Said(sentence, tuple(notes))


def _effect(text: str, event: str) -> str:
    name, _, rest = text.partition(" ")
    match name:
        case "processed":
            return (
                ""
                if event == "process"
                else f"{rest.removesuffix(' again')} takes effect"
                + (" again" if rest.endswith(" again") else "")
            )
        case "committed":
            partition, _, offset = rest.partition("=")
            return f"{partition} is committed up to {offset}"
        case "stored":
            partition, _, offset = rest.partition("=")
            return f"{partition} is stored up to {offset}"
        case "refused" | "fenced":
            who, _, why = rest.partition(" ")
            return f"the commit of {in_full(who)} is refused" + (f": {why}" if why else "")
    return in_full(text).replace(" owns ", " reads ")


def _timed(step: Step) -> Said:
    name, text = step["event"]["name"], str(step["event"]["text"])
    if text.endswith(f" {name}") and name.endswith("Exception"):
        text = f"{text.removesuffix(name)}stops: {name}"
    elif text.startswith("coordinator "):
        text = f"the {text}"
    return Said(in_full(full_sentence(text)), tuple(in_full(effect) for effect in step["effects"]))


def full_sentence(text: str) -> str:
    """A deploy's bare verb, `start m1 (range)`, as a sentence."""
    first, _, rest = text.partition(" ")
    if first not in ("stop", "start") or not rest:
        return text
    who, _, how = rest.partition(" ")
    return f"{who} is {'stopped' if first == 'stop' else 'started'}" + (f" {how}" if how else "")
