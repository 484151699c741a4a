"""The result folder: on this machine, or on any file system that Spark's Hadoop client reaches."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..model import UsageError
from ..output.files import reason, write_file
from .session import is_connect, is_local, spark_words


class Place(ABC):
    """A folder; `path` arguments are relative to it. What is written over is seen whole, old or new."""

    root: str

    @abstractmethod
    def of(self, path: str) -> str: ...

    @abstractmethod
    def url(self, path: str) -> str:
        """As Spark is told, whatever its default file system is."""

    @abstractmethod
    def exists(self, path: str) -> bool: ...

    @abstractmethod
    def names(self, path: str) -> list[str]: ...

    @abstractmethod
    def read_bytes(self, path: str) -> bytes | None: ...

    @abstractmethod
    def write_bytes(self, path: str, data: bytes) -> None: ...

    @abstractmethod
    def move(self, old: str, new: str) -> None: ...

    @abstractmethod
    def delete(self, path: str) -> None: ...

    def rows(self, path: str) -> int | None:
        """Of a parquet table, if that costs nothing."""
        return None

    def alone(self, take_over: bool = False) -> AbstractContextManager[None]:
        """Nobody else's run writes here meanwhile, as far as that can be known. `take_over` the place of a
        run that was killed."""
        return nullcontext()

    def read(self, path: str) -> str | None:
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8")

    def write(self, path: str, text: str) -> None:
        self.write_bytes(path, text.encode("utf-8"))


def place(spark: Any, out: str) -> Place:
    """A name without a scheme is what Hadoop takes it for; `file:` is this machine, if Spark's machines see
    the same there."""
    scheme, colon, rest = out.partition(":")
    if scheme == "file" and colon:
        return _seen(spark, LocalPlace(os.path.abspath("/" + rest.lstrip("/"))))
    named = bool(colon) and len(scheme) > 1
    if is_connect(spark):
        if named:
            raise UsageError(f"--out {out}: through Spark Connect the results go to a folder of this machine")
        return _seen(spark, LocalPlace(os.path.abspath(out)))
    if named:
        return HadoopPlace(spark, out)
    files = spark.sparkContext._jvm.org.apache.hadoop.fs.FileSystem
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    if str(files.getDefaultUri(conf).getScheme()) == "file":
        return _seen(spark, LocalPlace(os.path.abspath(out)))
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(out)
    return HadoopPlace(spark, str(path.getFileSystem(conf).makeQualified(path).toString()))


def _seen(spark: Any, here: LocalPlace) -> LocalPlace:
    """Refused unless Spark's machines see what this one writes there."""
    if is_local(spark):
        return here
    # No dot before the name: Spark passes over hidden files.
    name, token = f"seen-{os.urandom(4).hex()}", os.urandom(8).hex()
    here.write(name, token)
    try:
        found = [row[0] for row in spark.read.text(here.url(name)).collect()]
    except Exception:
        found = []
    finally:
        here.delete(name)
    if found != [token]:
        raise UsageError(
            f"--out {here.root}: Spark's machines do not see this folder; name one that they and this "
            "machine see (a shared mount, hdfs:, s3a:)"
        )
    return here


