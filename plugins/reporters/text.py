"""The report for people: what was joined, what is wrong and where, what to change, what it adds up to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from advisor.api import printable as plain
from advisor.api import trace_table

# Beyond so many deployments only the count of what is unknown is told.
DETAILED_MAX = 10


def render(report: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    lines = [*_compared(report), _first_line(report)]
    lines += _joined(report)
    lines += _skipped(report)
    for finding in report["findings"]:
        if finding["suppressed"] is None:
            lines.append("")
            lines += _finding(finding, finding["severity"] != "note" or bool(options.get("runs")))
    if "effective" in report:
        lines += _effective(report["effective"])
    lines += ["", _summary(report)]
    return "\n".join(lines) + "\n"


def _first_line(report: Mapping[str, Any]) -> str:
    profile = report["profile"]
    return plain(f"Kafka {report['kafka_version']}, profile {profile['name']}: {profile['why']}")


def _compared(report: Mapping[str, Any]) -> Iterator[str]:
    if "compared" in report:
        sides = [report["compared"][side] for side in ("old", "new")]
        old, new = (f"{side['path']} (Kafka {side['kafka_version']})" for side in sides)
        yield plain(f"From {old} to {new}")


def _joined(report: Mapping[str, Any]) -> Iterator[str]:
    deployments = report["deployments"]
    for deployment in deployments:
        lines = [*_headline(deployment)]
        lines += _open(deployment) if len(deployments) <= DETAILED_MAX else ()
        lines += _what_if(deployment)
        if deployment["joined_by"]:
            yield plain(f"  {deployment['id']}  ({'; '.join(deployment['joined_by'])})")
        elif lines:
            yield plain(f"  {deployment['id']}")
        for line in lines:
            yield plain(f"    {line}")


def _what_if(deployment: Mapping[str, Any]) -> Iterator[str]:
    for one in deployment.get("what_if", ()):
        yield f"what if {one['question']}: {one['answer']}"
        if one.get("assumptions"):
            yield f"  assumed: {'; '.join(one['assumptions'])}"


def _headline(deployment: Mapping[str, Any]) -> Iterator[str]:
    survives, away = deployment["headline"]["survives_lost"], deployment["headline"]["writes_with_away"]
    if survives is not None:
        lost = f"acknowledged records survive the loss for good of {_brokers(survives)}"
        yield ", ".join([lost, *_tolerance(deployment)])
    if away is not None:
        yield f"writes go on with {_brokers(away)} away"


# In words; what the headline tells already is left out.
_SURVIVED = {
    ("acked-records-survive", "broker_crash"): ("broker crash", "broker crashes"),
    ("acked-records-survive", "power_loss"): ("power loss", "power losses"),
    ("acked-records-survive", "disk_wiped"): ("wiped disk", "wiped disks"),
}


def _tolerance(deployment: Mapping[str, Any]) -> Iterator[str]:
    """How many of the other faults are survived; 2+ where no more were tried."""
    counts = []
    for guarantee in deployment["guarantees"]:
        for one in guarantee["tolerance"]:
            words = _SURVIVED.get((guarantee["name"], one["fault"]))
            if words is not None and one["survives"] is not None:
                number = f"{one['survives'] or 'no'}{'+' if one['exhausted'] else ''}"
                counts.append(f"{number} {words[one['survives'] > 1]}")
    if counts:
        yield f"and {', '.join(counts)}"


def _open(deployment: Mapping[str, Any]) -> Iterator[str]:
    """Never worded as success: what the answer depends on is not in sight."""
    for guarantee in deployment["guarantees"]:
        if guarantee["verdict"] == "unknown":
            yield f"unknown {guarantee['name']}: {guarantee['reason']}"


def _brokers(number: int) -> str:
    return "no broker" if number == 0 else _count(number, "broker")


def _skipped(report: Mapping[str, Any]) -> Iterator[str]:
    for file in report["files"]:
        if file["status"] != "audited":
            yield plain(f"  {file['status']} {file['file']}: {file['reason']}")


def _finding(finding: Mapping[str, Any], with_run: bool) -> Iterator[str]:
    at = finding["locations"][0]
    place = at["file"] if at["line"] is None else f"{at['file']}:{at['line']}"
    yield plain(f"{place}: {finding['severity']} {finding['code']} {finding['name']}")
    yield plain(f"    {finding['message']}")
    for other in finding["locations"][1:]:
        where = other["file"] if other["line"] is None else f"{other['file']}:{other['line']}"
        yield plain(f"    with {where}")
    if finding["evidence"]["trace"] and with_run:
        spent = finding["evidence"]["numbers"].get("spent")
        yield plain(f"    the shortest run found (faults: {spent}):" if spent else "    a run of it:")
        for line in trace_table(finding["evidence"]["trace"]):
            yield plain(f"      {line.removeprefix('  ').rstrip()}")
    for name, value in finding["evidence"]["numbers"].items():
        if name != "spent":
            yield plain(f"    {name}: {value}")
    for fix in finding["fixes"][:1]:
        yield plain(f"    fix: {'; '.join(_change(change) for change in fix['changes'])}")
        if fix["condition"]:
            yield plain(f"    then it {fix['condition']}")
        if fix["price"]:
            yield plain(f"    price: {fix['price']}")
    for step in finding["advice"]:
        yield plain(f"    advice: {step}")
    if finding["covers"]:
        yield plain(f"    also mends {', '.join(finding['covers'])}")


def _change(change: Mapping[str, Any]) -> str:
    if change["action"] == "remove":
        return f"remove {change['key']}"
    verb = "add" if change["action"] == "add" else "set"
    return f"{verb} {change['key']} = {change['to']}"


def _effective(entries: list[Mapping[str, Any]]) -> Iterator[str]:
    # tabulate is slow to import and only tables need it.
    from tabulate import tabulate

    for entry in entries:
        yield ""
        yield plain(
            f"{entry['deployment']} (Kafka {entry['version']}), {entry['component']} settings in force:"
        )
        rows = [
            [plain(row["key"]), plain(str(row["value"])), plain(_origin(row["origin"]))]
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


def _summary(report: Mapping[str, Any]) -> str:
    summary = report["summary"]
    suppressed = sum(finding["suppressed"] is not None for finding in report["findings"])
    parts = [
        _count(summary["errors"], "error"),
        _count(summary["warnings"], "warning"),
        _count(summary["notes"], "note"),
    ]
    text = f"{', '.join(parts)} in {_count(summary['files'], 'file')}"
    if suppressed:
        text += f", {suppressed} suppressed"
    if summary["unknown"]:
        text += f", {summary['unknown']} unknown"
    if summary["ignored"]:
        text += f", {_count(summary['ignored'], 'file')} ignored"
    return text


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
