"""Where a replica cuts its log on becoming a follower: four protocols, oldest first.

A log is a tuple of (leader epoch, record); all four are about entries the leader does not have.
"""

from __future__ import annotations

from collections.abc import Sequence

Log = Sequence[tuple[int, int]]


def truncation_offset(protocol: str, follower: Log, follower_hw: int, leader: Log, leader_epoch: int) -> int:
    """The offset the follower's log ends at before it fetches from this leader, who is of that epoch."""
    match protocol:
        case "high-watermark":
            return min(follower_hw, len(follower))
        case "kip-101":
            return _kip_101(follower, follower_hw, leader, leader_epoch)
    # KIP-320 changed who may ask (the leader epochs must agree), not the answer.
    return _kip_279(follower, leader, leader_epoch)


def epoch_starts(log: Log) -> list[tuple[int, int]]:
    """The leader epochs a replica knows from its log: (epoch, first offset), epochs rising. An entry of an
    older epoch behind a newer one starts none (LeaderEpochFileCache.assign refuses it)."""
    starts: list[tuple[int, int]] = []
    for offset, (epoch, _) in enumerate(log):
        if not starts or epoch > starts[-1][0]:
            starts.append((epoch, offset))
    return starts


def _of_leader(log: Log, epoch: int) -> list[tuple[int, int]]:
    """A leader knows its own epoch, too, from its first moment. So it is from 2.1 on; before, it wrote it
    down with its first record, and until then sent a follower of an epoch it had lost back to its high
    watermark. The model leaves that moment out."""
    starts = epoch_starts(log)
    if not starts or starts[-1][0] < epoch:
        starts.append((epoch, len(log)))
    return starts


def _kip_101(follower: Log, follower_hw: int, leader: Log, leader_epoch: int) -> int:
    """0.11 to 1.1 (ReplicaFetcherThread.maybeTruncate): one question, where does my last epoch end?

    The leader answers its LEO for its own last epoch, else the start of the next larger one. An epoch beyond
    all it knows, or before, has no answer, and the follower falls back to its high watermark. The holes: an
    epoch the leader never saw is answered with the start of a later one, behind entries that may differ; and
    a leader that has yet to hear of its own new epoch has no answer.
    """
    if not follower:
        return 0
    asked = epoch_starts(follower)[-1][0]
    known = _of_leader(leader, leader_epoch)
    if known[-1][0] == asked:
        return min(len(leader), len(follower))
    if not known[0][0] <= asked < known[-1][0]:
        return min(follower_hw, len(follower))
    return min(next(start for epoch, start in known if epoch > asked), len(follower))


def _kip_279(follower: Log, leader: Log, leader_epoch: int) -> int:
    """From 2.0 (AbstractFetcherThread.getOffsetTruncationState): the answer names the epoch it is about.

    The leader answers with the largest epoch it knows that is not above the one asked for, and where that
    ends. If the follower knows another epoch there, it cuts to what it has of it and asks again. The hole is
    in who may ask: a leader of an older epoch answers too, and may cut its own log afterwards (KIP-320).
    """
    known = _of_leader(leader, leader_epoch)
    end = len(follower)
    while end:
        mine = epoch_starts(follower[:end])
        asked = mine[-1][0]
        # No epoch as old is left: the answer is for the one asked for, and ends where the next one begins.
        answered = max((epoch for epoch, _ in known if epoch <= asked), default=asked)
        leader_end = next((start for epoch, start in known if epoch > answered), len(leader))
        if answered == asked:
            return min(end, leader_end)
        # `answered` may be the leader's empty new epoch, which the follower cannot have.
        end = min(leader_end, next(start for epoch, start in mine if epoch > answered))
    return 0
