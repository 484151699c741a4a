"""Output formats: each a view of the JSON report."""

from advisor.api import ReporterSpec, hookimpl


@hookimpl
def advisor_reporters() -> list[ReporterSpec]:
    return [
        ReporterSpec("json", f"{__name__}.json_report:render", "the whole report, for programs"),
        ReporterSpec("text", f"{__name__}.text:render", "for people, at a terminal"),
    ]
