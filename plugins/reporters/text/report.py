"""The report for people at a terminal: what was joined and survives what, what is wrong and where, what to
change, what it adds up to. Causes are told once, the worst first; what can wait is a line with the option
that lists it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from advisor.api import printable, wrapped

from ..causes import Cause, causes_of, count
from .finding import Look, cause_lines, look_of, one_line, titles_of

# So many causes are told with their run; of the others a run is shown on request.
FULL_MAX = 6
# Beyond so many deployments those that survive the same are told together.
DEPLOYMENTS_MAX = 3
NAMES_MAX = 4
Report = Mapping[str, Any]


def render(report: Report, options: Mapping[str, Any]) -> str:
    look = look_of(options)
    findings = [one for one in report["findings"] if one["suppressed"] is None and _counts(one)]
    if options.get("quiet"):
        lines = [one_line(one, look) for one in findings if look.all or one["severity"] != "note"]
        lines += [printable(f"worse: {one}") for one in report.get("changes", {}).get("worse", ())]
        return "".join(f"{line}\n" for line in lines)
    lines = [*_opening(report, look)]
    if "compared" in report:
        from .compared import compared_lines

        lines += compared_lines(report, look.width)
    lines += _changes(report, look)
    lines += _deployments(report, look)
    lines += _not_read(report, look, bool(options.get("files")))
    lines += _causes(report, findings, look)
    if "effective" in report:
        lines += _effective(report["effective"])
    lines += ["", *_summary(report, findings, look)]
    return "\n".join(lines) + "\n"


def _counts(finding: Mapping[str, Any]) -> bool:
    """What a baseline knows is not told again."""
    return finding.get("baseline") != "known"


def _opening(report: Report, look: Look) -> Iterator[str]:
    if "compared" in report:
        sides = [report["compared"][side] for side in ("old", "new")]
        old, new = (f"{side['path']} (Kafka {side['kafka_version']})" for side in sides)
        yield printable(f"From {old} to {new}")
    profile = report["profile"]
    yield look.paint(
        printable(f"Kafka {report['kafka_version']}, profile: {profile['name']} ({profile['why']})"), "head"
    )


def _changes(report: Report, look: Look) -> Iterator[str]:
    """Of --diff-base: what the change makes worse, what it costs, and what it makes better."""
    changes = report.get("changes")
    if changes is None:
        return
    yield ""
    yield printable(f"Compared with {changes['base']}:")
    told = (("worse", "worse", "error"), ("costs", "cost", "warning"), ("better", "better", "fix"))
    for key, word, style in told:
        for sentence in changes[key]:
            first, *more = wrapped(printable(sentence), look.width - 9)
            yield f"  {look.paint(f'{word:<6}', style)} {first}"
            yield from (f"         {line}" for line in more)
    if not any(changes[key] for key, _, _ in told):
        yield "  nothing is worse or better"


# -- what is joined, and what it survives ------------------------------------------------------------------


def _deployments(report: Report, look: Look) -> Iterator[str]:
    deployments = report["deployments"]
    told: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for deployment in deployments:
        told.setdefault(_headline(deployment), []).append(deployment)
    together = len(deployments) > DEPLOYMENTS_MAX and not look.all
    for sentences, group in sorted(told.items(), key=_least_first):
        if together:
            if sentences:
                yield from _together(sentences, group, look)
        else:
            for deployment in group:
                yield from _one_deployment(deployment, sentences, look)
    for deployment in deployments if together else ():
        yield from _what_if(deployment, look, named=True)
    yield from _open_questions(deployments, look)


def _headline(deployment: Mapping[str, Any]) -> tuple[str, ...]:
    if set(deployment["headline"].values()) == {None}:
        return ()
    # Where nothing is sure, the code that draws runs is not needed.
    from advisor.api import headline_text

    return tuple(headline_text(deployment["headline"], deployment["guarantees"]))


def _least_first(item: tuple[Any, list[Mapping[str, Any]]]) -> tuple[int, int]:
    """What survives least comes first."""
    headline = item[1][0]["headline"]
    return tuple(9 if number is None else number for number in headline.values())


def _one_deployment(deployment: Mapping[str, Any], sentences: Sequence[str], look: Look) -> Iterator[str]:
    lines = [*_sentences(sentences, look), *_what_if(deployment, look, named=False)]
    joined = "; ".join(deployment["joined_by"])
    if not lines and not joined:
        return
    yield ""
    yield look.paint(printable(deployment["id"]), "head")
    yield from lines
    if joined:
        shown = wrapped(printable(f"joined by {joined}"), look.width - 2, "  ")
        yield from (look.paint(f"  {line}", "dim") for line in shown)


def _together(sentences: Sequence[str], group: Sequence[Mapping[str, Any]], look: Look) -> Iterator[str]:
    names = [printable(deployment["id"]) for deployment in group]
    more = len(names) - NAMES_MAX
    listed = ", ".join(names[:NAMES_MAX]) + (f", +{more} more" if more > 0 else "")
    yield ""
    yield from wrapped(f"{count(len(group), 'deployment')}: {listed}", look.width, "  ")
    yield from _sentences(sentences, look)


def _sentences(sentences: Sequence[str], look: Look) -> Iterator[str]:
    for sentence in sentences:
        yield from (f"  {line}" for line in wrapped(sentence, look.width - 2, "  "))


def _what_if(deployment: Mapping[str, Any], look: Look, named: bool) -> Iterator[str]:
    of = f"{deployment['id']}, " if named else ""
    for one in deployment.get("what_if", ()):
        text = printable(f"{of}what if {one['question']}: {one['answer']}")
        yield from (f"  {line}" for line in wrapped(text, look.width - 2, "  "))
        if one.get("assumptions"):
            assumed = printable(f"assuming {'; '.join(one['assumptions'])}")
            yield from (f"    {line}" for line in wrapped(assumed, look.width - 4, "  "))


def _open_questions(deployments: Sequence[Mapping[str, Any]], look: Look) -> Iterator[str]:
    """Never worded as success: what the answer depends on is not in sight."""
    asked = list(
        dict.fromkeys(
            (deployment["id"], _question(guarantee))
            for deployment in deployments
            for guarantee in deployment["guarantees"]
            if guarantee["verdict"] == "unknown"
        )
    )
    if not asked:
        return
    yield ""
    if look.all:
        for of, question in asked:
            yield from wrapped(printable(f"{of}: {question}"), look.width, "  ")
        return
    alike = {question: of for of, question in reversed(asked)}
    yield from wrapped(printable(next(reversed(alike))), look.width, "  ")
    if len(asked) > 1:
        yield f"  and {count(len(asked) - 1, 'more open question')}: --all lists them"


def _question(guarantee: Mapping[str, Any]) -> str:
    says = guarantee.get("says") or guarantee["name"]
    reason = str(guarantee["reason"] or "")
    answer = f"yes if {reason.removeprefix('holds if ')}" if reason.startswith("holds if ") else reason
    return f"cannot tell whether {says}: {answer}"


def _not_read(report: Report, look: Look, listed: bool) -> Iterator[str]:
    """Files that are Kafka's and are not read, or only in part."""
    files = [file for file in report["files"] if file["status"] != "audited"]
    shown = files if look.all or listed else files[:NAMES_MAX]
    if files:
        yield ""
    for file in shown:
        text = printable(f"{file['status']} {look.path_of(file['file'])}: {file['reason']}")
        yield from wrapped(text, look.width, "  ")
    if len(files) > len(shown):
        rest = files[len(shown) :]
        read = "not read whole" if any(file["status"] == "partial" for file in rest) else "not read"
        yield f"and {count(len(rest), 'more file')} of Kafka's {read}: --files lists them"


