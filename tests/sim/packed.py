"""The KIP-320 specification packed for speed: small numbers for parts of a state, and one state for many.

A state is a tuple of numbers: one for each replica (its log and what it believes), the last for the
controller (leader, ISR, requests, records written). Three things make it small. Parts are numbered, so that a
state is cheap to hash and what sets a part apart is looked up. What no later step reads is left out: the ISR
of a replica that does not lead, that of a request its leader has taken up, a request without a leader. And
replicas are interchangeable: `canonical` names the class of a state under renaming.

Its readable twin is `specification`; test_specification compares the two, transition by transition.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from .specification import NONE, Sizes, Spec

Packed = tuple[int, ...]
Log = tuple[tuple[int, int], ...]
Part = tuple[Log, int, int, int, int]  # log, high watermark, epoch, leader, ISR as a mask; 0: not a leader
Request = tuple[int, int] | None  # leader, ISR as a mask; 0: taken up. None: no leader was named
Centre = tuple[int, int, tuple[Request, ...], int]  # leader, ISR, requests by epoch, records written
Renaming = tuple[int, ...]
Next = tuple[None, None, Packed]


class Packing:
    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.replicas = tuple(range(sizes.replicas))
        self.renamings: tuple[Renaming, ...] = tuple(permutations(self.replicas))
        self.parts: list[Part] = []
        self.centres: list[Centre] = []
        self._part_of: dict[Part, int] = {}
        self._centre_of: dict[Centre, int] = {}
        self._numbers: dict[object, int] = {}
        self._ranks: list[list[int]] = []  # of a centre: what it says of each replica, without its name
        self._looks: list[dict[int, int]] = [{} for _ in self.replicas]  # the same of a part
        self._hearing: dict[tuple[int, int, int], int] = {}
        self._renamed: dict[tuple[int, Renaming], int] = {}
        self._recentred: dict[tuple[int, Renaming], int] = {}

    def first(self) -> Packed:
        nobody = self.part(((), 0, NONE, NONE, 0))
        everyone = (1 << self.sizes.replicas) - 1
        return (*(nobody for _ in self.replicas), self.centre((NONE, everyone, (), 0)))

    def part(self, value: Part) -> int:
        number = self._part_of.get(value)
        if number is None:
            number = self._part_of[value] = len(self.parts)
            self.parts.append(value)
        return number

    def centre(self, value: Centre) -> int:
        number = self._centre_of.get(value)
        if number is None:
            number = self._centre_of[value] = len(self.centres)
            self.centres.append(value)
            self._ranks.append([self._rank(value, replica) for replica in self.replicas])
        return number

    def pack(self, state: Spec) -> Packed:
        """A state of the readable twin, without what no later step reads."""

        def mask(isr: frozenset[int]) -> int:
            return sum(1 << replica for replica in isr)

        parts = (
            (log, mine.hw, mine.epoch, mine.leader, mask(mine.isr) if mine.leader == i else 0)
            for i, (log, mine) in enumerate(zip(state.logs, state.local, strict=True))
        )
        requests = tuple(
            None
            if sent.leader < 0
            else (sent.leader, mask(sent.isr) if state.local[sent.leader].epoch < sent.epoch else 0)
            for sent in state.requests
        )
        centre = (state.quorum.leader, mask(state.quorum.isr), requests, state.written)
        return (*(self.part(part) for part in parts), self.centre(centre))

    # -- successors -----------------------------------------------------------------------------------------

    def successors(self, state: Packed) -> Iterator[Next]:
        centre = state[-1]
        numbers = state[:-1]
        parts = [self.parts[number] for number in numbers]
        leader, isr, requests, written = self.centres[centre]
        if len(requests) <= self.sizes.epoch_max:
            for changed in self._control(leader, isr, requests, written):
                yield None, None, (*numbers, changed)
        for i, (log, hw, epoch, believed, mine) in enumerate(parts):
            before, behind = state[:i], state[i + 1 : -1]
            for e in range(epoch + 1, len(requests)):
                request = requests[e]
                if request is None:
                    continue
                named, with_isr = request
                if named == i:
                    part = self.part((log, hw, e, i, with_isr))
                    yield None, None, (*before, part, *behind, self._heard(centre, i, e))
                elif parts[named][3] == named and parts[named][2] == e:
                    other = parts[named][0]
                    end = 0
                    for offset in range(min(len(log), len(other))):
                        if log[offset] == other[offset]:
                            end = offset + 1
                    part = self.part((log[:end], min(hw, end), e, named, 0))
                    yield None, None, (*before, part, *behind, self._heard(centre, i, e))
            if believed == i:
                if written < self.sizes.records and len(log) < self.sizes.records:
                    part = self.part(((*log, (written, epoch)), hw, epoch, i, mine))
                    more = self.centre((leader, isr, requests, written + 1))
                    yield None, None, (*before, part, *behind, more)
                follow = [part[3] == i and part[2] == epoch for part in parts]
                if hw < len(log) and all(
                    follow[j] and hw < len(parts[j][0]) for j in self.replicas if mine >> j & 1
                ):
                    yield None, None, (*before, self.part((log, hw + 1, epoch, i, mine)), *behind, centre)
                if leader == i and epoch == len(requests) - 1:
                    reached = hw == len(log) or log[hw][1] == epoch
                    for j in self.replicas:
                        ends = len(parts[j][0])
                        if mine >> j & 1:
                            allowed = j != i and (not follow[j] or ends < len(log))
                        else:
                            allowed = follow[j] and ends >= hw and reached
                        if allowed:
                            new = mine ^ 1 << j
                            part = self.part((log, hw, epoch, i, new))
                            yield None, None, (
                                *before, part, *behind, self.centre((leader, new, requests, written))
                            )  # fmt: skip
            elif believed >= 0:
                other, other_hw, other_epoch, other_leader, _ = parts[believed]
                if other_leader == believed and other_epoch == epoch and len(log) < len(other):
                    longer = (*log, other[len(log)])
                    part = self.part((longer, min(other_hw, len(longer)), epoch, believed, 0))
                    yield None, None, (*before, part, *behind, centre)

    def _control(self, leader: int, isr: int, requests: tuple[Request, ...], written: int) -> Iterator[int]:
        for i in self.replicas:
            less = isr & ~(1 << i)
            if isr >> i & 1 and i != leader:
                yield self.centre((i, isr, (*requests, (i, isr)), written))
            if i == leader:
                yield self.centre((NONE, less or isr, (*requests, None), written))
            elif isr >> i & 1:
                sent = (leader, less) if leader >= 0 else None
                yield self.centre((leader, less, (*requests, sent), written))

    def _heard(self, centre: int, replica: int, epoch: int) -> int:
        """The centre once a replica runs by an epoch: it takes up no older request to lead any more."""
        heard = self._hearing.get((centre, replica, epoch))
        if heard is None:
            leader, isr, requests, written = self.centres[centre]
            sent = tuple(
                (replica, 0) if e <= epoch and request is not None and request[0] == replica else request
                for e, request in enumerate(requests)
            )
            heard = self._hearing[centre, replica, epoch] = self.centre((leader, isr, sent, written))
        return heard

    # -- the guarantee, and symmetry ------------------------------------------------------------------------

    def strong_isr(self, state: Packed) -> str | None:
        isr = self.centres[state[-1]][1]
        for i in self.replicas:
            log, hw, _, leader, _ = self.parts[state[i]]
            if hw and leader == i:
                for j in self.replicas:
                    if isr >> j & 1:
                        other = self.parts[state[j]][0]
                        if len(other) < hw or other[:hw] != log[:hw]:
                            return f"{j} in the ISR lacks what {i} counts as committed"
        return None

    def canonical(self, state: Packed) -> Packed:
        """The least of the state's renamings, by what is known of each replica without its name. Only where
        that leaves a choice are the names in a part compared."""
        ranks = self._ranks[state[-1]]
        looks = self._looks
        keys = []
        for i in self.replicas:
            look = looks[i].get(state[i])
            keys.append(ranks[i] + (self._look(i, state[i]) if look is None else look))
        wanted = sorted(keys)
        if len(set(keys)) == len(keys):
            return state if wanted == keys else self._renaming(state, tuple(map(keys.index, wanted)))
        return min(
            self._renaming(state, renaming)
            for renaming in self.renamings
            if [keys[i] for i in renaming] == wanted
        )

    def _renaming(self, state: Packed, order: Renaming) -> Packed:
        """The state with replica order[i] named i."""
        if order == self.replicas:
            return state
        centre = self._recentred.get((state[-1], order))
        if centre is None:
            centre = self._recentre(state[-1], order)
        renamed = self._renamed
        parts = []
        for i in order:
            part = renamed.get((state[i], order))
            parts.append(self._rename(state[i], order) if part is None else part)
        return (*parts, centre)

    def _rank(self, centre: Centre, replica: int) -> int:
        leader, isr, requests, _ = centre
        sent = tuple(r is not None and (r[0] == replica, r[1] >> replica & 1) for r in requests)
        seen = (leader == replica, isr >> replica & 1, sent)
        return self._numbers.setdefault(seen, len(self._numbers)) << 12

    def _look(self, replica: int, number: int) -> int:
        log, hw, epoch, leader, isr = self.parts[number]
        seen = (log, hw, epoch, leader == replica, leader < 0, isr >> replica & 1, isr.bit_count())
        look = self._looks[replica][number] = self._numbers.setdefault(seen, len(self._numbers))
        return look

    def _recentre(self, number: int, order: Renaming) -> int:
        leader, isr, requests, written = self.centres[number]
        named = {old: new for new, old in enumerate(order)} | {NONE: NONE}
        sent = tuple(None if r is None else (named[r[0]], _mask(r[1], order)) for r in requests)
        centre = self.centre((named[leader], _mask(isr, order), sent, written))
        self._recentred[number, order] = centre
        return centre

    def _rename(self, number: int, order: Renaming) -> int:
        log, hw, epoch, leader, isr = self.parts[number]
        named = {old: new for new, old in enumerate(order)} | {NONE: NONE}
        part = self._renamed[number, order] = self.part((log, hw, epoch, named[leader], _mask(isr, order)))
        return part


def _mask(isr: int, order: Renaming) -> int:
    return sum((isr >> old & 1) << new for new, old in enumerate(order))
