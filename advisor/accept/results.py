"""What accept answers: the reasons of a refusal, and what is silently made of an accepted configuration."""

from __future__ import annotations

from typing import NamedTuple


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
