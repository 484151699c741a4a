"""Rules whose guarantee a model answers (timeline, log, groups, arithmetic), asked of deployments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..context import Context, Judgement
from ..hookspecs import NUMBER, ModelSpec
from ..model import Deployment, Finding, UsageError
from ..packs.pack import Rule
from ..registry import function
from ..syntax.numbers import LONG

# A param whose name ends in a unit or a bound is a number.
NUMBERS = ("_ms", "_bytes", "_per_second", "_min", "_max")


class Judged(NamedTuple):
    """One rule's answers on one deployment."""

    rule: Rule
    severity: str
    judgements: tuple[Judgement, ...]


class Computed:
    """The models by the guarantee they answer; each is imported when a rule asks it."""

    def __init__(self, models: Iterable[ModelSpec], params: Mapping[str, Mapping[str, Any]]) -> None:
        answering = [spec for spec in models if spec.kind == "guarantee"]
        self._functions = {spec.name: spec.function for spec in answering}
        self._allowed = {spec.name: spec.params for spec in answering}
        self._params = params

    def answers(self, guarantee: str | None) -> bool:
        return guarantee in self._functions

    @property
    def names(self) -> list[str]:
        return sorted(self._functions)

    @property
    def functions(self) -> list[str]:
        return sorted(self._functions.values())

    def check(self, rule: Rule) -> None:
        """A param that its guarantee does not know, or a word that it does not take, is told before anything
        is asked."""
        allowed = self._allowed.get(rule.guarantee or "")
        if allowed is None:
            return
        params = self._params_of(rule)
        for name in params:
            if name not in allowed:
                known = ", ".join(sorted(allowed)) or "none"
                raise UsageError(
                    f"{rule.at}: rule {rule.code}: {rule.guarantee} has no param {name!r}; there is {known}"
                )
        for name, words in allowed.items():
            if words == NUMBER:
                self._check_number(rule, name, params.get(name, 0))
                continue
            # The empty word says that the param may be left out; written down, it is no word.
            given = params.get(name, "")
            if name in params and not words and name.endswith(NUMBERS) and not _is_count(given):
                raise UsageError(
                    f"{rule.at}: rule {rule.code}: params.{name} is {given!r}, must be a number, 0 or more"
                )
            if words and (given not in words or (name in params and given == "")):
                told = f"is {given!r}" if name in params else "is missing"
                known = ", ".join(word for word in words if word)
                raise UsageError(
                    f"{rule.at}: rule {rule.code}: params.{name} {told}; {rule.guarantee} takes {known}"
                )

    def _check_number(self, rule: Rule, name: str, given: object) -> None:
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if is_number and 0 <= given <= LONG[1]:  # type: ignore[operator]
            return
        stated = [one for one in (rule.code, rule.name) if name in self._params.get(one, {})]
        place = (
            f"kafka-advisor.toml: params.{stated[0]}" if stated else f"{rule.at}: rule {rule.code}: params"
        )
        raise UsageError(f"{place}.{name} is {given!r}, must be a number from 0 to {LONG[1]}")

    def _params_of(self, rule: Rule) -> dict[str, Any]:
        return {**rule.params, **self._params.get(rule.name, {}), **self._params.get(rule.code, {})}

    def judge(self, rule: Rule, deployment: Deployment, context: Context) -> tuple[Judgement, ...]:
        context.rule, context.environment, context.faults = rule.code, rule.environment, rule.faults
        context.params = self._params_of(rule)
        return tuple(function(self._functions[rule.guarantee or ""], "judgements")(deployment, context))


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 2**63


def summaries(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """For the report's list of guarantees; what only a note asks does not decide whether one holds."""
    return [
        {
            "name": rule.guarantee,
            "verdict": judgement.verdict,
            "tolerance": [],
            "bounds": judgement.bounds,
            "states": judgement.states,
            "depends_on": list(judgement.depends_on),
            "reason": judgement.reason,
        }
        for rule, severity, judgements in judged
        for judgement in judgements
        if severity != "note"
    ]


_WORSE = ("holds", "unknown", "broken")


def merged(
    guarantees: Sequence[Mapping[str, Any]], more: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], ...]:
    """One entry a guarantee, the worst; reasons of several unknowns are told together."""
    found: dict[str, Mapping[str, Any]] = {entry["name"]: entry for entry in guarantees}
    for entry in more:
        kept = found.get(entry["name"])
        if kept is None or _WORSE.index(entry["verdict"]) > _WORSE.index(kept["verdict"]):
            found[entry["name"]] = {**entry, "tolerance": kept["tolerance"] if kept else []}
        elif kept["verdict"] == entry["verdict"] == "unknown" and entry["reason"] not in (
            kept["reason"] or ""
        ):
            found[entry["name"]] = {
                **kept,
                "reason": f"{kept['reason']}; {entry['reason']}",
                "depends_on": sorted({*kept["depends_on"], *entry["depends_on"]}),
            }
    return tuple(found[name] for name in sorted(found))


def folded_together(findings: Sequence[Finding]) -> list[Finding]:
    """One root cause, one finding: what another covers, and the same change mends, is told under it."""
    hidden: set[int] = set()
    under: dict[int, list[str]] = {}
    for finding in findings:
        for other in findings:
            alike = finding.fixes and other.fixes and finding.fixes[0].changes == other.fixes[0].changes
            if other is not finding and alike and {other.code, other.name} & set(finding.covers):
                hidden.add(id(other))
                under.setdefault(id(finding), []).append(other.code)
    return [
        finding._replace(covers=tuple(sorted(set(under.get(id(finding), ())))))
        for finding in findings
        if id(finding) not in hidden
    ]


def folded_under(
    searched: Sequence[Finding], computed: Sequence[Finding], rules: Sequence[tuple[Rule, str]]
) -> list[Finding]:
    """The same, where the search found the one and a model the other."""
    covers = {rule.code: {*rule.covers} for rule, _ in rules}
    hidden: set[int] = set()
    shown = []
    for finding in searched:
        under = [
            other
            for other in computed
            if {other.code, other.name} & covers.get(finding.code, set())
            and finding.fixes
            and other.fixes
            and finding.fixes[0].changes == other.fixes[0].changes
        ]
        hidden |= {id(other) for other in under}
        inside = {*finding.covers, *(other.code for other in under)}
        shown.append(finding._replace(covers=tuple(sorted(inside))))
    return [*shown, *(other for other in computed if id(other) not in hidden)]
