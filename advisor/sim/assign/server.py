"""The broker's own assignors of the consumer protocol (KIP-848): uniform and range, as of 4.3.

The group coordinator runs them over its map of members, so the caller gives the members in the order of that
map (`java_order.map_order` of the ids). Topics are walked in the hash order of their ids, which is random in
a cluster; the order of `partitions` stands for it. Racks are not looked at: neither assignor of 4.3 does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...tuples import NamedTuple
from .java_order import TopicPartition, java_order, number_set_order

Target = dict[str, dict[str, list[int]]]
"""The partitions of each topic of each member."""


class ServerMember(NamedTuple):
    """A member as the coordinator knows it; `current` is its part of the last target assignment."""

    id: str
    topics: frozenset[str]
    current: Mapping[str, Sequence[int]] = {}
    instance_id: str | None = None


def assign(assignor: str, members: Sequence[ServerMember], partitions: Mapping[str, int]) -> Target:
    """The target assignment; subscriptions to topics that do not exist are passed over by the coordinator."""
    if assignor not in BUILT_IN:
        raise ValueError(f"assignor {assignor!r} is none of {', '.join(BUILT_IN)}")
    known = [
        member._replace(topics=frozenset(topic for topic in member.topics if topic in partitions))
        for member in members
    ]
    return BUILT_IN[assignor](known, partitions) if known else {}


def flat(target: Target) -> dict[str, list[TopicPartition]]:
    """The target as sorted lists of partitions."""
    return {
        name: sorted((topic, number) for topic, numbers in topics.items() for number in numbers)
        for name, topics in target.items()
    }


def range_(members: Sequence[ServerMember], partitions: Mapping[str, int]) -> Target:
    """Topic by topic, runs of partitions, one more for the first; static members come before the others."""
    in_turn = sorted(
        members,
        key=lambda member: (
            (0, java_order(member.instance_id))
            if member.instance_id is not None
            else (1, java_order(member.id))
        ),
    )
    target: Target = {member.id: {} for member in members}
    for topic, count in partitions.items():
        subscribers = [member for member in in_turn if topic in member.topics]
        if not subscribers:
            continue
        least, extra = divmod(count, len(subscribers))
        start = 0
        for position, member in enumerate(subscribers):
            end = start + least + (position < extra)
            if start < end:
                target[member.id][topic] = list(range(start, end))
            start = end
    return target


def uniform(members: Sequence[ServerMember], partitions: Mapping[str, int]) -> Target:
    """Balance over all topics, then keep what was there."""
    if len({member.topics for member in members}) == 1:
        return _uniform_alike(members, partitions)
    return _Uneven(members, partitions).assign()


def _uniform_alike(members: Sequence[ServerMember], partitions: Mapping[str, int]) -> Target:
    """Equal subscriptions: members keep what is within the quota; the first that can take one more do."""
    subscribed = [topic for topic in partitions if topic in members[0].topics]
    if not subscribed:
        return {}
    taken = {(topic, n) for member in members for topic, numbers in member.current.items() for n in numbers}
    waiting = [(t, n) for t in subscribed for n in range(partitions[t]) if (t, n) not in taken]
    least, extra = divmod(sum(partitions[topic] for topic in subscribed), len(members))
    target: Target = {}
    unfilled: list[tuple[str, int]] = []
    for position, member in enumerate(members):
        room = least + (extra > 0)
        kept: dict[str, list[int]] = {}
        for topic in partitions:
            if topic not in member.topics or topic not in member.current:
                continue
            numbers = number_set_order(member.current[topic])
            if numbers[:room]:
                kept[topic] = numbers[:room]
            waiting.extend((topic, number) for number in numbers[room:])
            room -= len(numbers[:room])
        takes_extra = extra > 0
        if room > 0 and takes_extra and len(members) - position > extra:
            # Somebody after it may already hold the one more; only the last ones must take it.
            room -= 1
            takes_extra = False
        if room > 0:
            unfilled.append((member.id, room))
        extra -= takes_extra
        target[member.id] = kept
    supply = iter(waiting)
    for name, room in unfilled:
        for _, (topic, number) in zip(range(room), supply, strict=False):
            target[name].setdefault(topic, []).append(number)
    return target


ROUNDS_MAX = 16
"""How often Kafka goes over the topics to even members out."""


class _Uneven:
    """Unequal subscriptions (UniformHeterogeneousAssignmentBuilder): topics with the most partitions for each
    subscriber first, given to the least loaded; then moves from the most to the least loaded."""

    def __init__(self, members: Sequence[ServerMember], partitions: Mapping[str, int]) -> None:
        self.members = members
        self.partitions = partitions
        place = {topic: position for position, topic in enumerate(partitions)}
        self.subscribers: dict[str, list[int]] = {}
        for index, member in enumerate(members):
            for topic in member.topics:
                self.subscribers.setdefault(topic, []).append(index)
        self.topics = sorted(
            self.subscribers,
            key=lambda t: (-partitions[t] / len(self.subscribers[t]), len(self.subscribers[t]), place[t]),
        )
        self.owner = {topic: [-1] * partitions[topic] for topic in self.topics}
        self.load = [0] * len(members)

    def assign(self) -> Target:
        if not self.topics:
            return {}
        for index, member in enumerate(self.members):
            for topic in member.topics & member.current.keys():
                for number in member.current[topic]:
                    self.owner[topic][number] = index
                    self.load[index] += 1
        for topic in self.topics:
            waiting = [n for n, owner in enumerate(self.owner[topic]) if owner == -1]
            if waiting:
                balancer = _Balancer(self.load, self.subscribers[topic])
                for number in waiting:
                    self._give(topic, number, balancer.least_loaded())
        self._even_out([topic for topic in self.topics if len(self.subscribers[topic]) >= 2])
        target: Target = {member.id: {} for member in self.members}
        for topic in self.partitions:
            for number, owner in enumerate(self.owner.get(topic, ())):
                target[self.members[owner].id].setdefault(topic, []).append(number)
        return target

    def _give(self, topic: str, number: int, index: int) -> None:
        before = self.owner[topic][number]
        if before != -1:
            self.load[before] -= 1
        self.owner[topic][number] = index
        self.load[index] += 1

    def _even_out(self, topics: Sequence[str]) -> None:
        last = -1
        for _ in range(ROUNDS_MAX):
            for position, topic in enumerate(topics):
                if position == last:
                    return
                if self._even_out_topic(topic) or last == -1:
                    last = position

    def _even_out_topic(self, topic: str) -> bool:
        """Move partitions of one topic from its most to its least loaded subscribers; did any move?"""
        balancer = _Balancer(self.load, self.subscribers[topic])
        if balancer.imbalance <= 1:
            return False
        held: dict[int, list[int]] = {}
        for number, owner in enumerate(self.owner[topic]):
            held.setdefault(owner, []).append(number)
        moved = False
        while not balancer.balanced():
            giver = balancer.most_loaded()
            while giver is not None and not held.get(giver):
                balancer.pass_over()
                giver = balancer.most_loaded()
            if giver is None:
                break
            number = held[giver].pop()
            taker = balancer.least_loaded()
            if balancer.balanced():
                break
            self._give(topic, number, taker)
            moved = True
        return moved


class _Balancer:
    """Two ranges over members sorted by load: from the left those that take, from the right those that give.

    Each range stands at one load and widens when everybody in it has been asked once.
    """

    def __init__(self, load: list[int], members: Sequence[int]) -> None:
        self._load = load
        self._members = sorted(members, key=lambda index: (load[index], index))
        self._low_end = 0
        self._low_load = load[self._members[0]] - 1
        self._low_next = 0
        self._high_start = self._high_end = len(self._members)
        self._high_load = load[self._members[-1]] + 1
        self._high_next = len(self._members) - 1
        self.imbalance = load[self._members[-1]] - load[self._members[0]]

    def least_loaded(self) -> int:
        if self._low_next >= self._low_end:
            self._low_load += 1
            while (
                self._low_end < len(self._members)
                and self._load[self._members[self._low_end]] == self._low_load
            ):
                self._low_end += 1
            self._low_next = 0
        self._low_next += 1
        return self._members[self._low_next - 1]

    def most_loaded(self) -> int | None:
        if self._high_next < self._high_start:
            if self._high_end <= self._high_start and self._high_start > 0:
                # Everybody in the range was passed over: go on at the next load there is.
                self._high_load = self._load[self._members[self._high_start - 1]]
            else:
                self._high_load -= 1
            while self._high_start > 0 and self._load[self._members[self._high_start - 1]] == self._high_load:
                self._high_start -= 1
            self._high_next = self._high_end - 1
        if self._high_next < 0:
            return None
        self._high_next -= 1
        return self._members[self._high_next + 1]

    def pass_over(self) -> None:
        """The member named last has nothing to give: it leaves the range."""
        place, end = self._high_next + 1, self._high_end - 1
        self._members[place], self._members[end] = self._members[end], self._members[place]
        self._high_end -= 1

    def balanced(self) -> bool:
        return self._high_load - self._low_load <= 1


BUILT_IN: dict[str, Callable[[Sequence[ServerMember], Mapping[str, int]], Target]] = {
    "uniform": uniform,
    "range": range_,
}
