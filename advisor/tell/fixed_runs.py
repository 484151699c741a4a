"""For a page: what the faults of each finding's run come to once its fix is made."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..ask.models import Models
from ..ask.verdicts import Verdicts
from ..context import Context, Question
from ..engine import Audit, Options, Root
from ..find.fingerprint import fingerprint
from ..fix.fixed_run import fixed_run
from ..memo.answers import Remembered
from ..memo.cache import Cache, open_cache
from ..model import Deployment, Document, members_of
from ..packs.pack import load_packs
from ..packs.questions import question_of
from ..registry import Registry, function
from .run.build import run_of

# Of so many findings, the gravest first: a page shows no more runs.
RUNS_MAX = 100
_RANK = {"error": 0, "warning": 1, "note": 2}


def fixed_runs(audit: Audit, options: Options) -> dict[str, dict[str, Any]]:
    """By fingerprint, `trace` and `ending`; a finding whose faults cannot be played again is left out."""
    cache = open_cache(options.cache)
    verdicts = Verdicts(cache)
    models = Models(audit.registry.models)
    found: dict[str, dict[str, Any]] = {}
    known: dict[str, Any] = {}
    asked = {root.prefix: _questions(root, audit.registry, options, cache) for root in audit.roots}
    contexts = {root.prefix: _context(root, audit.registry, cache) for root in audit.roots}
    wanted = [(root, one) for root, one in audit.findings if one.fixes and one.evidence.trace]
    for root, finding in sorted(wanted, key=lambda pair: _RANK[pair[1].severity])[:RUNS_MAX]:
        question = asked[root.prefix].get(finding.code)
        deployment = next((one for one in root.deployments if one.id == finding.deployment), None)
        if question is None or deployment is None:
            continue
        # Deployments alike have runs alike.
        mark = repr((finding.code, finding.fixes[0].changes, finding.settings, finding.evidence.trace))
        if mark not in known:
            context = contexts[root.prefix]
            known[mark] = fixed_run(finding, question, deployment, models, context, verdicts)
        if known[mark] is not None:
            ending = good_ending(question.guarantee, known[mark])
            found[fingerprint(finding)] = {"trace": list(known[mark]), "ending": ending}
    return found


def _questions(root: Root, registry: Registry, options: Options, cache: Cache) -> dict[str, Question]:
    """What each rule with a guarantee asked here."""
    files = [*options.rules, *(os.path.join(root.workspace.root, name) for name in root.project.rules)]
    rules = load_packs(registry.packs, files, cache)
    return {rule.code: question_of(rule, root.project.params) for rule in rules if rule.guarantee}


def _context(root: Root, registry: Registry, cache: Cache) -> Context:
    def homes(document: Document) -> tuple[Deployment, ...]:
        return tuple(one for one in root.deployments if any(part is document for part in members_of(one)))

    return Context(
        registry.clients,
        {spec.name: spec for spec in registry.formats},
        lambda document: root.versions[id(document)],
        homes,
        Remembered(cache, lambda: registry.digest),
        registry.assignors,
        registry.partitioners,
        function,
    )


# -- how it ends -------------------------------------------------------------------------------------------

_ENDINGS = {
    "writes-available": "writes continue",
    "group-available": "the group goes on",
    "send-order-kept": "the records are stored in the order of sending",
    "replicas-agree": "both brokers hold the same records",
    "only-committed-read": "the reader processes nothing that was aborted",
    "records-visible": "readers are shown what was committed",
    "every-record-processed": "every record is processed",
    "processed-once": "every record is processed once",
}


def good_ending(guarantee: str, trace: Sequence[Mapping[str, Any]]) -> str:
    """What a run comes to in which the guarantee is kept; empty where the steps must speak for themselves."""
    state = trace[-1]["state"]
    if guarantee == "acked-records-survive":
        return _kept(state, trace)
    if guarantee == "records-stored-once":
        logs = [one["log"] for one in state["replicas"] if one["id"] == state["leader"]]
        return f"{' and '.join(logs[0])} {'is' if len(logs[0]) == 1 else 'are'} stored once" if logs else ""
    if guarantee == "records-delivered":
        return "no record fails" if state.get("counts", {}).get("failed") == 0 else ""
    if guarantee == "group-stable":
        evicted = {"left-slow", "lost"} & {step["event"]["name"] for step in trace}
        return "" if evicted else "no member is evicted"
    if guarantee == "successor-left":
        elected = [
            effect.split()[1][1:] for step in trace for effect in step["effects"] if "elected" in effect
        ]
        return f"broker {elected[0]} takes over" if elected else ""
    return _ENDINGS.get(guarantee) or run_of(trace, guarantee).ending


def _kept(state: Mapping[str, Any], trace: Sequence[Mapping[str, Any]]) -> str:
    confirmed = state["clients"]["acked"]
    nothing = "no confirmed record is lost"
    if confirmed and state["leader"] is not None:
        return f"broker {state['leader']} leads and has {' and '.join(confirmed)}: {nothing}"
    if confirmed:
        return f"the copies of {' and '.join(confirmed)} are kept until a broker can lead again: {nothing}"
    refused = any(effect.startswith("rejected") for step in trace for effect in step["effects"])
    what = "the write is refused" if refused else "the write is never confirmed"
    return f"{what}, so the producer knows: {nothing}"