# -- what is wrong -----------------------------------------------------------------------------------------


def _causes(report: Report, findings: Sequence[Mapping[str, Any]], look: Look) -> Iterator[str]:
    titles = titles_of(report.get("rules", ()))
    causes = causes_of(report, findings, fold=not look.all)
    waiting = [cause for cause in causes if cause.severity == "note" and not look.all]
    told = [cause for cause in causes if cause.severity != "note" or look.all]
    explained: set[str] = set()
    without_run = 0
    many = len(told) > FULL_MAX and not look.all
    codes: set[str] = set()
    for number, cause in enumerate(told):
        trace = cause.first["evidence"]["trace"]
        # Of many, a rule is told in full once.
        full = look.all or look.runs or (number < FULL_MAX and not (many and cause.code in codes))
        codes.add(cause.code)
        kind = str(trace[0]["state"].get("kind", "partition")) if trace and full else ""
        yield ""
        yield from cause_lines(cause, titles, look, full, legend=bool(kind) and kind not in explained)
        explained.add(kind)
        without_run += bool(trace) and not full
    if without_run:
        yield ""
        others = "the other one" if without_run == 1 else f"the other {without_run}"
        yield f"--runs shows how {others} of these can happen"
    if waiting:
        yield ""
        notes = sum(len(cause.findings) for cause in waiting)
        by_code: dict[str, list[Cause]] = {}
        for cause in waiting:
            by_code.setdefault(cause.code, []).append(cause)
        each = [f"{one[0].title} ({_code_and_places(one)})" for one in list(by_code.values())[:NAMES_MAX]]
        more = len(by_code) - NAMES_MAX
        text = f"{count(notes, 'note')}: {'; '.join(each)}" + (f"; +{more} more" if more > 0 else "")
        text += f". --all shows {'it' if notes == 1 else 'them'}"
        yield from wrapped(printable(text), look.width, "  ")
    if many:
        from .overview import overview_lines

        yield ""
        yield from overview_lines(told, look)


def _code_and_places(causes: Sequence[Cause]) -> str:
    places = sum(len(cause.findings) for cause in causes)
    return causes[0].code if places == 1 else f"{causes[0].code}, {places} places"


