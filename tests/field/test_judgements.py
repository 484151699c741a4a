"""The judgements that are kept can be read, speak of every repository by its commit, and say why."""

from __future__ import annotations

import re

from .judgements import FIXES, JUDGEMENTS, half, read_judgements

JUDGED = list(read_judgements().values())


def test_each_says_what_and_why():
    for one in JUDGED:
        assert one.judgement in JUDGEMENTS, one
        assert one.fix in FIXES, one
        assert re.fullmatch("[0-9a-f]{40}", one.commit), one
        assert one.why, one
        assert re.fullmatch(r"[^/\s]+/[^/\s]+", one.at.repository)
        assert re.fullmatch(r".+:\d+", one.at.place)


def test_both_halves_are_judged():
    assert {half(one.at.repository) for one in JUDGED} == {"first", "second"}
