"""Look for the run that breaks a guarantee: of settings given here, of configuration files, or of a scenario.
Or play a schedule of faults on a clock (--schedule) and see what comes of it.

The simulator plays one partition with its brokers, controller and producer, and tries every order of events
within stated bounds: writes, fetches, elections, and the faults that are allowed. A run that breaks the
guarantee is printed step by step. Where none is found, that is all it says: none within these bounds.
Settings that are neither set nor in sight are assumed: 3 brokers, 3 replicas, the defaults of the version."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model import Deployment, UsageError
from ..output.text import json_text, printable
from ..packs.vocabulary import BROKER_FAULTS, PRODUCER_FAULTS, STEPS, TRANSACTION_FAULTS
from ..simulate.guarantees import asked_by_hand, known_guarantee
from ..syntax.numbers import integer
from . import say

if TYPE_CHECKING:
    from ..catalog import Version
    from ..memo.cache import Cache
    from ..packs.pack import Rule
    from ..simulate.scenario_values import Scenario

_listed = "".join(f"  {name:<23}{spec.says}\n" for name, spec in asked_by_hand().items())
_faults = "".join(
    f"  {name:<23}{says}\n"
    for name, says in {**TRANSACTION_FAULTS, **PRODUCER_FAULTS, **BROKER_FAULTS}.items()
)
_steps = "".join(f"  {written:<46}{says}\n" for written, says in STEPS.values())
FORMATS = ("text", "json", "html")
EPILOG = f"""\
examples:
  kafka-advisor simulate --set producer.acks=1                          every guarantee, one line each
  kafka-advisor simulate --set producer.acks=1 --guarantee acked-records-survive
                                                                        and the run that loses a record
  kafka-advisor simulate --kafka-version 0.10 --guarantee acked-records-survive --set producer.acks=all
      --set topic.min.insync.replicas=1 --set topic.unclean.leader.election.enable=false
      --set fact.replication_factor=2 --set fact.brokers=2              why Kafka 0.11 was needed
  kafka-advisor simulate --set fact.replication_factor=3 --set topic.min.insync.replicas=3
      --guarantee writes-available --faults roll=1                      a rolling restart
  kafka-advisor simulate --set producer.transactional.id=etl-1 --guarantee only-committed-read
      --set consumer.isolation.level=read_uncommitted                   what a reader should not have seen
  kafka-advisor simulate samples/quickstart --guarantee acked-records-survive
  kafka-advisor simulate samples/scenarios/s2-loss-by-truncation.toml   a story, and its run
  kafka-advisor simulate samples/scenarios/s2-loss-by-truncation.toml --kafka-version 0.11
  kafka-advisor simulate --set producer.acks=1 --report html=acks.html
                                                                        as a page, with runs to play
  kafka-advisor simulate --schedule samples/schedules/leader-killed.toml
                                                                        a broker dies, second by second
  kafka-advisor simulate --schedule samples/schedules/leader-killed.toml
      --set producer.delivery.timeout.ms=3000 --set producer.request.timeout.ms=1000
                                                                        and the producer gives up too soon
  kafka-advisor simulate --schedule samples/schedules/rolling-restart.toml samples/quickstart
  kafka-advisor simulate --checkpoint leader-epoch-checkpoint           what the file of a broker says

guarantees:
{_listed}
faults, for --faults (counted) and --environment (free of charge): NAME=N, NAME=rf or NAME=rf-1
{_faults}
without --faults and --environment: acked-records-survive: broker_crash=2, slow_follower=rf-1 free of charge;
replicas-agree: power_loss=2; only-committed-read: producer_crash=1, producer_pause=1; records-visible:
late_request=1; records-stored-once, send-order-kept: as each rule that asks them; the others: as the first