def _effective(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    # tabulate is slow to import and only tables need it.
    from tabulate import tabulate

    for entry in entries:
        yield ""
        yield printable(
            f"{entry['deployment']} (Kafka {entry['version']}), {entry['component']} settings in force:"
        )
        rows = [
            [printable(row["key"]), printable(str(row["value"])), printable(_origin(row["origin"]))]
            for row in entry["settings"]
        ]
        table = tabulate(rows, headers=["key", "value", "from"], tablefmt="simple", disable_numparse=True)
        yield from table.splitlines()


def _origin(origin: Mapping[str, Any]) -> str:
    note = origin.get("note", "")
    if "file" in origin:
        place = origin["file"] if origin["line"] is None else f"{origin['file']}:{origin['line']}"
        return f"{place} ({note})" if note else place
    return note or origin["kind"]


# -- what it adds up to ------------------------------------------------------------------------------------


def _summary(report: Report, findings: Sequence[Mapping[str, Any]], look: Look) -> Iterator[str]:
    summary = report["summary"]
    parts = [count(summary[f"{word}s"], word) for word in ("error", "warning", "note") if summary[f"{word}s"]]
    files = count(sum(file["status"] != "skipped" for file in report["files"]), "file")
    ignored = f" ({count(summary['ignored'], 'other file')} ignored)" if summary["ignored"] else ""
    read = f"read {files}{ignored}"
    compared = "baseline" in report or "changes" in report
    text = f"{', '.join(parts) or ('no new finding' if compared else 'no finding')}; {read}"
    suppressed = sum(finding["suppressed"] is not None for finding in report["findings"])
    known = sum(finding.get("baseline") == "known" for finding in report["findings"])
    where = f"known in {report['changes']['base']}" if "changes" in report else "in the baseline"
    for number, word in ((suppressed, "suppressed"), (known, where)):
        text += f", {number} {word}" if number else ""
    if summary["unknown"]:
        text += f", {count(summary['unknown'], 'open question')}"
    style = "error" if summary["errors"] else "warning" if summary["warnings"] else "head"
    yield from (look.paint(line, style) for line in wrapped(text, look.width, "  "))
    yield from _gone(report, look)
    yield from _owners(report, look)
    yield from _fixable(findings, look)
    yield from _hidden(report, look)


def _hidden(report: Report, look: Look) -> Iterator[str]:
    """What only the profile keeps from being told."""
    hidden = report["summary"].get("hidden")
    if hidden:
        profiles = [deployment["profile"] for deployment in report["deployments"]]
        first, *others = dict.fromkeys(one["why"] for one in profiles if one["name"] == "dev")
        more = f" (and {count(len(others), 'reason')} more)" if others else ""
        text = f"{count(hidden, 'finding')} hidden: dev because {first}{more}; `--profile prod` shows them"
        yield from wrapped(printable(text), look.width, "  ")


def _gone(report: Report, look: Look) -> Iterator[str]:
    gone = report.get("baseline", {}).get("gone", ())
    if gone:
        shown = gone if look.all else gone[:NAMES_MAX]
        more = len(gone) - len(shown)
        listed = ", ".join(f"{one['code']} in {look.path_of(one['file'])}" for one in shown)
        are = "is" if len(gone) == 1 else "are"
        text = f"{count(len(gone), 'finding')} of the baseline {are} gone: {listed}"
        text += (f", +{more} more" if more else "") + "; --update-baseline removes them from it"
        yield from wrapped(printable(text), look.width, "  ")


def _owners(report: Report, look: Look) -> Iterator[str]:
    owners = [one for one in report.get("owners", ()) if one["errors"] or one["warnings"]]
    if owners:
        told = (f"{one['owner']} {_counted(one)}" for one in owners[:NAMES_MAX])
        more = len(owners) - NAMES_MAX
        text = f"owners: {'; '.join(told)}" + (f"; +{more} more" if more > 0 else "")
        yield from wrapped(printable(text), look.width, "  ")


def _counted(one: Mapping[str, Any]) -> str:
    return ", ".join(count(one[f"{word}s"], word) for word in ("error", "warning") if one[f"{word}s"])


def _fixable(findings: Sequence[Mapping[str, Any]], look: Look) -> Iterator[str]:
    """What `fix` would write by itself."""
    changes: set[tuple[str, str, str]] = set()
    fixed = 0
    for finding in findings:
        safe = finding["fixes"] and finding["fixes"][0].get("safety", "safe") == "safe"
        first = finding["fixes"][0]["changes"] if safe else ()
        if first and finding["severity"] != "note" and all(change["file"] is not None for change in first):
            fixed += 1
            changes |= {(change["file"], change["key"], str(change["to"])) for change in first}
    if changes:
        files = len({file for file, _, _ in changes})
        text = f"`kafka-advisor fix` would change {count(len(changes), 'setting')} in {count(files, 'file')}"
        yield from wrapped(f"{text} and fix {count(fixed, 'finding')}", look.width, "  ")
