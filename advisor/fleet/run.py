"""One run over a fleet: sources -> documents -> deployments -> behaviours -> verdicts -> tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..find.rules.choice import Choice
from ..join.versions import choose_version
from ..memo.cache import Cache
from ..memo.digests import digest
from ..model import UsageError
from ..packs.narrowing import with_their_bases
from ..packs.pack import load_packs
from ..packs.questions import check_rules
from ..registry import load_registry
from ..spark.session import NEEDED, is_local, settings
from ..spark.shipping import bundle
from ..spark.snapshot import of_frame, of_table
from ..spark.store import RUNS
from ..tell.owners import owners_given
from .keys import names_kept_apart, read_keys, with_other_names
from .options import FleetOptions
from .result import FleetResult
from .rows.sources import FORMATS, guess_format
from .store.fleet_store import FleetStore
from .store.verdict_table import SIMULATOR
from .tell.results import write_results
from .worker import READ, Job, job_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .tell.gathered import Gathered

Progress = Callable[[str], None]


def audit_fleet(
    spark: SparkSession,
    sources: Sequence[str] | str | DataFrame,
    out: str,
    options: FleetOptions,
    progress: Progress = lambda text: None,
) -> FleetResult:
    run = Run(spark, sources, out, options, progress)
    with run.store.place.alone(options.resume), settings(spark, NEEDED):
        return run.run()


class Run:
    def __init__(
        self, spark: SparkSession, sources: Any, out: str, options: FleetOptions, progress: Progress
    ) -> None:
        self.spark, self.options, self.progress = spark, options, progress
        self.sources = (
            [sources] if isinstance(sources, str) or not isinstance(sources, (list, tuple)) else sources
        )
        if options.kafka_version is not None:
            choose_version(options.kafka_version, ())
        self.registry = load_registry(options.plugins)
        self.rules = load_packs(self.registry.packs, options.rules, Cache(None))
        check_rules(self.rules, self.registry.guarantees, {})
        Choice(options.select, options.ignore).check(self.rules)
        self.read = read_keys(self.registry, self.rules)
        self.kept_apart = names_kept_apart(self.rules)
        self.store = FleetStore(spark, out, progress)
        self.packed = (
            None if is_local(spark) else bundle((*options.plugins, *with_their_bases(options.rules)))
        )

    def run(self) -> FleetResult:
        kinds = [self._kind(source) for source in self.sources]
        if "files" in kinds and set(kinds) != {"files"}:
            raise UsageError("folders of files and tables are audited in runs of their own")
        self.store.begin(self._asked(kinds), self.options.resume)
        known = self.store.verdicts() if self.options.cache else {}
        met = {mark.partition("/")[2] for mark in known if mark.startswith(f"{READ}/")}
        self.read |= with_other_names(met, self.registry)
        job = job_text(self._job(known))
        if "files" in kinds:
            from .trees.plan import audit_trees

            return self._written(audit_trees(self, job))
        from .rows.plan import audit_rows

        return self._written(audit_rows(self, kinds, job))

    def _written(self, gathered: Gathered) -> FleetResult:
        name, summary = write_results(self, gathered)
        place, folder = self.store.place, f"{RUNS}/{name}"
        return FleetResult(place.of(folder), summary, self.spark, place.url(folder))

    def _asked(self, kinds: Sequence[str]) -> dict[str, Any]:
        """What makes a run the same run: with another of these no finished step is taken up."""
        options = self.options._replace(resume=False, now="", catalog=None, rules=(), plugins=(), owners=None)
        given = [_bytes(path) for path in (*self.options.rules, *self.options.plugins)]
        return {
            "source": self._snapshot(kinds),
            "options": {**options._asdict(), "owners": _owners(self.options.owners)},
            "rules": digest(repr((self.rules, given)).encode("utf-8", "surrogatepass")),
            "version of kafka-advisor": SIMULATOR,
        }

    def _snapshot(self, kinds: Sequence[str]) -> list[str] | None:
        if "files" in kinds:
            from .trees.plan import snapshot_of_trees

            return snapshot_of_trees(self)
        found = []
        for source, kind in zip(self.sources, kinds, strict=True):
            one = of_frame(source) if kind == "frame" else of_table(self.spark, source, kind)
            if one is None:
                return None
            found.append(f"{source if kind != 'frame' else 'a DataFrame'} {one}")
        return found

    def _kind(self, source: Any) -> str:
        if not isinstance(source, str):
            return "frame"
        kind = self.options.source_format or guess_format(source)
        if kind not in FORMATS:
            raise UsageError(f"--source-format {kind}: there is {', '.join(FORMATS)}")
        return kind

    def _job(self, known: dict[str, str]) -> Job:
        options = self.options
        return Job(
            options.kafka_version,
            options.profile,
            options.select,
            options.ignore,
            tuple(os.path.abspath(path) for path in options.rules),
            tuple(os.path.abspath(path) for path in options.plugins),
            options.today,
            options.link,
            known,
            _owners(options.owners),
            tuple(sorted(self.read)),
            tuple(self.kept_apart),
        )


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _owners(given: str | None) -> str | None:
    """A path pattern, or the text of the CODEOWNERS file that is named, after an empty line."""
    if given is None:
        return None
    text = given
    if "{" not in given:
        try:
            with open(given, encoding="utf-8") as file:
                text = "\n" + file.read()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise UsageError(f"--owners {given}: {(reason or str(error)).lower()}") from None
    owners_given(text)
    return text
