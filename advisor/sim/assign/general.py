"""Sticky assignment where members subscribe to different topics: move partitions one by one until nothing
can be gained.

Partitions with the fewest possible readers come first, members with the fewest partitions take first, and a
move that would undo an earlier one between the same two members moves that partition back instead. Kafka asks
after each look at a partition whether all is balanced; here the answer is kept until something moves, and
members are sorted by load within each distinct subscription: the least loaded reader of a topic is then the
first of a few.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import merge

from .java_order import PartitionSet, TopicPartition, java_sorted
from .members import Assignment, AssignmentFailed, Member


class General:
    """`current` is what members keep, and becomes the assignment. `previous` tells who had a partition before
    its present owner. `slack`: how much more a member may have than another that could take from it and the
    group still counts as balanced (1; 0 before 3.0)."""

    def __init__(
        self,
        members: Sequence[Member],
        existing: Mapping[str, int],
        current: Assignment,
        *,
        previous: Mapping[TopicPartition, str],
        mismatch: Callable[[str, TopicPartition], bool],
        slack: int = 1,
    ) -> None:
        self.existing = existing
        self.current = current
        self.previous = previous
        self.mismatch = mismatch
        self.slack = slack
        self.topics = {member.id: existing.keys() & set(member.topics) for member in members}
        self.most = {name: sum(existing[t] for t in topics) for name, topics in self.topics.items()}
        self.readers = dict.fromkeys(existing, 0)
        for topics in self.topics.values():
            for topic in topics:
                self.readers[topic] += 1
        in_order = sorted(existing, key=lambda topic: (self.readers[topic], topic))
        self.partitions = [(topic, number) for topic in in_order for number in range(existing[topic])]
        self.owner = {part: name for name, parts in current.items() for part in parts}
        self.revoking = False
        self.moves = _Moves()
        self._names = java_sorted(self.topics)
        self._rank = {name: position for position, name in enumerate(self._names)}
        # Members by load, then name, for each distinct subscription: load * members + rank.
        self._orders: dict[frozenset[str], list[int]] = {}
        self._order_of: dict[str, list[int]] = {}
        self._orders_for: dict[str, list[list[int]]] = {}
        self._holders: dict[str, dict[str, int]] = {}
        self._last_unbalanced = ""

    def drop_what_is_not_subscribed(self) -> None:
        """Give up what a member does not subscribe to any more, or what is not in its rack."""
        for name, partitions in self.current.items():
            kept = [p for p in partitions if p[0] in self.topics[name] and not self.mismatch(name, p)]
            if len(kept) < len(partitions):
                self.revoking = True
                self.current[name] = kept

    def balance(self, by_rack: bool) -> Assignment:
        current = self.current
        starting = not any(current.values())
        self._sort_members()
        fresh = self._unassigned()
        waiting = [part for part in fresh if not self._take(part, near=True)] if by_rack else fresh
        for partition in waiting:
            self._take(partition, near=False)
        fixed = {name: current[name] for name in self.topics if self._cannot_change(name)}
        for name in fixed:
            self._leave_order(name)
            del current[name]
        before = {name: list(partitions) for name, partitions in current.items()}
        self._count_holders()
        if not self.revoking:
            self._move_all(part for part in fresh if self.readers[part[0]] >= 2)
        moved = self._move_all(part for part in self.partitions if self.readers[part[0]] >= 2)
        if moved and not starting and _spread(current) >= _spread(before):
            current = before
        current.update(fixed)
        return current

    def _unassigned(self) -> list[TopicPartition]:
        kept = {part for partitions in self.current.values() for part in partitions}
        phantoms = [part for part in kept if part[1] >= self.existing[part[0]]]
        if not phantoms:
            return [part for part in self.partitions if part not in kept]
        # As with equal subscriptions: behind a partition that exists no more, nothing counts as kept.
        stop = min((self.readers[topic], topic, number) for topic, number in phantoms)
        return [part for part in self.partitions if (self.readers[part[0]], *part) > stop or part not in kept]

    def _key(self, name: str) -> int:
        return len(self.current[name]) * len(self._names) + self._rank[name]

    def _sort_members(self) -> None:
        for name, topics in self.topics.items():
            order = self._orders.setdefault(frozenset(topics), [])
            order.append(self._key(name))
            self._order_of[name] = order
        self._orders_for = {topic: [] for topic in self.existing}
        for subscription, order in self._orders.items():
            order.sort()
            for topic in subscription:
                self._orders_for[topic].append(order)

    def _leave_order(self, name: str) -> None:
        order, key = self._order_of[name], self._key(name)
        place = bisect_left(order, key)
        if place < len(order) and order[place] == key:
            del order[place]

    def _first_reader(self, topic: str) -> str:
        """The subscriber with the fewest partitions, ties by name."""
        return self._names[min(order[0] for order in self._orders_for[topic] if order) % len(self._names)]

    def _take(self, partition: TopicPartition, near: bool) -> bool:
        name = self._first_near(partition) if near else self._first_reader(partition[0])
        if name is None:
            return False
        self._leave_order(name)
        self.current[name].append(partition)
        self.owner[partition] = name
        insort(self._order_of[name], self._key(name))
        return True

    def _first_near(self, partition: TopicPartition) -> str | None:
        for key in merge(*self._orders_for[partition[0]]):
            name = self._names[key % len(self._names)]
            if not self.mismatch(name, partition):
                return name
        return None

    def _cannot_change(self, name: str) -> bool:
        partitions = self.current[name]
        return len(partitions) >= self.most[name] and not any(self.readers[t] >= 2 for t, _ in partitions)

    def _count_holders(self) -> None:
        self._holders = {topic: {} for topic in self.existing if self.readers[topic] >= 2}
        for name, partitions in self.current.items():
            for topic, _ in partitions:
                if topic in self._holders:
                    held = self._holders[topic]
                    held[name] = held.get(name, 0) + 1

    def _balanced(self) -> bool:
        size = len(self._names)
        orders = [order for order in self._orders.values() if order]
        if min(order[0] for order in orders) // size >= max(order[-1] for order in orders) // size - 1:
            return True
        if self._last_unbalanced and not self._topic_balanced(self._last_unbalanced):
            return False
        for topic in self._holders:
            if not self._topic_balanced(topic):
                self._last_unbalanced = topic
                return False
        return True

    def _topic_balanced(self, topic: str) -> bool:
        """No subscriber could take a partition of the topic from a member with more."""
        size = len(self._names)
        most_held = max(len(self.current[other]) for other in self._holders[topic])
        for order in self._orders_for[topic]:
            for key in order:
                if key // size != self.most[self._names[key % size]]:
                    if key // size + self.slack < most_held:
                        return False
                    break
        return True

    def _move_all(self, given: Iterable[TopicPartition]) -> bool:
        """Go through the partitions again and again until a round moves none."""
        partitions = list(given)
        any_moved, round_moved = False, bool(partitions)
        while round_moved:
            round_moved = False
            balanced = self._balanced()
            for partition in partitions:
                if balanced:
                    break
                taker = self._better_owner(partition)
                if taker is not None:
                    self._move(partition, taker)
                    any_moved = round_moved = True
                    balanced = self._balanced()
        return any_moved

    def _better_owner(self, partition: TopicPartition) -> str | None:
        count = len(self.current[self.owner[partition]])
        before = self.previous.get(partition)
        if before is not None:
            if before not in self.current:
                raise AssignmentFailed(f"the former owner {before} takes no part in the balancing")
            if count > len(self.current[before]) + 1:
                return before
        first = self._first_reader(partition[0])
        return first if count > len(self.current[first]) + 1 else None

    def _move(self, partition: TopicPartition, taker: str) -> None:
        partition = self.moves.instead_of(partition, self.owner[partition], taker)
        giver = self.owner[partition]
        self._leave_order(giver)
        self._leave_order(taker)
        self.moves.record(partition, giver, taker)
        self.current[giver].remove(partition)
        self.current[taker].append(partition)
        self.owner[partition] = taker
        held = self._holders[partition[0]]
        held[giver] -= 1
        if not held[giver]:
            del held[giver]
        held[taker] = held.get(taker, 0) + 1
        for name in dict.fromkeys((taker, giver)):
            insort(self._order_of[name], self._key(name))


class _Moves:
    """From whom to whom partitions have gone, by topic: a pair of members never swaps partitions of one."""

    def __init__(self) -> None:
        self._pair: dict[TopicPartition, tuple[str, str]] = {}
        self._moved: dict[str, dict[tuple[str, str], PartitionSet]] = {}

    def record(self, partition: TopicPartition, giver: str, taker: str) -> None:
        known = self._pair.pop(partition, None)
        if known is not None:
            pairs = self._moved[partition[0]]
            pairs[known].remove(partition)
            if not pairs[known]:
                del pairs[known]
            if known[0] == taker:
                return
            giver = known[0]
        self._pair[partition] = (giver, taker)
        pairs = self._moved.setdefault(partition[0], {})
        pairs.setdefault((giver, taker), PartitionSet()).add(partition)

    def instead_of(self, partition: TopicPartition, giver: str, taker: str) -> TopicPartition:
        """The partition to move: one that went the other way before, if there is any."""
        if partition in self._pair:
            giver = self._pair[partition][0]
        back = self._moved.get(partition[0], {}).get((taker, giver))
        return partition if back is None else back.first()


def _spread(assignment: Assignment) -> int:
    """The differences of all pairs of members, summed: 0 is perfect balance."""
    total = before = 0
    for position, count in enumerate(sorted(map(len, assignment.values()))):
        total += position * count - before
        before += count
    return total
