"""The files of a commit, written into a folder to be audited as they were: `--diff-base REF`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence

from ...model import UsageError
from ...output.files import write_file
from ...read.files import BYTES_MAX, PROJECT_FILE
from ...syntax.numbers import integer

_REGULAR = ("100644", "100755")
_READ_BY_NAME = (PROJECT_FILE, "CODEOWNERS", ".gitignore")


def repository_of(path: str) -> str:
    """The folder of the repository that a path lies in."""
    folder = os.path.abspath(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        raise UsageError(f"--diff-base: {path} lies in no git repository")
    return os.path.realpath(top.rstrip("\n"))


def commit_of(repository: str, ref: str) -> str:
    """The commit where the work at hand left `ref`; `ref` itself where they have none in common."""
    named = _git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if named is None:
        hint = "; fetch it first: a checkout of CI often has one commit only"
        raise UsageError(f"--diff-base {ref}: no such commit, branch or tag here{hint}")
    return (_git(repository, "merge-base", named.strip(), "HEAD") or named).strip()


def write_commit(repository: str, commit: str, suffixes: Iterable[str], folder: str) -> None:
    """The files of the commit that might be Kafka's; links and submodules are left out."""
    listed = list(_listed(repository, commit, tuple(suffixes)))
    # A repository of its own, so that the audit finds the same root.
    os.makedirs(os.path.join(folder, ".git"))
    contents = _contents(repository, [blob for blob, _ in listed])
    for (_, name), data in zip(listed, contents, strict=True):
        path = os.path.join(folder, name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            raise UsageError(f"--diff-base: {name}: {error.strerror or error}") from None
        write_file(path, data)


def _listed(repository: str, commit: str, suffixes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(blob, path)"""
    listing = _git(repository, "ls-tree", "-r", "-z", "--long", "--full-tree", commit)
    if listing is None:
        raise UsageError(f"--diff-base: git cannot list the files of {commit}")
    for line in listing.split("\0"):
        head, tab, path = line.partition("\t")
        if not tab:
            continue
        mode, _, blob, size = head.split()
        base = os.path.basename(path)
        wanted = base.lower().endswith(suffixes) or base in _READ_BY_NAME
        # git makes no such name, but a repository is somebody else's.
        safe = not os.path.isabs(path) and {"..", ".git"}.isdisjoint(path.lower().split("/"))
        if mode in _REGULAR and wanted and safe and integer(size, (0, BYTES_MAX)) is not None:
            yield blob, path


def _contents(repository: str, blobs: Sequence[str]) -> Iterator[bytes]:
    """One after the other, so that a large repository is never in memory whole."""
    words = ["git", "-C", repository, "cat-file", "--batch"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        for blob in blobs:
            git.stdin.write(f"{blob}\n".encode())
            git.stdin.flush()
            size = integer(git.stdout.readline().decode().rpartition(" ")[2].rstrip("\n"), (0, BYTES_MAX))
            if size is None:
                raise UsageError(f"--diff-base: git has no copy of {blob}; fetch it first")
            yield git.stdout.read(size)
            git.stdout.read(1)


def _git(folder: str, *words: str) -> str | None:
    """What git answers; None if it refuses."""
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, check=False)
    except OSError as error:
        raise UsageError(f"--diff-base needs git: {error.strerror or error}") from None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None
