"""Checks that rule packs name."""

from advisor.api import CheckSpec, hookimpl

_START = [
    "unknown-key",
    "wrong-component",
    "removed-key",
    "newer-key",
    "deprecated-key",
    "type",
    "unit",
    "range",
    "enum",
    "format",
    "required",
    "cross-key",
    "class",
    "security",
    "rewrite",
]
_PLUMBING = [
    "overridden",
    "binds-to-nothing",
    "forbidden",
    "not-mapped",
    "no-escape",
    "service-link",
    "needs-prefix",
    "never-applied",
]


@hookimpl
def advisor_checks() -> list[CheckSpec]:
    start = [CheckSpec(f"start-{kind}", f"{__name__}.start:hits", "document") for kind in _START]
    plumbing = [
        CheckSpec(f"plumbing-{cause}", f"{__name__}.plumbing:dropped", "document") for cause in _PLUMBING
    ]
    connector = CheckSpec(
        "plumbing-connector-client-key", f"{__name__}.plumbing:connector_client_keys", "document"
    )
    override = CheckSpec("connect-override-refused", f"{__name__}.connect:override_refused", "document")
    topology = [
        CheckSpec("racks-on-some-brokers", f"{__name__}.topology:racks_on_some_brokers", "deployment"),
        CheckSpec("keys-scattered", f"{__name__}.topology:keys_scattered", "deployment"),
        CheckSpec("brokers-disagree", f"{__name__}.disagreements:brokers_disagree", "deployment"),
        CheckSpec("topic-declared-twice", f"{__name__}.disagreements:topic_declared_twice", "document"),
        CheckSpec("listener-out-of-reach", f"{__name__}.reach:listener_out_of_reach", "document"),
        CheckSpec("name-out-of-reach", f"{__name__}.reach:name_out_of_reach", "deployment"),
        CheckSpec("mirrors-in-a-circle", f"{__name__}.mirrors:mirrors_in_a_circle", "document"),
        CheckSpec("client-too-old", f"{__name__}.old_clients:client_too_old", "document"),
    ]
    brokers = [
        CheckSpec("fragile-quorum", f"{__name__}.brokers:fragile_quorum", "deployment"),
        CheckSpec("log-in-temporary-folder", f"{__name__}.brokers:log_in_temporary_folder", "document"),
        CheckSpec(
            "internal-topic-cannot-be-made", f"{__name__}.brokers:internal_topic_cannot_be_made", "deployment"
        ),
        CheckSpec("controllers-decide", f"{__name__}.controllers:decided_by_controllers", "deployment"),
    ]
    compare = CheckSpec("compare-only", f"{__name__}.compared:nothing_in_an_audit", "deployment")
    return [*start, *plumbing, connector, override, *topology, *brokers, compare]
