"""Compressed batches without the codecs' libraries, as the Java client makes them at its default levels.

lz4 and snappy: the libraries' own algorithms, byte for byte (lz4-java 1.10, snappy-java 1.1.10 on x86-64).
gzip: zlib's bytes, the same wherever Java and Python use zlib itself; other builds of it (zlib-ng) differ by
a little. zstd: the number of bytes alone, an estimate; `TOLERANCE` says how far any of them may be off.
"""

from __future__ import annotations

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
"""Codec ids, the low three bits of the attributes."""

TOLERANCE = {"none": (0, 0.0), "gzip": (16, 0.03), "snappy": (0, 0.0), "lz4": (0, 0.0), "zstd": (12, 0.01)}
"""For each codec the bytes, and the part of Kafka's size, by which a size may differ; the larger counts."""


def compress(data: bytes, compression: str, magic: int = 2) -> bytes:
    """The compressed bytes; `magic` is the format around them, which an old lz4 frame depends on."""
    match compression:
        case "none":
            return data
        case "gzip":
            import zlib

            deflate = zlib.compressobj(wbits=31)
            packed = deflate.compress(data) + deflate.flush()
            # Java says that the operating system is unknown (JDK 16 on) and nothing of the effort.
            return packed[:8] + b"\x00\xff" + packed[10:]
        case "lz4":
            from .lz4 import frame

            return frame(data, magic_in_checksum=magic == 0)
        case "snappy":
            from .snappy import stream

            return stream(data)
        case "zstd":
            raise ValueError("of zstd only the size is modelled, not the bytes")
    raise ValueError(f"no such codec: {compression!r}; known are {', '.join(CODECS)}")


def compressed_size(data: bytes, compression: str) -> int:
    """The number of compressed bytes, within `TOLERANCE`."""
    if compression == "zstd":
        from .zstd import compressed_size

        return compressed_size(data)
    return len(compress(data, compression))
