"""What a deploy does: from the configuration in OLD to the one in NEW, or from one Kafka version to another.

The members of each consumer group are moved one by one through the simulator: is everybody let in, does the
group go on reading, what does each later roll cost? Then what is different afterwards: guarantees lost and
won, values that Kafka refuses or ignores now, defaults that moved, keys that land on other partitions. With
one PATH the files stay as they are and only the version changes."""

from __future__ import annotations

import argparse
import gc

from ..model import UsageError
from . import say
from .shared.reports import Reports, add_output, exit_code
from .shared.scope_options import add_scope, options_of, problems_of, progress

EPILOG = """\
examples:
  kafka-advisor compare before/ after/                             a deploy, member by member
  kafka-advisor compare consumer.properties consumer-new.properties
  kafka-advisor compare --from-version 3.9 --to-version 4.1 .      an upgrade of Kafka, same files
  kafka-advisor compare before/ after/ --set fact.members=12 --format json

exit codes:
  0  no finding at or above --fail-on
  1  the deploy breaks something, or NEW has findings at or above --fail-on that OLD has not
  2  a path cannot be read, nothing could be compared, or the command, a pack or a plugin is broken
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_scope(parser)
    add = parser.add_argument
    add("--from-version", metavar="V", help="the Kafka version before, such as 3.9")
    add("--to-version", metavar="V", help="the Kafka version after")
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    from ..tell.compare import compare
    from ..tell.compare_report import build_compared

    paths = args.paths
    if len(paths) > 2 or (len(paths) == 1 and not (args.from_version and args.to_version)):
        raise UsageError("compare two paths, OLD and NEW, or one with --from-version and --to-version")
    gc.disable()
    options = options_of(args)
    sides = []
    for path, version in ((paths[0], args.from_version), (paths[-1], args.to_version)):
        args.kafka_version = version or options.kafka_version
        sides.append(options_of(args)._replace(paths=(path,)))
    with progress() as tell:
        result = compare(sides[0], sides[1], tell)
    audit = result.audit
    reports = Reports(args, audit, sides[1])
    report = build_compared(result, args.show_effective)
    reports.tell(report)
    problems = [*problems_of(result.old, False), *problems_of(audit, False)]
    for line in dict.fromkeys((*audit.notes, *audit.scope.locked, *problems)):
        say(line)
    return 2 if problems else exit_code(audit, args.fail_on, report)
