"""When a connection speaks again after a network that dropped its packets without a word is whole.

Nobody tells either end. What was under way is sent again after ever longer pauses (TCP doubles them), until
whoever waits for an answer has waited long enough and connects anew; the first packet of that is repeated
after ever longer pauses too. So a connection may be silent for about twice as long as the cut, and a cut that
is shorter than a session or than replica.lag.time.max.ms may still end one.
"""

from __future__ import annotations

from collections.abc import Iterator

from .ranges import SECOND
from .timeline_table import Phase

# Linux: the first packet of a connection is sent again after a second (RFC 6298).
FIRST_PACKET = 1 * SECOND
# socket.connection.setup.timeout.ms doubles with every failure up to socket.connection.setup.timeout.max.ms.
SETUP_MAX = 30 * SECOND
# replica.socket.timeout.ms and controller.quorum.request.timeout.ms, their defaults: how long a follower
# waits for an answer of its leader, and a broker for one of the controller to its fetch of the metadata.
FETCH_PATIENCE = 30 * SECOND
METADATA_PATIENCE = 2 * SECOND


def silence(cut: int, patience: int, phase: Phase) -> int:
    """How long a connection is silent that a cut of this length fell upon just after a request was sent."""
    return next(moment for moment in _attempts(patience, phase) if moment >= cut)


def _attempts(patience: int, phase: Phase) -> Iterator[int]:
    """The moments at which something is sent, counted from the cut."""
    yield from _doubling(0, phase.resend, patience)
    begun, setup = patience, phase.setup
    while True:
        yield from _doubling(begun, FIRST_PACKET, begun + setup)
        begun, setup = begun + setup, min(2 * setup, SETUP_MAX)


def _doubling(begun: int, pause: int, end: int) -> Iterator[int]:
    moment = begun
    while moment < end:
        yield moment
        moment, pause = moment + pause, 2 * pause
