"""Run mutants of every sample and golden input through audit, fix, compare, simulate and rule packs.

Each one has limits of CPU time and memory. What fails is run again by itself, and the smallest input that
still fails is printed. A seed gives the same mutants on every machine, whatever the time allows of them."""

from __future__ import annotations

import argparse
import os
import re
import resource
import sys
import time
from collections import deque
from importlib import import_module
from pkgutil import walk_packages

from .corpus import corpus
from .judge import Failure
from .mutants import Mutant, mutant
from .pool import BATCH, Pool
from .smallest import smallest
from .trial import CPU_SECONDS, Main

# Of one kind of failure so many are run again by themselves: the smallest first.
CANDIDATES = 4
REPEATED = re.compile(r"(.{1,8}?)\1{60,}")


def main(words: list[str]) -> int:
    args = _parser().parse_args(words)
    under_test = _function(args.main)
    _import_everything()
    pool = Pool(under_test, lambda index: mutant(args.seed, index), args.cpu_seconds)
    try:
        if args.only is not None:
            return _only(pool, args.seed, args.only)
        count, failures = _search(pool, args)
        confirmed = _confirm(pool, args.seed, failures)
    finally:
        pool.close()
    print(f"{count} mutants, {confirmed} failed")
    return 1 if confirmed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    add = parser.add_argument
    add(
        "seconds",
        metavar="SECONDS",
        nargs="?",
        type=float,
        default=60,
        help="how long to search (default: 60)",
    )
    add("seed", metavar="SEED", nargs="?", type=int, default=0, help="which mutants (default: 0)")
    add("--mutants", metavar="N", type=int, help="so many mutants, however long that takes")
    add("--first", metavar="INDEX", type=int, default=0, help="begin with this mutant of the seed")
    add(
        "--workers", metavar="N", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)"
    )
    add(
        "--cpu-seconds",
        metavar="N",
        type=float,
        default=CPU_SECONDS,
        help=f"of one mutant (default: {CPU_SECONDS})",
    )
    add("--only", metavar="INDEX", type=int, help="show one mutant of the seed, and what comes of it")
    add("--main", metavar="MODULE:NAME", default="advisor.cli:main", help="the command line under test")
    return parser


def _function(name: str) -> Main:
    module, _, attribute = name.partition(":")
    found: Main = getattr(import_module(module), attribute)
    return found


def _import_everything() -> None:
    """Once, here: a child is forked with all of it. `fleet` needs Spark and is tested by itself."""
    for package in ("advisor", "kafka_advisor_plugins"):
        path = import_module(package).__path__
        for module in walk_packages(path, f"{package}."):
            if not module.name.startswith("advisor.fleet") and not module.name.endswith(
                ("__main__", "submit")
            ):
                import_module(module.name)


def _search(pool: Pool, args: argparse.Namespace) -> tuple[int, dict[str, list[tuple[int, Failure]]]]:
    begun = time.monotonic()
    given = args.first

    def more() -> deque[int]:
        nonlocal given
        size = BATCH
        if args.mutants is not None:
            size = min(BATCH, args.first + args.mutants - given)
        elif time.monotonic() - begun > args.seconds:
            size = 0
        given += size
        return deque(range(given - size, given))

    count = 0
    failures: dict[str, list[tuple[int, Failure]]] = {}
    say(f"{len(corpus())} seeds, seed {args.seed}, {args.workers} workers")
    for index, failure in pool.run(args.workers, more):
        count += 1
        if failure is not None:
            seen = failures.setdefault(failure.signature, [])
            seen.append((index, failure))
            if len(seen) == 1:
                say(f"mutant {index}: {failure.signature}")
        if count % 1000 == 0:
            rate = count / (time.monotonic() - begun)
            say(f"{count} mutants, {rate:.0f} per second, {sum(map(len, failures.values()))} to look at")
    # On a busy machine only CPU time says how fast it is.
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    say(f"{count} mutants in {time.monotonic() - begun:.0f} s, {count / cpu:.0f} per second of CPU time")
    return count, failures


def _confirm(pool: Pool, seed: int, failures: dict[str, list[tuple[int, Failure]]]) -> int:
    """How many failed, of those that fail by themselves; each such failure is printed once."""
    confirmed = 0
    for signature, seen in sorted(failures.items(), key=lambda item: -len(item[1])):
        candidates = sorted(seen, key=lambda one: pool.made(one[0]).size)[:CANDIDATES]
        for index, _ in candidates:
            found = pool.made(index)
            again = pool.alone(found)
            if again is not None:
                confirmed += len(seen)
                say(f"{signature}: {len(seen)} mutants; looking for the smallest input")
                least = smallest(found, again, pool.alone)
                _show(seed, index, least, again, len(seen))
                break
        else:
            say(f"{signature}: {len(seen)} mutants, not when run by themselves (mutant {candidates[0][0]})")
    return confirmed


def _only(pool: Pool, seed: int, index: int) -> int:
    found = pool.made(index)
    failure = pool.alone(found)
    _show(seed, index, found, failure or Failure("no failure", found.command), 1)
    return 1 if failure else 0


def _show(seed: int, index: int, found: Mutant, failure: Failure, times: int) -> None:
    print(f"== {failure.signature}")
    print(f"   {times} mutants; python -m tests.fuzz --only {index} 0 {seed}; from {found.origin}")
    print(f"   kafka-advisor {' '.join(map(_quoted, found.words))}")
    if failure.kind == "secret shown":
        print(f"   planted: {found.secret}")
    for line in failure.detail.rstrip().splitlines():
        print(f"   | {_shown(line)}")
    for name, data in sorted(found.files.items()):
        print(f"-- {_shown(name)} ({len(data)} bytes)")
        for line in data[:4000].split(b"\n"):
            print(f"   {_shown(line.decode('utf-8', 'surrogateescape'))}")
    print(flush=True)


def _quoted(word: str) -> str:
    return word[:200] if word.isprintable() and " " not in word and word else ascii(word[:200])


def _shown(text: str) -> str:
    text = text if text.isprintable() else ascii(text)[1:-1]
    return REPEATED.sub(lambda found: f"<{found[1]} {len(found[0]) // len(found[1])} times>", text)


def say(text: str) -> None:
    print(f"fuzz: {_shown(text)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