class LocalPlace(Place):
    def __init__(self, root: str) -> None:
        self.root = root
        try:
            os.makedirs(root, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--out {root}: {reason(error)}") from None

    def of(self, path: str) -> str:
        return os.path.join(self.root, path)

    def url(self, path: str) -> str:
        return f"file:{self.of(path)}"

    def exists(self, path: str) -> bool:
        return os.path.exists(self.of(path))

    def names(self, path: str) -> list[str]:
        return sorted(os.listdir(self.of(path))) if self.exists(path) else []

    def read_bytes(self, path: str) -> bytes | None:
        try:
            with open(self.of(path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write_bytes(self, path: str, data: bytes) -> None:
        target = self.of(path)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
        except OSError as error:
            raise UsageError(f"{target}: {reason(error)}") from None
        write_file(target, data)

    def rows(self, path: str) -> int | None:
        from pyarrow.parquet import ParquetFile

        parts = [name for name in self.names(path) if name.endswith(".parquet")]
        return sum(int(ParquetFile(self.of(f"{path}/{name}")).metadata.num_rows) for name in parts)

    @contextmanager
    def alone(self, take_over: bool = False) -> Iterator[None]:
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock
        except ImportError:  # Windows
            yield
            return
        try:
            lock = open(self.of(".lock"), "w")  # noqa: SIM115
        except OSError as error:
            raise UsageError(f"--out {self.root}: {reason(error)}") from None
        with lock as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"--out {self.root}: another run is writing there") from None
            yield

    def move(self, old: str, new: str) -> None:
        os.makedirs(os.path.dirname(self.of(new)), exist_ok=True)
        os.replace(self.of(old), self.of(new))

    def delete(self, path: str) -> None:
        target = self.of(path)
        if os.path.isdir(target) and not os.path.islink(target):
            shutil.rmtree(target)
        elif os.path.lexists(target):
            os.unlink(target)


# A file here appears when it is closed, whole, and a rename is a copy.
_LOCK = ".lock"
_OBJECT_STORES = ("s3", "s3a", "s3n", "gs", "oss", "cosn", "obs", "swift")


class HadoopPlace(Place):
    """hdfs:, s3a:, abfss: and the like, through the session's own Hadoop client."""

    def __init__(self, spark: Any, root: str) -> None:
        self.root = root.rstrip("/")
        self._jvm = spark.sparkContext._jvm
        self._gateway = spark.sparkContext._gateway
        self._configuration = spark.sparkContext._jsc.hadoopConfiguration()
        try:
            self._fs = self._path("").getFileSystem(self._configuration)
            self._fs.mkdirs(self._path(""))
        except Exception as error:
            raise UsageError(f"--out {root}: {spark_words(error)}") from None

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.of(path))

    def of(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root

    def url(self, path: str) -> str:
        return self.of(path)

    @contextmanager
    def alone(self, take_over: bool = False) -> Iterator[None]:
        """A file that nobody may make twice; who is killed leaves it behind."""
        if take_over:
            self.delete(_LOCK)
        try:
            self._fs.create(self._path(_LOCK), False).close()
        except Exception as error:
            if not self.exists(_LOCK):
                raise UsageError(f"--out {self.root}: {spark_words(error)}") from None
            raise UsageError(
                f"--out {self.root}: another run is writing there, or was killed: --resume takes its place"
            ) from None
        try:
            yield
        finally:
            self.delete(_LOCK)

    def exists(self, path: str) -> bool:
        return bool(self._fs.exists(self._path(path)))

    def names(self, path: str) -> list[str]:
        if not self.exists(path):
            return []
        return sorted(str(status.getPath().getName()) for status in self._fs.listStatus(self._path(path)))

    def read_bytes(self, path: str) -> bytes | None:
        if not self.exists(path):
            return None
        stream = self._fs.open(self._path(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write_bytes(self, path: str, data: bytes) -> None:
        whole = self.root.partition(":")[0] in _OBJECT_STORES
        part = path if whole else _part(path)
        stream = self._fs.create(self._path(part), True)
        try:
            stream.write(bytearray(data))
        finally:
            stream.close()
        if not whole:
            self._replace(part, path)

    def _replace(self, old: str, new: str) -> None:
        """One step in HDFS and its like; what has no such step has a moment without the file."""
        option = self._jvm.org.apache.hadoop.fs.Options.Rename
        over = self._gateway.new_array(option, 1)
        over[0] = option.OVERWRITE
        try:
            context = self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(
                self._fs.getUri(), self._configuration
            )
            context.rename(self._path(old), self._path(new), over)
        except Exception as error:
            if "UnsupportedFileSystem" not in str(error):
                raise
            self.delete(new)
            self.move(old, new)

    def move(self, old: str, new: str) -> None:
        self._fs.mkdirs(self._path(new).getParent())
        if not self._fs.rename(self._path(old), self._path(new)):
            raise UsageError(f"{self.of(old)} cannot be moved to {self.of(new)}")

    def delete(self, path: str) -> None:
        self._fs.delete(self._path(path), True)


def _part(path: str) -> str:
    """Hidden, so that no reader of a table takes it for a part of it."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.{os.urandom(4).hex()}.part"