steps of a --schedule, a TOML file with title, story, replicas, schedule, and settings by component:
{_steps}
exit codes:
  0  no run found within the bounds, not known, or a scenario or schedule that came out as it expects
  1  broken, or a scenario or schedule that did not come out as it expects
  2  a path cannot be read, several deployments to choose from, or the command is wrong
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="*", help="configuration files or folders, or scenarios (.toml)")
    add("--guarantee", metavar="NAME", help="what must hold (default: all that can be asked, a line each)")
    add(
        "--set",
        metavar="X=V",
        action="append",
        default=[],
        help="a setting or a fact: producer.acks=1, topic.min.insync.replicas=2, fact.brokers=5 (repeatable)",
    )
    add(
        "--kafka-version",
        metavar="V",
        help="the Kafka version, down to 0.8 (default: the files', else newest)",
    )
    add(
        "--faults",
        metavar="N=C",
        action="append",
        help="what may go wrong, and how often: broker_crash=2 (repeatable; default: see below)",
    )
    add(
        "--environment",
        metavar="N=C",
        action="append",
        help="what may happen besides, free of charge: slow_follower=rf-1 (repeatable)",
    )
    add("--deployment", metavar="ID", help="which deployment, where the files hold several")
    add("--schedule", metavar="FILE", help="play a schedule of faults on a clock instead of searching")
    add(
        "--phase",
        metavar="N",
        type=_whole,
        help="of a schedule: which phase to show (default: the commonest)",
    )
    add("--checkpoint", metavar="FILE", help="explain a leader-epoch-checkpoint instead")
    add("--log-end-offset", metavar="N", type=_whole, help="where the log of the checkpoint ends")
    add("--format", choices=FORMATS, default="text", help="what to print (default: text)")
    add(
        "--report",
        metavar="NAME=FILE",
        action="append",
        default=[],
        help="also write it to a file, as text, json or html (repeatable)",
    )
    add("--no-cache", action="store_true", help="neither read nor write the cache")


