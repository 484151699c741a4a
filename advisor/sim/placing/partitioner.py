"""Which partition a record goes to: the hashes of the client families, and the keyless strategies step by
step.

Keys: `partition_for`. Two writers of one topic keep a key together only if they hash alike; librdkafka's
default (CRC32) and the Java client's (murmur2) do not. Without a key: round robin (Java before 2.4, and
RoundRobinPartitioner), sticky per batch (KIP-480, Java 2.4 to 3.2), uniform sticky by bytes (KIP-794, Java
3.3 on). Where Kafka draws a random number the caller gives it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from zlib import crc32

from ...tuples import NamedTuple

_INT_MASK = 0xFFFFFFFF
_POSITIVE_MASK = 0x7FFFFFFF


def signed(number: int) -> int:
    """The low 32 bits as a Java int."""
    number &= _INT_MASK
    return number - (1 << 32) if number >> 31 else number


def positive(number: int) -> int:
    """Utils.toPositive: the sign bit cleared, which is not the absolute value."""
    return number & _POSITIVE_MASK


def murmur2(data: bytes) -> int:
    """MurmurHash2, 32 bits, with the seed of Kafka's Utils.murmur2 (0.8 on); signed, as Java has it."""
    m = 0x5BD1E995
    h = 0x9747B28C ^ len(data)
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * m & _INT_MASK
        k = (k ^ (k >> 24)) * m & _INT_MASK
        h = (h * m & _INT_MASK) ^ k
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & _INT_MASK
    h = (h ^ (h >> 13)) * m & _INT_MASK
    return signed(h ^ (h >> 15))


def fnv1a(data: bytes) -> int:
    """FNV-1a, 32 bits, made positive by the absolute value as librdkafka and Sarama do."""
    h = 0x811C9DC5
    for byte in data:
        h = (h ^ byte) * 0x01000193 & _INT_MASK
    return abs(signed(h))


SCHEMES = ("java", "consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random")
"""`java`: BuiltInPartitioner and DefaultPartitioner. The others: librdkafka's `partitioner`, in its own
words."""


def is_hashed(key: bytes | None, scheme: str) -> bool:
    """Whether the key alone decides the partition.

    No key: only librdkafka's schemes without `_random` hash it, as if it were empty, and only if sticky
    partitioning is off. An empty key is hashed by all but `consistent_random`, which takes it for none.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"no such partitioning scheme: {scheme!r}; known are {', '.join(SCHEMES)}")
    if scheme == "consistent_random":
        return bool(key)
    return key is not None


def partition_for(key: bytes, partitions: int, scheme: str = "java") -> int:
    """The partition of `key` among `partitions`, where the scheme lets the key decide."""
    if partitions < 1:
        raise ValueError(f"a topic has at least one partition, not {partitions}")
    if not is_hashed(key, scheme):
        raise ValueError(f"{scheme} does not hash an empty key: it is placed like a record without one")
    if scheme.startswith("consistent"):
        return crc32(key) % partitions
    if scheme.startswith("fnv1a"):
        return fnv1a(key) % partitions
    return positive(murmur2(key)) % partitions


def moved_keys(keys: Iterable[bytes], before: int, after: int, scheme: str = "java") -> tuple[bytes, ...]:
    """The keys whose partition changes when a topic grows from `before` to `after` partitions."""
    return tuple(k for k in keys if partition_for(k, before, scheme) != partition_for(k, after, scheme))


def split_key(partitions: int, one: str, other: str) -> bytes | None:
    """A short key that two schemes send to different partitions; None if all keys tried agree."""
    for number in range(1_000):
        key = f"key-{number}".encode()
        if partition_for(key, partitions, one) != partition_for(key, partitions, other):
            return key
    return None


def round_robin(counter: int, available: Sequence[int], partitions: int) -> tuple[int, int]:
    """(partition, next counter): the next partition that has a leader, or of all if none has one.

    DefaultPartitioner without a key before 2.4 (the counter begins anywhere), RoundRobinPartitioner from
    2.4 (it begins at 0 and ignores keys). From 2.4 the latter is asked a second time for the record that
    opens a new batch, so that partitions are skipped (KAFKA-9965): the caller takes one more step there.
    """
    nth = positive(counter)
    partition = available[nth % len(available)] if available else nth % partitions
    return partition, signed(counter + 1)


def sticky(
    current: int | None, full: int | None, available: Sequence[int], partitions: int, draws: Iterable[int]
) -> int:
    """The partition of keyless records (StickyPartitionCache, KIP-480, 2.4 to 3.2), the same until its
    batch is full.

    `full` is the partition whose batch had to be closed: if it is the current one, another available
    partition is drawn, never the same again unless it is the only one. `draws` gives the random numbers,
    each read as positive.
    """
    if current is not None and current != full:
        return current
    numbers = (positive(draw) for draw in draws)
    if not available:
        return next(numbers) % partitions
    if len(available) == 1:
        return available[0]
    return next(p for p in (available[number % len(available)] for number in numbers) if p != current)


class StickyBytes(NamedTuple):
    """Uniform sticky state of one topic: where keyless records go now, and the bytes sent there so far."""

    partition: int
    produced_bytes: int = 0


class Load(NamedTuple):
    """Partitions that may be drawn, with running sums of their weights: the shorter a queue, the heavier."""

    partitions: tuple[int, ...]
    sums: tuple[int, ...]


def load_of(queues: Sequence[tuple[int, int]], all_partitions: int) -> Load | None:
    """Weights from (partition, batches queued) of the partitions that have a leader and answer in time.

    None: draw evenly, as the topic has one partition, none is left, or all queues are equal and none was
    left out (BuiltInPartitioner, KIP-794, 3.3 on).
    """
    lengths = [length for _, length in queues]
    if not queues or all_partitions < 2 or (len(set(lengths)) == 1 and len(queues) == all_partitions):
        return None
    sums: list[int] = []
    for length in lengths:
        sums.append(max(lengths) + 1 - length + (sums[-1] if sums else 0))
    return Load(tuple(partition for partition, _ in queues), tuple(sums))


def draw_partition(draw: int, available: Sequence[int], partitions: int, load: Load | None = None) -> int:
    """The partition a random number chooses: by load if it is known, else evenly; it may be the same
    again."""
    number = positive(draw)
    if load is not None:
        return load.partitions[bisect_right(load.sums, number % load.sums[-1])]
    return available[number % len(available)] if available else number % partitions


def uniform_sticky(
    state: StickyBytes, appended_bytes: int, batch_size: int, batch_ready: bool, following: int
) -> StickyBytes:
    """The state after a keyless record of `appended_bytes` (BuiltInPartitioner, KIP-794, 3.3 on).

    After `batch_size` bytes the next partition is taken, but not while the open batch could still be filled
    (`batch_ready` false), and at twice the size in any case. `following` is what
    `draw_partition` chose.
    """
    produced = state.produced_bytes + appended_bytes
    if (produced >= batch_size and batch_ready) or produced >= 2 * batch_size:
        return StickyBytes(following)
    return StickyBytes(state.partition, produced)
