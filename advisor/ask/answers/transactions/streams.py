"""Kafka Streams with exactly-once: each commit is a transaction, whose timeout Streams sets shorter than any
producer's default. What a thread does between two commits has to fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....context import Context, Hit, Judgement
from ....join.effective import by_key
from ....join.reader import Reader, stated
from ....model import Deployment, Document, Edit, Location, Origin, Setting
from ....syntax.numbers import integer
from .times import MAXIMUM, TIMEOUT, check_of, longer_timeouts, pairs, told, too_slow

PREFIXED = f"producer.{TIMEOUT}"
COMMIT = "commit.interval.ms"
# StreamsConfig.PRODUCER_EOS_OVERRIDES, and EOS_DEFAULT_COMMIT_INTERVAL_MS.
_STREAMS_TIMEOUT, _PRODUCER_TIMEOUT, _EOS_COMMIT = "10000", "60000", "100"
_SETS_TIMEOUT_FROM = (2, 6)


def exactly_once(document: Document) -> bool:
    given = by_key(document).get("processing.guarantee") if document.component == "streams" else None
    return given is not None and str(given.value).strip().startswith("exactly_once")


def judge_streams(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    for document in deployment.groups:
        if not exactly_once(document):
            continue
        look = Reader(deployment, context.clients, document)
        if context.part == "refused":
            yield from _refused(look, document)
        elif context.part == "outlived":
            yield from _outlasted(look, document, context)


def _timeout(look: Reader) -> Setting:
    """Keys behind the prefix win over bare ones; what nobody writes, Streams sets itself."""
    layer = look.layers["streams"]
    given = layer.get(PREFIXED) or layer.get(TIMEOUT)
    if given is not None:
        return given
    if look.version.number >= _SETS_TIMEOUT_FROM:
        return Setting(PREFIXED, _STREAMS_TIMEOUT, Origin("default", None, "default of Kafka Streams"))
    return Setting(TIMEOUT, _PRODUCER_TIMEOUT, Origin("default", None, "default of the producer"))


def _commits_every(look: Reader) -> Setting:
    given = look.layers["streams"].get(COMMIT)
    default = Setting(COMMIT, _EOS_COMMIT, Origin("default", None, "default of Streams with exactly-once"))
    return given or default


def _number(setting: Setting) -> int | None:
    return integer(str(setting.value).strip())


def _refused(look: Reader, document: Document) -> Iterable[Judgement]:
    """A timeout beyond the coordinator's maximum: no thread ever starts."""
    found = _timeout(look)
    timeout, (most, most_found) = _number(found), look.number("broker", MAXIMUM)
    if timeout is None or most is None:
        return
    bounds = f"timeout {told(timeout)}, at most {told(most)}"
    if timeout <= most:
        yield Judgement("holds", bounds=bounds)
        return
    fields = {"producer": document.name, "timeout": str(timeout), "most": str(most)}
    edits = (
        Edit("timeout", "streams", PREFIXED, str(most)),
        Edit("maximum", "broker", MAXIMUM, str(timeout)),
    )
    shown = pairs(("streams", found), ("broker", most_found))
    numbers = (("initTransactions fails with", "InvalidTxnTimeoutException"),)
    hit = Hit(_place(found, document), (TIMEOUT, MAXIMUM), fields, shown, numbers=numbers, edits=edits)
    yield Judgement("broken", hit, bounds=bounds)


def _outlasted(look: Reader, document: Document, context: Context) -> Iterable[Judgement]:
    found, work = _timeout(look), _work(look)
    timeout = _number(found)
    if timeout is None or work is None:
        return
    takes, words, settings = work
    check, check_found = check_of(look)
    if takes <= timeout + 1:
        yield Judgement("holds", bounds=f"work of {told(takes)}, timeout {told(timeout)}")
        return
    steps: list[Mapping[str, Any]] = context.remember(
        "outlasted", f"{timeout}|{check}|{takes}", lambda: too_slow(timeout, check, takes)
    )
    fields = {"producer": document.name, "takes": told(takes), "timeout": told(timeout)}
    numbers = (
        ("spent", "none"),
        ("a transaction takes", words),
        ("aborted after", f"{told(timeout)} to {told(timeout + check)}"),
        (
            "the commit fails with",
            "TaskMigratedException: the thread gives up its tasks and does the work again",
        ),
        ("the timeout is", found.origin.note or "as written"),
    )
    edits, advice = longer_timeouts(look, timeout, takes)
    edits = tuple(
        edit._replace(component="streams", key=PREFIXED) if edit.key == TIMEOUT else edit for edit in edits
    )
    shown = (*pairs(("streams", found), ("broker", check_found)), *settings)
    where = _place(found, document)
    hit = Hit(where, (TIMEOUT,), fields, shown, numbers=numbers, edits=edits, advice=advice)
    yield Judgement("broken", hit, tuple(steps), bounds=f"one transaction of {told(takes)}")


def _work(look: Reader) -> tuple[int, str, tuple[tuple[str, Setting], ...]] | None:
    """How long a thread has a transaction open: as stated, else until the look after commit.interval.ms,
    which waits for the record that is being processed (StreamThread.runOnce)."""
    whole = look.workload("transaction_ms")
    if whole is not None:
        return int(whole), f"{told(int(whole))}, as stated", (("workload", stated("transaction_ms", whole)),)
    each = look.workload("processing_ms")
    commits = _commits_every(look)
    interval = _number(commits)
    if each is None or interval is None:
        return None
    words = f"{told(interval + int(each))}: {COMMIT}, and the record that is under way ({told(int(each))})"
    settings = (("workload", stated("processing_ms", each)), ("streams", commits))
    return interval + int(each), words, settings


def _place(found: Setting, document: Document) -> Location:
    return found.origin.at or Location(document.file, document.line)
