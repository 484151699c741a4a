"""`simulate --schedule`: a schedule played on settings, on files, or on what the schedule itself states."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ...model import Deployment, UsageError

if TYPE_CHECKING:
    from ...catalog import Version
    from ...simulate.schedule import Schedule

Load = Callable[[argparse.Namespace], Deployment]


def play_schedule(
    args: argparse.Namespace, of_files: Load, opening: Callable[[Version], dict[str, Any]]
) -> tuple[dict[str, Any], Iterator[str], int]:
    from ...catalog import resolve_version
    from ...read.files import Unreadable, read_bytes
    from ...simulate.by_hand import completed
    from ...simulate.schedule import play, read_schedule, with_replicas
    from ...simulate.schedule_report import exit_code, schedule_data, schedule_lines

    for option in ("guarantee", "faults", "environment"):
        if getattr(args, option) is not None:
            raise UsageError(f"--{option} is of the search; a schedule says itself what goes wrong")
    file = args.schedule
    try:
        schedule = read_schedule(file.replace("\\", "/"), read_bytes(file))
    except Unreadable as error:
        raise UsageError(f"{file}: {error}") from None
    changed = list(args.set)
    if args.kafka_version is not None:
        changed.append(f"Kafka {args.kafka_version}")
    if args.paths:
        found = of_files(args)
        changed.append(f"the settings of {found.id} instead of the schedule's")
    else:
        found = _of_schedule(schedule, args)
    deployment = completed(with_replicas(schedule, found))
    played = play(schedule, deployment, args.phase)
    version = resolve_version(deployment.version)
    data = opening(version) | schedule_data(schedule, played, bool(changed))
    return data, schedule_lines(data, changed), exit_code(data)


def _of_schedule(schedule: Schedule, args: argparse.Namespace) -> Deployment:
    from ...join.versions import choose_version
    from ...simulate.by_hand import of_settings
    from ...simulate.scenario import check_stated, stated

    if args.deployment is not None:
        raise UsageError("--deployment chooses among those that files hold: name a PATH")
    try:
        version, _ = choose_version(args.kafka_version or schedule.kafka_version, ())
    except UsageError as error:
        raise UsageError(f"{schedule.file}: {error}") from None
    overrides = stated(schedule.file, schedule.sets, version, args.set)
    check_stated(schedule.file, overrides, version)
    return of_settings(overrides, version, schedule.client)
