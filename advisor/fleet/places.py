"""The result folder: on this machine, or on any file system that Spark's Hadoop client reaches."""

from __future__ import annotations

import os
import shutil
from typing import Any, Protocol

from ..model import UsageError


class Place(Protocol):
    """A folder; `path` arguments are relative to it."""

    root: str

    def of(self, path: str) -> str: ...
    def exists(self, path: str) -> bool: ...
    def names(self, path: str) -> list[str]: ...
    def read(self, path: str) -> str | None: ...
    def write(self, path: str, text: str) -> None: ...
    def move(self, old: str, new: str) -> None: ...
    def delete(self, path: str) -> None: ...


def place(spark: Any, out: str) -> Place:
    scheme, colon, rest = out.partition(":")
    if not colon or len(scheme) == 1:
        return LocalPlace(os.path.abspath(out))
    if scheme == "file":
        return LocalPlace(os.path.abspath("/" + rest.lstrip("/")))
    if not hasattr(spark, "sparkContext") or "connect" in type(spark).__module__:
        raise UsageError(f"--out {out}: through Spark Connect the results go to a folder of this machine")
    return HadoopPlace(spark, out)


class LocalPlace:
    def __init__(self, root: str) -> None:
        self.root = root
        try:
            os.makedirs(root, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--out {root}: {(error.strerror or str(error)).lower()}") from None

    def of(self, path: str) -> str:
        return os.path.join(self.root, path)

    def exists(self, path: str) -> bool:
        return os.path.exists(self.of(path))

    def names(self, path: str) -> list[str]:
        return sorted(os.listdir(self.of(path))) if self.exists(path) else []

    def read(self, path: str) -> str | None:
        try:
            with open(self.of(path), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, path: str, text: str) -> None:
        """Readers see the old text or the new, never a part."""
        target = self.of(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        part = f"{target}.{os.urandom(4).hex()}.part"
        with open(part, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(part, target)

    def move(self, old: str, new: str) -> None:
        os.makedirs(os.path.dirname(self.of(new)), exist_ok=True)
        os.replace(self.of(old), self.of(new))

    def delete(self, path: str) -> None:
        target = self.of(path)
        if os.path.isdir(target) and not os.path.islink(target):
            shutil.rmtree(target)
        elif os.path.lexists(target):
            os.unlink(target)


class HadoopPlace:
    """hdfs:, s3a:, abfss: and the like, through the session's own Hadoop client."""

    def __init__(self, spark: Any, root: str) -> None:
        self.root = root.rstrip("/")
        self._jvm = spark.sparkContext._jvm
        configuration = spark.sparkContext._jsc.hadoopConfiguration()
        try:
            self._fs = self._path("").getFileSystem(configuration)
            self._fs.mkdirs(self._path(""))
        except Exception as error:
            raise UsageError(f"--out {root}: {str(error).splitlines()[-1][:200]}") from None

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.of(path))

    def of(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root

    def exists(self, path: str) -> bool:
        return bool(self._fs.exists(self._path(path)))

    def names(self, path: str) -> list[str]:
        if not self.exists(path):
            return []
        return sorted(str(status.getPath().getName()) for status in self._fs.listStatus(self._path(path)))

    def read(self, path: str) -> str | None:
        if not self.exists(path):
            return None
        stream = self._fs.open(self._path(path))
        try:
            data = self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)
        finally:
            stream.close()
        return bytes(data).decode("utf-8")

    def write(self, path: str, text: str) -> None:
        part = self._path(f"{path}.part")
        stream = self._fs.create(part, True)
        try:
            stream.write(bytearray(text.encode("utf-8")))
        finally:
            stream.close()
        self._fs.delete(self._path(path), True)
        self._fs.rename(part, self._path(path))

    def move(self, old: str, new: str) -> None:
        self._fs.mkdirs(self._path(new).getParent())
        if not self._fs.rename(self._path(old), self._path(new)):
            raise UsageError(f"{self.of(old)} cannot be moved to {self.of(new)}")

    def delete(self, path: str) -> None:
        self._fs.delete(self._path(path), True)
