"""The two numbers that a deployment is introduced by: how many brokers may be lost, how many may be down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .markup import Markup, tag

Headline = Mapping[str, int | None]


def two_numbers(headlines: Sequence[Headline]) -> Markup | None:
    """Those of the deployment that does worst, with how many do as badly."""
    survives, away = (
        [value for one in headlines if (value := one[name]) is not None]
        for name in ("survives_lost", "writes_with_away")
    )
    if not survives and not away:
        return None
    count = len(headlines)
    return tag(
        "div",
        _number(survives, count, "lost brokers are survived", _survival),
        _number(away, count, "brokers may be down", _availability),
        class_="answer",
    )


def _number(values: Sequence[int], count: int, what: str, so: Callable[[int], str]) -> Markup:
    value = min(values) if values else None
    told = "it depends on what is not in these files" if value is None else so(value)
    tone = "unknown" if value is None else "error" if value == 0 else "good"
    if count > 1 and value is not None:
        told += f", in {values.count(value)} of {count:,} deployments"
    if value == 1:
        what = what.replace("brokers are", "broker is").replace("brokers", "broker")
    return tag(
        "div",
        tag("span", "?" if value is None else value, class_=f"figure {tone}"),
        tag("span", what, class_="what"),
        tag("span", told, class_="so"),
    )


def _survival(count: int) -> str:
    if count == 0:
        return "losing any one broker can lose confirmed records"
    return f"confirmed records survive the loss of {brokers(count)}"


def _availability(count: int) -> str:
    if count == 0:
        return "writes stop as soon as one broker is down"
    return f"writes continue with {brokers(count)} down"


def brokers(number: int) -> str:
    return f"{number} broker" + ("" if number == 1 else "s")
