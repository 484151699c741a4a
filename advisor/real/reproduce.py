"""A finding's run played on a real cluster, as it is and with its fix made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from ..engine import Audit, Options, Root
from ..find.fingerprint import fingerprint
from ..fix.edits import edits_of, with_edits
from ..model import Deployment, Finding, UsageError
from ..tell.fixed_runs import fixed_runs
from ..tell.run.build import kind_of
from ..tuples import NamedTuple
from .audited import Audited, audited
from .cluster.cluster import ClusterError
from .cluster.driver import DriverError
from .cluster.jars import classpath, find_jars, release_of
from .stage import Outcome, Plan, Progress, Step, stage

# The kinds of runs, and who plays them.
PLAYS = {
    "partition": "partition",
    "producer": "producer",
    "timeline": "timeline",
    "transaction": "transaction",
    "size-chain": "sizes",
    "group": "group",
    "searched group": "searched_group",
    "grown topic": "grown_topic",
}
TRIES_MAX = 20
# A cluster is up in some 10 s; it starts anew for every run.
START_SECONDS = 12


class Run(NamedTuple):
    """One configuration on both sides. `outcomes` has one for each try; `failure`: why there is none."""

    model: tuple[Step, ...]
    outcomes: tuple[Outcome, ...]
    wanted: bool
    failure: str = ""

    @property
    def hits(self) -> int:
        return sum(one.seen for one in self.outcomes)

    @property
    def agrees(self) -> bool:
        """The harm is done where the model says so, and never where it says that it cannot be."""
        return bool(self.outcomes) and (self.hits > 0) == self.wanted

    @property
    def shown(self) -> Outcome | None:
        """The run to show: one that tells what was wanted, if there is one."""
        chosen = [one for one in self.outcomes if one.seen == self.wanted] or list(self.outcomes)
        return chosen[0] if chosen else None


class Reproduction(NamedTuple):
    root: Root
    finding: Finding
    release: str
    changed: tuple[str, ...]
    broken: Run
    fixed: Run | None


class Wishes(NamedTuple):
    """What the command line asks for besides the paths. `seconds_max`: no run longer than that is begun."""

    finding: str
    at: str = ""
    release: str | None = None
    fetch: bool = False
    tries: int = 1
    seconds_max: float = 600


def choose(result: Audit, wishes: Wishes) -> tuple[Root, Finding]:
    """The finding that is meant; the first in the order of the report of several."""
    named = [
        (root, one)
        for root, one in result.findings
        if wishes.finding in (one.code, one.name, fingerprint(one)) and _is_at(root, one, wishes.at)
    ]
    if not named:
        found = ", ".join(dict.fromkeys(one.code for _, one in result.findings)) or "nothing"
        raise UsageError(f"{wishes.finding} is not found in these files (found: {found})")
    playable = [pair for pair in named if can_play(pair[1])]
    if not playable:
        raise UsageError(f"{wishes.finding}: {_why_not(named[0][1])}")
    return playable[0]


def _is_at(root: Root, finding: Finding, at: str) -> bool:
    return not at or at in (
        str(finding.at),
        root.prefix + str(finding.at),
        finding.deployment,
        finding.at.file,
    )


def can_play(finding: Finding) -> bool:
    return finding.deployment is not None and play_kind(finding.evidence.trace) in PLAYS


def _why_not(finding: Finding) -> str:
    if not finding.evidence.trace:
        return "it is no run but a fact that can be read in the files; there is nothing to play"
    return f"runs of the kind {play_kind(finding.evidence.trace)!r} cannot be played on a real cluster yet"


def reproduce(result: Audit, options: Options, wishes: Wishes, progress: Progress) -> Reproduction:
    root, finding = choose(result, wishes)
    deployment = next(one for one in root.deployments if one.id == finding.deployment)
    release = wishes.release or release_of(deployment.version)
    before = audited(deployment, finding.assuming)
    module = _module(finding.evidence.trace)
    plan: Plan = module.plan(before, finding.evidence.trace)
    seconds = (START_SECONDS + plan.seconds) * (wishes.tries + bool(finding.fixes))
    if seconds > wishes.seconds_max:
        raise UsageError(
            f"{finding.code}: the run takes some {seconds / 60:.0f} min of real time; --limit allows "
            f"{wishes.seconds_max / 60:.0f} min"
        )
    path = classpath(find_jars(release, wishes.fetch, progress))
    progress(f"some {seconds:.0f} s on Kafka {release}")
    broken = play_all(before, finding, finding.evidence.trace, path, wishes.tries, True, progress)
    fixed = None
    if finding.fixes:
        after = with_edits(deployment, edits_of(finding.fixes[0].changes, deployment))
        assert isinstance(after, Deployment)
        models = fixed_runs(_only(result, root, finding), options)
        model = models.get(fingerprint(finding), {}).get("trace", ())
        fixed = play_all(
            audited(after, finding.assuming),
            finding,
            model or finding.evidence.trace,
            path,
            wishes.tries,
            False,
            progress,
        )._replace(model=tuple(model))
    return Reproduction(root, finding, release, (*before.changed, *plan.changed), broken, fixed)


def play_all(
    settings: Audited,
    finding: Finding,
    trace: Sequence[Step],
    path: str,
    tries: int,
    wanted: bool,
    progress: Progress,
) -> Run:
    """So many times, each on a cluster of its own."""
    module = _module(trace)
    plan = module.plan(settings, trace)
    outcomes: list[Outcome] = []
    failure = ""
    for number in range(tries):
        said = "as audited" if wanted else "with the fix"
        which = f"{said}, try {number + 1} of {tries}" if tries > 1 else said
        try:
            with stage(settings, plan, path, _about(progress, which)) as made:
                outcomes.append(module.play(made, trace, finding))
        except (ClusterError, DriverError) as error:
            failure = str(error)
    return Run(tuple(trace), tuple(outcomes), wanted, failure)


def _about(progress: Progress, which: str) -> Callable[[str], None]:
    return lambda text: progress(f"{which}: {text}")


def _module(trace: Sequence[Step]) -> Any:
    module: ModuleType = import_module(f"{__package__}.plays.{PLAYS[play_kind(trace)]}")
    return module


def play_kind(trace: Sequence[Step]) -> str:
    """Finer than a report's kinds: what must be done to play it."""
    kind = kind_of(trace)
    if kind in ("group", "told group") and trace[0]["event"]["name"] == "partition_growth":
        return "grown topic"
    return "searched group" if kind == "group" and "members" in trace[0]["state"] else kind


def _only(result: Audit, root: Root, finding: Finding) -> Audit:
    """The audit with this finding alone, for what is worked out for every finding."""
    return result._replace(roots=(root._replace(findings=(finding,)),))
