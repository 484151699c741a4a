"""A cache of small JSON files, outside the audited tree.

It only ever saves work: a missing entry is made anew, so is a damaged or foreign one, which its checksum
betrays, a failed write switches the cache off, and nothing a run reports depends on it. JSON, never pickle:
reading it runs no code.
"""

from __future__ import annotations

import os

from .digests import digest as digest
from .digests import recalled_digest
from .sweep import PROGRAM_FOLDER, mark_used, sweep

# What is known of the program itself, by the stamp of its files; all else is kept by its digest.
_OF_ALL = f"{PROGRAM_FOLDER}stamps"


class Cache:
    """Values by kind and key, for this program alone; without a folder it stores and finds nothing.

    `note` is a sentence for the user if the cache was wanted and could not be had.
    """

    __slots__ = ("_program", "folder", "note")

    def __init__(self, folder: str | None, note: str | None = None) -> None:
        self.folder = folder
        self.note = note
        self._program: str | None = None

    def get(self, kind: str, key: str) -> object | None:
        """The stored value, or None if there is none that can be trusted."""
        return None if self.folder is None else self._get(self._path(self._own(), kind, key), kind, key)

    def put(self, kind: str, key: str, value: object) -> None:
        """Keep `value`, which must be JSON. Readers see the old entry or the new one, never a part."""
        if self.folder is not None:
            self._put(self._path(self._own(), kind, key), kind, key, value)

    def _own(self) -> str:
        """The folder of this program."""
        if self._program is None:
            made = recalled_digest(
                lambda stamp: self._get(self._path(_OF_ALL, "program", stamp), "program", stamp),
                lambda stamp, name: self._put(self._path(_OF_ALL, "program", stamp), "program", stamp, name),
            )
            self._program = f"{PROGRAM_FOLDER}{made}"
        return self._program

    def _get(self, path: str, kind: str, key: str) -> object | None:
        import json
        from time import time

        try:
            with open(path, "rb") as file:
                data = file.read()
                modified = os.fstat(file.fileno()).st_mtime
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
                    mark_used(path, modified, time())
                    return value
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        try:
            os.unlink(path)
        except OSError:
            pass
        return None

    def _put(self, path: str, kind: str, key: str, value: object) -> None:
        if self.folder is None:
            return
        import json

        from ..output.files import put_file

        text = json.dumps({"for": [kind, key], "value": value}, separators=(",", ":")).encode("ascii")
        said = digest(text)
        try:
            home = os.path.dirname(path)
            new = not os.path.isdir(home)
            os.makedirs(home, mode=0o700, exist_ok=True)
            put_file(path, said.encode("ascii") + b"\n" + text, mode=0o600)
        except OSError as error:
            self.note = f"cache off: {path} cannot be written ({error.strerror or error})"
            self.folder = None
            return
        # A new program leaves an old one behind; else one write in 256 looks how much there is: chosen by its
        # sum and not by chance, so that two equal runs do the same.
        if self._program is not None and (new or said.startswith("00")):
            from time import time

            sweep(self.folder, self._program, time())

    def _path(self, program: str, kind: str, key: str) -> str:
        # A write that failed while the program was named has switched the cache off.
        folder = self.folder or os.devnull
        # A key may be any text; a file name may not.
        plain = key.isascii() and key.isalnum() and key.islower() and len(key) <= 64
        name = key if plain else "-" + digest(key.encode("utf-8", "surrogatepass"))
        return os.path.join(folder, program, kind, f"{name}.json")


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