def _whole(text: str) -> int:
    found = integer(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number")
    return found


def run(args: argparse.Namespace) -> int:
    if args.checkpoint is not None:
        return _checkpoint(args)
    if args.log_end_offset is not None:
        raise UsageError("--log-end-offset belongs to --checkpoint")
    if args.schedule is not None:
        from .shared.simulate_schedule import play_schedule

        data, lines, code = play_schedule(args, _of_files, _opening)
        _tell(args, [(data, lines)])
        return code
    if args.phase is not None:
        raise UsageError("--phase belongs to --schedule")
    from ..memo.cache import open_cache

    cache = open_cache(not args.no_cache)
    if cache.note:
        say(cache.note)
    scenarios = [path for path in args.paths if _is_scenario(path)]
    if scenarios and len(scenarios) < len(args.paths):
        raise UsageError("scenarios (.toml) and configuration files cannot be mixed")
    if scenarios:
        return _scenarios(args, cache)
    if not args.paths and not args.set:
        raise UsageError("name a file, a scenario or --set; `kafka-advisor simulate --help` has examples")
    return _deployment(args, cache)


def _is_scenario(path: str) -> bool:
    from os.path import basename

    return path.endswith(".toml") and basename(path) != "kafka-advisor.toml"


Told = tuple[dict[str, Any], Iterator[str]]  # the data, and the same in lines


def _tell(args: argparse.Namespace, told: Sequence[Told]) -> None:
    from ..output.files import write_file

    outputs = [_output(item) for item in args.report]
    texts = ["".join(f"{printable(line)}\n" for line in lines) for _, lines in told]
    data = [one for one, _ in told]
    sys.stdout.write(_rendered(args.format, data, texts))
    for name, path in outputs:
        write_file(path, _rendered(name, data, texts))


def _output(item: str) -> tuple[str, str]:
    name, equals, path = item.partition("=")
    if not equals or not path or name not in FORMATS:
        raise UsageError(f"--report {item}: write NAME=FILE, with {', '.join(FORMATS)} for NAME")
    return name, path


def _rendered(name: str, data: Sequence[dict[str, Any]], texts: Sequence[str]) -> str:
    if name == "html":
        from ..simulate.page import simulate_page

        return simulate_page(data)
    if name == "json":
        plain = [_without_fixes(one) for one in data]
        return json_text(plain[0] if len(plain) == 1 else plain) + "\n"
    return f"\n{'-' * 100}\n\n".join(texts)


def _without_fixes(data: Mapping[str, Any]) -> dict[str, Any]:
    """What only a page shows is left out."""
    if "guarantees" not in data:
        return dict(data)
    brief = "headline" in data
    entries = []
    for entry in data["guarantees"]:
        kept = {name: value for name, value in entry.items() if name != "fixed"}
        entries.append(kept | {"trace": []} if brief else kept)
    return {**data, "guarantees": entries}


def _is_page(args: argparse.Namespace) -> bool:
    return args.format == "html" or any(item.startswith("html=") for item in args.report)


def _opening(version: Version) -> dict[str, Any]:
    from .. import __version__

    opening: dict[str, Any] = {
        "schema_version": 1,
        "tool": {"name": "kafka-advisor", "version": __version__},
        "kafka_version": version.asked,
    }
    return opening | ({"note": version.note} if version.note else {})


def _counts(words: Sequence[str] | None, option: str) -> dict[str, int | str] | None:
    """`broker_crash=2,roll=1` as a table; rf and rf-1 stay words until the replication factor is known."""
    if words is None:
        return None
    found: dict[str, int | str] = {}
    for text in (part.strip() for word in words for part in word.split(",") if part.strip()):
        name, _, count = text.partition("=")
        number = integer(count, (0, 100))
        if number is None and not re.fullmatch(r"rf(-[0-9]{1,2})?", count):
            raise UsageError(f"{option} {text}: write NAME=N with N up to 100, NAME=rf or NAME=rf-1")
        found[name.strip()] = count if number is None else number
    return found


# -- settings and files ------------------------------------------------------------------------------------


def _deployment(args: argparse.Namespace, cache: Cache) -> int:
    from ..ask.policies import decode
    from ..ask.verdicts import Verdicts
    from ..catalog import resolve_version
    from ..join.versions import choose_version
    from ..simulate import verdict_report as shown
    from ..simulate.by_hand import (
        check_overrides,
        completed,
        has_transactions,
        settings_of,
        simulate,
        written_by_groups,
    )

    if args.guarantee is not None:
        known_guarantee(args.guarantee)
    stated, _ = choose_version(args.kafka_version, ())
    found = _of_files(args) if args.paths else _of_settings(args, stated)
    version = resolve_version(found.version)
    if args.set:
        from ..join.overrides import parse_overrides

        check_overrides(parse_overrides(args.set, version), version)
    deployment = completed(found)
    asked = _asked(args, cache, has_transactions(deployment))
    verdicts = Verdicts(cache)
    if args.guarantee == "group-available":
        deployment = written_by_groups(deployment)
    decoded = decode(deployment)
    entries = []
    for one, outcome in simulate(deployment, asked, verdicts):
        entry = shown.guarantee_entry(
            one.guarantee,
            outcome.verdict,
            outcome.drawn,
            outcome.environment,
            outcome.faults,
            outcome.reason,
            outcome.depends_on,
        )
        if outcome.verdict == "broken" and _is_page(args):
            from ..fix.fixed_run import smallest_fix_played

            entry["fixed"] = smallest_fix_played(one, deployment, decoded, entry["trace"], verdicts)
        entries.append(entry)
    settings = [
        shown.setting_row(component, setting)
        for component, setting in settings_of(deployment, decoded, [one.guarantee for one in asked])
    ]
    data: dict[str, Any] = {
        **_opening(version),
        "deployment": found.id if args.paths else None,
        "settings": settings,
    }
    if args.guarantee is None:
        from ..ask.tolerance import headline

        data["headline"] = headline(decoded, verdicts)._asdict()
    data["guarantees"] = entries
    _tell(args, [(data, _deployment_lines(data, args))])
    return int(any(entry["verdict"] == "broken" for entry in entries))


def _deployment_lines(data: Mapping[str, Any], args: argparse.Namespace) -> Iterator[str]:
    from ..simulate import verdict_report as shown

    of = f"{data['deployment']}, " if data["deployment"] else ""
    yield f"{of}Kafka {data['kafka_version']}" + (f" ({data['note']})" if "note" in data else "")
    yield from shown.settings_lines(data["settings"])
    yield ""
    if args.guarantee is None:
        yield from shown.headline_lines(data["headline"])
        yield ""
        for entry in data["guarantees"]:
            yield shown.overview_line(entry)
        yield ""
        yield "`no run found` is within the bounds named. --guarantee NAME prints the run that breaks it."
        return
    (entry,) = data["guarantees"]
    yield f"may go wrong: {shown.counts_text(entry['environment'], entry['faults'])}"
    yield ""
    yield from shown.verdict_lines(entry, asked_by_hand()[entry["guarantee"]])


def _asked(args: argparse.Namespace, cache: Cache, transactions: bool) -> list[Any]:
    from ..packs.faults import known_faults
    from ..packs.vocabulary import TRANSACTION_GUARANTEES
    from ..simulate.by_hand import question

    environment = _counts(args.environment, "--environment")
    faults = _counts(args.faults, "--faults")
    rules = _rules(cache)
    if args.guarantee is not None:
        for counts in (environment or {}, faults or {}):
            known_faults(args.guarantee, counts)
            if "rack_lost" in counts:
                raise UsageError("rack_lost needs the racks of the replicas, which only a scenario can state")
        return [question(args.guarantee, environment, faults, rules)]
    if environment is not None or faults is not None:
        raise UsageError("--faults and --environment need --guarantee: each guarantee has faults of its own")
    asked = {rule.guarantee for rule in rules if rule.enabled} | {"acked-records-survive", "replicas-agree"}
    if not transactions:
        asked -= set(TRANSACTION_GUARANTEES)
    return [question(name, None, None, rules) for name in asked_by_hand() if name in asked]


def _rules(cache: Cache) -> tuple[Rule, ...]:
    from ..packs.pack import load_packs
    from ..registry import load_registry

    return load_packs(load_registry().packs, (), cache)


def _of_settings(args: argparse.Namespace, version: Version) -> Deployment:
    from ..join.overrides import parse_overrides
    from ..simulate.by_hand import of_settings

    if args.deployment is not None:
        raise UsageError("--deployment chooses among those that files hold: name a PATH")
    return of_settings(parse_overrides(args.set, version), version)


def _of_files(args: argparse.Namespace) -> Deployment:
    """The deployment that the paths hold: loaded and linked as `audit` does."""
    from ..engine import Options, load_deployments
    from ..find.asker import deployments_of
    from ..schemas.explain import did_you_mean

    options = Options(
        paths=tuple(args.paths),
        kafka_version=args.kafka_version,
        sets=tuple(args.set),
        cache=not args.no_cache,
    )
    scope, roots = load_deployments(options)
    if scope.missing:
        raise UsageError("\n".join(scope.missing))
    for line in scope.locked:
        say(line)
    found: list[Deployment] = []
    for root in roots:
        targets = {record.file for record in root.records if record.target}
        for record in root.records:
            if record.target and record.named and record.error is not None:
                line = f":{record.error.line}" if record.error.line else ""
                raise UsageError(f"{record.file}{line}: {record.reason}")
        found += deployments_of(root.deployments, targets)
    written = [one for one in found if one.producer is not None or one.topic is not None]
    # A cluster or a group alone is asked about only where nothing is written to.
    found = written or [one for one in found if one.cluster]
    if args.deployment is not None:
        chosen = [one for one in found if one.id == args.deployment]
        if not chosen:
            ids = [one.id for one in found]
            raise UsageError(
                f"no deployment is called {args.deployment!r}{did_you_mean(args.deployment, ids)}"
            )
        if len(chosen) > 1:
            raise UsageError(f"{args.deployment!r} is in several roots: name a narrower PATH")
        return chosen[0]
    if not found:
        raise UsageError("nothing to simulate: no producer, topic or broker among these files")
    if len(found) > 1:
        listed = "\n".join(f"  --deployment '{one.id}'" for one in found)
        raise UsageError(f"{len(found)} deployments: choose one with\n{listed}")
    return found[0]


# -- scenarios ---------------------------------------------------------------------------------------------


def _scenarios(args: argparse.Namespace, cache: Cache) -> int:
    if args.deployment is not None:
        raise UsageError("--deployment chooses among those that files hold; a scenario is one")
    played = [_play(path, args, cache) for path in args.paths]
    _tell(args, [(data, lines) for data, lines, _ in played])
    return max(code for _, _, code in played)


def _play(path: str, args: argparse.Namespace, cache: Cache) -> tuple[dict[str, Any], Iterator[str], int]:
    from ..ask.verdicts import Verdicts
    from ..join.versions import choose_version
    from ..read.files import Unreadable, read_bytes
    from ..simulate.log_scenario import is_log_scenario
    from ..simulate.scenario import play, read_scenario
    from ..simulate.scenario_report import exit_code, scenario_data, scenario_lines

    try:
        text = read_bytes(path)
    except Unreadable as error:
        raise UsageError(f"{path}: {error}") from None
    if is_log_scenario(text):
        return _play_log(path.replace("\\", "/"), text, args, cache)
    scenario = read_scenario(path.replace("\\", "/"), text)
    scenario, changed = _changed(scenario, args)
    try:
        version, _ = choose_version(scenario.kafka_version, ())
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    played = play(scenario, version, args.set, Verdicts(cache))
    data = _opening(version) | scenario_data(played, bool(changed))
    return data, scenario_lines(data, changed), exit_code(data)


def _play_log(
    path: str, text: bytes, args: argparse.Namespace, cache: Cache
) -> tuple[dict[str, Any], Iterator[str], int]:
    from ..join.versions import choose_version
    from ..simulate.log_scenario import play_log, read_log_scenario
    from ..simulate.log_scenario_report import log_data, log_lines
    from ..simulate.scenario_report import exit_code

    if args.guarantee or args.faults or args.environment:
        raise UsageError(f"{path} asks a rule about a log: --guarantee, --faults, --environment do not fit")
    scenario = read_log_scenario(path, text)
    changed = [*args.set, *([f"Kafka {args.kafka_version}"] if args.kafka_version else [])]
    version, _ = choose_version(args.kafka_version or scenario.kafka_version, ())
    played = play_log(scenario, version, args.set, cache)
    data = _opening(version) | log_data(played, bool(changed))
    return data, log_lines(data, changed), exit_code(data)


def _changed(scenario: Scenario, args: argparse.Namespace) -> tuple[Scenario, list[str]]:
    """The scenario as the command line has it, and what was changed: then its expectation says nothing."""
    from ..packs.faults import known_faults

    changed: list[str] = list(args.set)
    if args.set and scenario.policy:
        raise UsageError(f"{scenario.file} states fields of the simulator, which --set might not change")
    if args.kafka_version is not None:
        scenario = scenario._replace(kafka_version=args.kafka_version)
        changed.append(f"Kafka {args.kafka_version}")
    if args.guarantee is not None:
        scenario = scenario._replace(guarantee=known_guarantee(args.guarantee))
        changed.append(args.guarantee)
    for option, field in (("--faults", "faults"), ("--environment", "environment")):
        counts = _counts(getattr(args, field), option)
        if counts is not None:
            if scenario.guarantee is None:
                raise UsageError(f"{option} needs --guarantee: {scenario.file} names none")
            if field == "faults":
                scenario = scenario._replace(faults=counts)
            else:
                scenario = scenario._replace(environment=counts)
            changed += [f"{name}={count}" for name, count in counts.items()]
    known_faults(scenario.guarantee or "", scenario.faults)
    known_faults(scenario.guarantee or "", scenario.environment)
    return scenario, changed


# -- a leader-epoch-checkpoint -----------------------------------------------------------------------------


def _checkpoint(args: argparse.Namespace) -> int:
    from ..read.files import Unreadable, read_bytes
    from ..sim.partition.leader_epochs import (
        CheckpointError,
        cache_of,
        explain_checkpoint,
        parse_checkpoint,
    )
    from ..simulate.verdict_report import checkpoint_answers, checkpoint_lines

    file = args.checkpoint
    given = (args.paths, args.guarantee, args.set, args.kafka_version, args.faults, args.environment)
    if any(given) or args.deployment or args.schedule:
        raise UsageError("--checkpoint explains a file; of the other options only --log-end-offset fits")
    try:
        text = read_bytes(file).decode("utf-8")
        entries = parse_checkpoint(text)
    except Unreadable as error:
        raise UsageError(f"{file}: {error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file}: is not a leader-epoch-checkpoint: not text") from None
    except CheckpointError as error:
        raise UsageError(f"{file}:{error.line}: {error.message}") from None
    except ValueError:
        raise UsageError(f"{file}: is not a leader-epoch-checkpoint: a number is too long") from None
    end = args.log_end_offset
    epochs = cache_of(entries)
    if end is not None and (end < 0 or (epochs.latest is not None and end < epochs.latest.start_offset)):
        least = epochs.latest.start_offset if epochs.latest is not None else 0
        raise UsageError(
            f"--log-end-offset {end}: the last epoch begins at {least}, the log cannot end before"
        )
    answers = checkpoint_answers(epochs, end)
    said = explain_checkpoint(entries, end)
    data = {
        "schema_version": 1,
        "file": file,
        "entries": [entry._asdict() for entry in entries],
        "answers": answers,
        "explanation": list(said),
    }
    if _is_page(args):
        raise UsageError("--checkpoint has no run to show: --format text or json")
    _tell(args, [(data, checkpoint_lines(file, answers, said))])
    return 0
