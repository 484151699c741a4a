"""Output formats: each a view of the JSON report."""

from advisor.api import ReporterSpec, hookimpl


@hookimpl
def advisor_reporters() -> list[ReporterSpec]:
    return [
        ReporterSpec("checkstyle", f"{__name__}.checkstyle:render", "Checkstyle's XML, for CI servers"),
        ReporterSpec("github", f"{__name__}.github:render", "annotations of a GitHub workflow"),
        ReporterSpec("gitlab", f"{__name__}.gitlab:render", "GitLab's code quality report"),
        ReporterSpec("html", f"{__name__}.html:render", "a page, with every run to play", fixed_runs=True),
        ReporterSpec("json", f"{__name__}.json_report:render", "the whole report, for programs"),
        ReporterSpec("junit", f"{__name__}.junit:render", "JUnit XML, for CI servers"),
        ReporterSpec("markdown", f"{__name__}.markdown:render", "a comment on a pull request"),
        ReporterSpec("sarif", f"{__name__}.sarif:render", "SARIF 2.1.0, for code scanning"),
        ReporterSpec("text", f"{__name__}.text.report:render", "for people, at a terminal"),
    ]
