"""What Acme asks of every service. The code behind each spec is imported when an audit needs it."""

from advisor.api import CheckSpec, FormatSpec, PackSpec, ReporterSpec, hookimpl

api_version = "1.0"


@hookimpl
def advisor_packs() -> list[PackSpec]:
    return [PackSpec("acme-policy", __name__, "policy.toml")]


@hookimpl
def advisor_checks() -> list[CheckSpec]:
    return [CheckSpec("acme-topic-name", f"{__name__}.naming:topic_name", "document")]


@hookimpl
def advisor_formats() -> list[FormatSpec]:
    return [
        FormatSpec(
            "acme-intake",
            suffixes=(".intake.yml",),
            markers=("acme: intake",),
            claim=f"{__name__}.intake:claim",
            load=f"{__name__}.intake:load",
            about="what a service says of itself: its client's settings and the topics it writes",
            edit=f"{__name__}.intake:edit",
        )
    ]


@hookimpl
def advisor_reporters() -> list[ReporterSpec]:
    return [ReporterSpec("acme-tickets", f"{__name__}.tickets:render", "lines for the ticket system")]
