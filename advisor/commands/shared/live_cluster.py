"""`audit --bootstrap-server`: a running cluster is read into a snapshot, which is audited as a file."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...model import UsageError

if TYPE_CHECKING:
    from ...engine import Audit


class Live:
    """What was read of a cluster, for the audit and for what is told after it."""

    def __init__(self, snapshot: str, unknown: list[str]) -> None:
        self.snapshot, self.unknown = snapshot, unknown

    def drift(self, result: Audit) -> Iterator[str]:
        """Where the files of the audit and the cluster differ."""
        from ...catalog import resolve_version
        from ...live.drift import drift

        documents = [
            (root, one) for root in result.roots for record in root.files for one in record.documents
        ]
        cluster = [one for _, one in documents if one.format == "snapshot"]
        files = [one for _, one in documents if one.format != "snapshot"]
        versions = [fact.value for one in cluster for fact in one.facts if fact.name == "kafka.version"]
        version = resolve_version(versions[0] if versions else result.kafka_version)
        for one in drift(files, cluster, version):
            yield str(one)


@contextmanager
def live_cluster(args: argparse.Namespace, progress: Callable[[str], None]) -> Iterator[Live]:
    """The cluster, read; `args` name its snapshot among their paths for as long as this lasts."""
    import time

    from ...live.reading import client_settings, read_cluster
    from ...output.files import write_file

    settings = client_settings(args.bootstrap_server, args.command_config, _text(args.command_config))
    seconds = _seconds(args.traffic)
    taken = read_cluster(settings, progress)
    folder = tempfile.mkdtemp(prefix="kafka-advisor-live-")
    try:
        if seconds:
            from ...live.traffic import measured, workload_text

            topics = [(one["name"], one["partitions"]) for one in taken.topics]
            workload = measured(settings, topics, seconds, progress)
            taken = taken._replace(workload=workload)
            if workload["values"] and args.workload is None:
                args.workload = os.path.join(folder, "workload.toml")
                write_file(args.workload, workload_text(workload))
        path = args.save or os.path.join(
            folder, f"{args.bootstrap_server.split(',')[0].replace(':', '-')}.json"
        )
        write_file(path, taken.text(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())))
        args.paths = [*args.paths, path]
        yield Live(path, [f"{one['what']}: {one['reason']}" for one in taken.unknown])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _text(path: str | None) -> str | None:
    if path is None:
        return None
    from ...read.files import Unreadable, read_bytes

    try:
        return read_bytes(path).decode("utf-8", "replace")
    except Unreadable as error:
        raise UsageError(f"--command-config {path}: {error}") from None


def _seconds(text: str | None) -> float:
    """60s, 5m."""
    if text is None:
        return 0.0
    from ...syntax.units import spring_millis

    found = spring_millis(text, "s")
    if found is None or found < 1000:
        raise UsageError(f"--traffic {text}: a time such as 60s or 5m")
    return found / 1000
