"""Our code on the executors.

A function that Spark sends is read there before anything of ours can be imported, so it is made here by
value:
it holds the sources it needs, unpacks them once per worker machine if they are not installed there, and only
then imports what it is to run.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any

_PACKAGES = ("advisor", "kafka_advisor_plugins", "kafka_advisor_rules")


def bundle(extra: Iterable[str] = ()) -> bytes:
    """Our packages, and the files of --plugin and --rules, as a zip: what a wheel would install."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            spec = find_spec(package)
            assert spec is not None
            for folder in spec.submodule_search_locations or ():
                for path in _files(folder):
                    archive.write(path, os.path.join(package, os.path.relpath(path, folder)))
        for path in extra:
            archive.write(path, os.path.join("given", os.path.basename(path)))
    return data.getvalue()


def _files(folder: str) -> Iterator[str]:
    for home, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith((".py", ".json", ".toml", ".html", ".css", ".js")):
                yield os.path.join(home, name)


def sent(target: str, argument: str, packed: bytes | None) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """`target(batches, argument)` as a function that runs on an executor; `packed` None: ours is installed
    there."""

    def run(batches: Any) -> Any:
        import sys
        from importlib import import_module

        if packed is not None:
            import hashlib
            import os
            import shutil
            import tempfile
            import zipfile
            from io import BytesIO

            name = "kafka-advisor-" + hashlib.sha256(packed).hexdigest()[:16]
            folder = os.path.join(tempfile.gettempdir(), f"{name}-{os.getuid()}")
            if not os.path.isdir(folder):
                # Two workers may do this at once: the first rename wins.
                part = tempfile.mkdtemp(prefix=name)
                zipfile.ZipFile(BytesIO(packed)).extractall(part)
                try:
                    os.rename(part, folder)
                except OSError:
                    shutil.rmtree(part, ignore_errors=True)
            if folder not in sys.path:
                sys.path.insert(0, folder)
        module, _, function = target.partition(":")
        yield from getattr(import_module(module), function)(batches, argument)

    # By value, whatever can be imported where it arrives.
    run.__module__ = "__main__"
    return run
