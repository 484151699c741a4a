"""Play a finding's run on a real, throw-away Kafka, and once more with its fix.

A cluster of the audited version is started on loopback: one controller and as many brokers as the run needs,
with the audited broker and topic settings. Real clients with the audited settings do what the run says;
brokers are frozen, killed, stopped and emptied as in the run. What the model says and what was seen stand
beside each other: what was confirmed, what can be read, who led and who was in sync. No other cluster is
touched, and everything that was started is ended, also after Ctrl-C.

Needs Java 17 with its compiler, and Kafka's jars: those of KAFKA_HOME, or with --fetch Maven fetches them
once into the cache."""

from __future__ import annotations

import argparse
import sys

from ..model import UsageError
from ..output.terminal import terminal
from . import say, show
from .shared.scope_options import add_scope, options_of, problems_of, progress

EPILOG = """\
examples:
  kafka-advisor reproduce --fetch --finding KA101 samples/quickstart
  kafka-advisor reproduce --finding KA402 --tries 10 .      a race: how often is it hit?
  kafka-advisor reproduce --finding KA101 --html run.html . also as a page, with both runs to play

exit codes:
  0  the harm was seen as audited, and not with the fix
  1  reality differs: not seen as audited, or still there with the fix
  2  the finding is not there or has no run to play, Java or the jars are missing, or the cluster failed
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_scope(parser, "*")
    add = parser.add_argument
    add("--finding", metavar="CODE", required=True, help="the finding to play: its code, name or fingerprint")
    add("--at", metavar="PLACE", default="", help="of several: the one of this file, file:line or deployment")
    add(
        "--kafka",
        metavar="RELEASE",
        help="play it on this release, such as 4.3.1 (default: the audited version)",
    )
    add(
        "--fetch",
        action="store_true",
        help="let Maven fetch Kafka's jars into the cache, if they are not there",
    )
    add(
        "--tries",
        metavar="N",
        type=int,
        default=1,
        help="play it so many times, for what is a race (default: 1)",
    )
    add(
        "--limit",
        metavar="MINUTES",
        type=float,
        default=15,
        help="play nothing that takes longer (default: 15)",
    )
    add("--html", metavar="FILE", help="write both runs to a page, to play and to read")


def run(args: argparse.Namespace) -> int:
    from ..engine import audit
    from ..real.reproduce import TRIES_MAX, Wishes, reproduce
    from ..real.side_by_side import told

    if not 1 <= args.tries <= TRIES_MAX:
        raise UsageError(f"--tries {args.tries}: 1 to {TRIES_MAX}")
    args.paths = args.paths or ["."]
    options = options_of(args)
    wishes = Wishes(args.finding, args.at, args.kafka, args.fetch, args.tries, args.limit * 60)
    with progress() as tell:
        result = audit(options, tell)
        problems = problems_of(result, False)
        if problems:
            for line in problems:
                say(line)
            return 2
        done = reproduce(result, options, wishes, tell)
    for line in told(done, terminal(sys.stdout).width):
        show(line)
    if args.html:
        from ..output.files import write_file
        from ..real.page import page

        write_file(args.html, page(done))
    runs = [one for one in (done.broken, done.fixed) if one is not None]
    if any(not one.outcomes for one in runs):
        return 2
    return 0 if all(one.agrees for one in runs) else 1
