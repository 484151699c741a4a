"""What accept answers: the reasons of a refusal, and what is silently made of an accepted configuration."""

from collections.abc import Mapping

from advisor.catalog import is_password

from ..tuples import NamedTuple


class Reason(NamedTuple):
    """One cause for which the component would not start.

    `needs` says what the verdict rests on beyond the configuration: `classpath` (the class may be there),
    `filesystem` (a key store may exist), `dns` (a name may resolve), `broker` (brokers may be set up for it).
    None: the configuration alone decides. A class name that can only be a slip (no package, or a letter or
    two off one of Kafka's) has needs None too, and `near` names the class that was probably meant.
    """

    kind: str  # type, range, enum, required, unknown-key, removed, format, cross-key, class, security
    keys: tuple[str, ...]  # the first is the one to blame
    detail: str
    needs: str | None = None
    near: str | None = None


class Rewrite(NamedTuple):
    """A value that is accepted and then changed or ignored without an error."""

    key: str
    given: str | None  # None: it was not given, its default is changed
    becomes: str | None  # None: it has no effect
    because: tuple[str, ...]
    detail: str


class Accepted(NamedTuple):
    rewrites: tuple[Rewrite, ...] = ()


class Rejected(NamedTuple):
    reasons: tuple[Reason, ...]


def hidden(config: Mapping[str, object]) -> frozenset[str]:
    """Keys whose value came as a secret although no release types them as one.

    What is typed as a password is never quoted by any check. Of the others, whose value or parts of it
    a check may quote, nothing but the kind of the trouble is told.
    """
    wrapped = (
        key for key, value in config.items() if not isinstance(value, str) and hasattr(value, "reveal")
    )
    return frozenset(key for key in wrapped if not is_password(key))


def discreet_reason(reason: Reason, secrets: frozenset[str]) -> Reason:
    if not secrets.intersection(reason.keys):
        return reason
    return reason._replace(
        detail=f"{reason.keys[0]}: refused ({reason.kind}); the value is kept secret", near=None
    )


def discreet_rewrite(rewrite: Rewrite, secrets: frozenset[str]) -> Rewrite:
    if not secrets.intersection((rewrite.key, *rewrite.because)):
        return rewrite
    becomes = None if rewrite.becomes is None else "<secret>"
    return rewrite._replace(
        given="<secret>", becomes=becomes, detail="changed or ignored; the value is kept secret"
    )
