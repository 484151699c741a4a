"""A cache of small JSON files, outside the audited tree.

It only ever saves work: a missing entry is made anew, so is a damaged or foreign one, which its checksum
betrays, a failed write switches the cache off, and nothing a run reports depends on it. JSON, never pickle:
reading it runs no code.
"""

from __future__ import annotations

import os

from .. import __version__

# Raised by hand when the meaning of a stored value changes within one version of kafka-advisor.
CACHE_VERSION = 2


def digest(data: bytes) -> str:
    """A name for these bytes: 32 hex digits, equal on every machine and Python version."""
    # hashlib loads OpenSSL (4 ms and more); the extension behind its blake2b loads in 0.3 ms.
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=16).hexdigest()


class Cache:
    """Values by kind and key; without a folder it stores and finds nothing.

    `note` is a sentence for the user if the cache was wanted and could not be had.
    """

    __slots__ = ("folder", "note")

    def __init__(self, folder: str | None, note: str | None = None) -> None:
        self.folder = folder
        self.note = note

    def get(self, kind: str, key: str) -> object | None:
        """The stored value, or None if there is none that can be trusted."""
        if self.folder is None:
            return None
        import json

        path = self._path(kind, key)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        # A disk and a copy may flip a bit, and most flips leave good JSON: the sum comes first.
        said, _, text = data.partition(b"\n")
        try:
            if said.decode("ascii") == digest(text):
                entry = json.loads(text)
                # The entry repeats what it is for: a file that was renamed is not taken for another.
                if entry["for"] == [kind, key]:
                    value: object = entry["value"]
                    return value
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        try:
            os.unlink(path)
        except OSError:
            pass
        return None

    def put(self, kind: str, key: str, value: object) -> None:
        """Keep `value`, which must be JSON. Readers see the old entry or the new one, never a part."""
        if self.folder is None:
            return
        import json

        from ..output.files import put_file

        text = json.dumps({"for": [kind, key], "value": value}, separators=(",", ":")).encode("ascii")
        path = self._path(kind, key)
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            put_file(path, digest(text).encode("ascii") + b"\n" + text, mode=0o600)
        except OSError as error:
            self.note = f"cache off: {path} cannot be written ({error.strerror or error})"
            self.folder = None

    def _path(self, kind: str, key: str) -> str:
        assert self.folder is not None
        # A key may be any text; a file name may not.
        plain = key.isascii() and key.isalnum() and key.islower() and len(key) <= 64
        name = key if plain else "-" + digest(key.encode("utf-8", "surrogatepass"))
        return os.path.join(self.folder, f"{CACHE_VERSION}-{__version__}", kind, f"{name}.json")


def cache_folder() -> str | None:
    """Where the cache lives: $KAFKA_ADVISOR_CACHE, else under $XDG_CACHE_HOME, else under ~/.cache."""
    chosen = os.environ.get("KAFKA_ADVISOR_CACHE")
    if chosen:
        return os.path.abspath(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative XDG path is to be ignored; here it could also put the cache inside the audited tree.
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "kafka-advisor") if os.path.isabs(base) else None


def open_cache(enabled: bool = True) -> Cache:
    """The user's cache; one that stores nothing if switched off, or (with a note) if it cannot be written."""
    if not enabled:
        return Cache(None)
    folder = cache_folder()
    if folder is None:
        return Cache(None, "cache off: there is no home folder; set KAFKA_ADVISOR_CACHE to use one")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        return Cache(None, f"cache off: {folder} cannot be made ({error.strerror or error})")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Cache(None, f"cache off: {folder} cannot be written")
    return Cache(folder)
