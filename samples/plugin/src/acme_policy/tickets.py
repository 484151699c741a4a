"""A line for each finding, as Acme's ticket system takes them: priority, file, what to do."""

from advisor.api import Report, ReporterOptions, printable

_PRIORITIES = {"error": "P1", "warning": "P2", "note": "P3"}


def render(report: Report, options: ReporterOptions) -> str:
    lines = []
    for finding in report["findings"]:
        at = finding["locations"][0]
        change = ", ".join(
            f"{one['key']}={one['to']}" for fix in finding["fixes"][:1] for one in fix["changes"]
        )
        todo = change or "; ".join(finding["advice"]) or "ask the platform team"
        place = f"{at['file']}:{at['line'] or 1}"
        columns = (_PRIORITIES[finding["severity"]], finding["code"], place, finding["message"], todo)
        lines.append("\t".join(map(printable, columns)))
    return "".join(f"{line}\n" for line in lines)
