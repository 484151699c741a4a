"""Sizes of compressed batches, by the codecs' own algorithms; no library besides zlib is needed."""

from __future__ import annotations

from . import wire_lz4, wire_snappy

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
"""Codec ids, the low three bits of the attributes."""


def compress(data: bytes, compression: str, magic: int = 2) -> bytes:
    match compression:
        case "none":
            return data
        case "gzip":
            import zlib

            deflate = zlib.compressobj(wbits=31)
            packed = deflate.compress(data) + deflate.flush()
            return packed[:9] + b"\xff" + packed[10:]
        case "lz4":
            return wire_lz4.frame(data, magic_in_checksum=magic == 0)
        case "snappy":
            return wire_snappy.stream(data)
    raise ValueError(f"the bytes of {compression} are not modelled, only their number")
