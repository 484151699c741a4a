"""Every file that is written is written here.

A regular file is replaced whole, by a rename in its folder: whoever reads it sees the old text or the new,
and a full disk or Ctrl-C leaves the old one. It keeps its mode and, where that is allowed, its owner. A link
stays, and what it leads to is replaced. A device, a FIFO and an open descriptor (/dev/stdout) are written to.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from ..model import UsageError


def write_file(path: str, data: bytes | str, only_new: bool = False, sync: bool = False) -> None:
    """`only_new`: a file that is there is left alone. `sync`: on the disk before this returns. UsageError,
    in one line, if it cannot be written."""
    try:
        put_file(path, data, only_new, sync)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None


def reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def put_file(
    path: str, data: bytes | str, only_new: bool = False, sync: bool = False, mode: int | None = None
) -> None:
    """As write_file; OSError if it cannot be written. `mode`: that of a new file."""
    # What no encoding can hold, half of a surrogate pair, is written as its escape.
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None  # nothing there, or a link that leads nowhere yet
    if only_new and (status is not None or os.path.islink(path)):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    if status is None or (stat.S_ISREG(status.st_mode) and not _is_descriptor(path)):
        handle = None if status is None else _own_output(status)
        if handle is None:
            _replace(os.path.realpath(path), content, status, only_new, sync, mode)
            return
    elif stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    else:
        handle = _own_output(status)
    if handle is None:
        # Opening a FIFO waits for its reader, as any command does.
        handle = os.open(path, os.O_WRONLY)
    _write_all(handle, content)


def _is_descriptor(path: str) -> bool:
    """A file that is open already, named as /dev/fd/3 or /proc/self/fd/3."""
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    return folder == "/dev/fd" or (folder.startswith("/proc/") and folder.endswith("/fd"))


def _own_output(status: os.stat_result) -> int | None:
    """Our own stdout or stderr, if the file is that: opened once more it would have a position of its own,
    and one text would cover the other; and what a shell has redirected us to must not be replaced."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if os.path.samestat(os.fstat(number), status):
                if stream is not None:
                    stream.flush()
                return os.dup(number)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
    return None


def _write_all(handle: int, data: bytes) -> None:
    with open(handle, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def _replace(
    path: str,
    data: bytes,
    status: os.stat_result | None,
    only_new: bool,
    sync: bool,
    mode: int | None,
) -> None:
    if os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    if status is not None and not os.access(path, os.W_OK):
        # A rename would not ask.
        raise PermissionError(errno.EACCES, "it is read-only", path)
    # Short, so that a name of full length has room; hidden, so that no reader of a folder takes it for one of
    # its files; random, since process ids repeat across containers that share a folder.
    part = os.path.join(os.path.dirname(path), f".{os.urandom(8).hex()}.part")
    try:
        new = 0o666 if mode is None else mode
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, new if status is None else 0o600)
        with open(handle, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        if status is not None:
            _keep_owner(part, status)
            os.chmod(part, stat.S_IMODE(status.st_mode))
        _rename(part, path, data, only_new)
    finally:
        if os.path.lexists(part):
            os.unlink(part)


def _rename(part: str, path: str, data: bytes, only_new: bool) -> None:
    if only_new:
        try:
            os.link(part, path)
            return
        except FileExistsError:
            raise
        except OSError:
            pass  # a file system without hard links: nobody else is likely to write there in this instant
    try:
        os.replace(part, path)
    except OSError as error:
        # A file that is a mount of its own, as containers have them, cannot be replaced.
        if error.errno not in (errno.EBUSY, errno.EXDEV):
            raise
        _write_all(os.open(path, os.O_WRONLY | os.O_TRUNC), data)


def _keep_owner(path: str, status: os.stat_result) -> None:
    if not hasattr(os, "chown"):
        return
    try:
        os.chown(path, status.st_uid, status.st_gid)
    except OSError:
        return  # only root may give a file away; the mode is kept all the same
