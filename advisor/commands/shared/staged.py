"""What a commit changes besides the files that pre-commit hands over: it never names one that is deleted, and
kafka-advisor.toml speaks of every file of its root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ...read.files import PROJECT_FILE, marked_root


def paths_of_hook(paths: Sequence[str], suffixes: Iterable[str]) -> tuple[str, ...]:
    """The files that were handed over; the whole root instead where a file of it that might be Kafka's is
    deleted, or where its project file changes."""
    ours = tuple(suffixes)
    found = dict.fromkeys(path for path in paths if os.path.basename(path) != PROJECT_FILE)
    changed = [path for path in paths if os.path.basename(path) == PROJECT_FILE]
    deleted = [
        path
        for path in _deleted()
        if os.path.basename(path) == PROJECT_FILE or os.path.basename(path).lower().endswith(ours)
    ]
    for path in (*changed, *deleted):
        folder = os.path.dirname(os.path.abspath(path))
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        found[marked_root(folder) or folder] = None
    return tuple(found)


def files_of_hook(paths: Sequence[str]) -> list[str]:
    """Those that can be changed: without the project file, which is no configuration of Kafka's."""
    return [path for path in paths if os.path.basename(path) != PROJECT_FILE]


def _deleted() -> list[str]:
    """The files that this commit, or this push, deletes; none where git does not say."""
    import subprocess

    refs = [os.environ.get(f"PRE_COMMIT_{name}_REF") for name in ("FROM", "TO")]
    span = [f"{refs[0]}...{refs[1]}"] if all(refs) else ["--cached"]
    words = ["git", "diff", *span, "--name-only", "--no-renames", "--diff-filter=D", "-z", "--relative", "--"]
    try:
        done = subprocess.run(words, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
