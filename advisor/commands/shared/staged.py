"""What a commit changes besides the files that pre-commit hands over: it never names one that is deleted, and
kafka-advisor.toml speaks of every file of its root."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ...read.files import BYTES_MAX, PROJECT_FILE, marked_root
from ...read.load import by_suffix, is_marked
from ...registry import Registry
from ...syntax.numbers import integer


def paths_of_hook(paths: Sequence[str], registry: Registry) -> tuple[str, ...]:
    """The files that were handed over; the whole root instead where a file of it that might be Kafka's is
    deleted, or where its project file changes."""
    found = dict.fromkeys(path for path in paths if os.path.basename(path) != PROJECT_FILE)
    changed = [path for path in paths if os.path.basename(path) == PROJECT_FILE]
    for path in (*changed, *_ours(_deleted(), registry)):
        folder = os.path.dirname(os.path.abspath(path))
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        found[marked_root(folder) or folder] = None
    return tuple(found)


def files_of_hook(paths: Sequence[str]) -> list[str]:
    """Those that can be changed: without the project file, which is no configuration of Kafka's."""
    return [path for path in paths if os.path.basename(path) != PROJECT_FILE]


def _deleted() -> Iterator[tuple[str, str]]:
    """(path, blob) of what this commit, or this push, deletes; nothing where git does not say."""
    import subprocess

    refs = [os.environ.get(f"PRE_COMMIT_{name}_REF") for name in ("FROM", "TO")]
    span = [f"{refs[0]}...{refs[1]}"] if all(refs) else ["--cached"]
    shape = ["--raw", "--no-abbrev", "--no-renames", "--diff-filter=D", "-z", "--relative"]
    try:
        done = subprocess.run(["git", "diff", *span, *shape, "--"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return
    told = done.stdout.split(b"\0")
    for head, name in zip(told[::2], told[1::2], strict=False):
        yield os.fsdecode(name), head.decode().split()[2]


def _ours(deleted: Iterator[tuple[str, str]], registry: Registry) -> Iterator[str]:
    """Those that might be Kafka's: by the name alone where a format is offered every file of that name; else
    by what they held, since most texts and scripts are not."""
    doubtful: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for path, blob in deleted:
        base = os.path.basename(path)
        offered = by_suffix(base.lower(), registry)
        if base == PROJECT_FILE or any(not spec.markers for spec in offered):
            yield path
        elif offered:
            markers = tuple(marker for spec in offered for marker in spec.markers)
            doubtful.setdefault(blob, []).append((path, markers))
    for blob, data in _held(list(doubtful)):
        for path, markers in doubtful[blob]:
            if data is None or is_marked(data, markers):
                yield path


def _held(blobs: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    """What each blob held, of a large one the beginning; None where this clone has no copy."""
    import subprocess

    if not blobs:
        return
    words = ["git", "cat-file", "--batch"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        for blob in blobs:
            git.stdin.write(f"{blob}\n".encode())
            git.stdin.flush()
            size = integer(git.stdout.readline().decode().rpartition(" ")[2].rstrip("\n"), (0, 2**63))
            if size is None:
                yield blob, None
                continue
            # With the line end that follows.
            left = size + 1
            data = git.stdout.read(min(left, BYTES_MAX))
            left -= len(data)
            while left and (more := git.stdout.read(min(left, BYTES_MAX))):
                left -= len(more)
            yield blob, data
