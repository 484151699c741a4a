"""A Spark session of our own: quiet, and a sentence instead of a traceback where it cannot start."""

from __future__ import annotations

import atexit
import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..model import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ATTEMPTS = 4
_INSTALL = "pip install 'kafka-advisor[spark]'"
_JAVA = "install Java 17 (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
WORKERS_NEED = "Python 3.11, pyarrow, pandas and the dependencies of kafka-advisor"
# What the plan counts on; a session of the user's own is given them for the run and gets its own back.
NEEDED = {
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "5000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
}


# For big expressions over few rows: to generate and compile code for them costs more than it saves.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def check_installed(remote: bool) -> None:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise UsageError(f"a fleet is audited on Spark, which is not installed: {_INSTALL}") from None
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if not remote and (java is None or not os.path.exists(java)):
        raise UsageError(f"Spark needs Java, and there is none here: {_JAVA}")


def open_session(master: str | None, remote: str | None, conf: dict[str, str]) -> SparkSession:
    check_installed(remote is not None and not remote.startswith("local"))
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        master = None  # started by spark-submit, whose own --master counts
    builder: Any = SparkSession.builder.appName("kafka-advisor fleet")
    if remote is not None:
        builder = builder.remote(remote)
    elif master is not None:
        if master.startswith("local-cluster"):
            import pyspark

            os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
            if "SPARK_WORKER_DIR" not in os.environ:
                # Else the executors' logs land in the installed package.
                logs = os.environ["SPARK_WORKER_DIR"] = tempfile.mkdtemp(prefix="kafka-advisor-workers-")
                atexit.register(shutil.rmtree, logs, ignore_errors=True)
        builder = builder.master(_patient(master))
    quiet = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "8",
        "spark.driver.host": "127.0.0.1" if (master or "").startswith("local") else None,
        "spark.driver.bindAddress": "127.0.0.1" if (master or "").startswith("local") else None,
        "spark.driver.memory": "3g" if (master or "").startswith("local") else None,
    }
    for name, value in ({**quiet, **conf} if remote is None else conf).items():
        if value is not None:
            builder = builder.config(name, value)
    try:
        with _stderr_aside():
            session: SparkSession = builder.getOrCreate()
            session.range(1).count()
            return session
    except Exception as error:
        raise UsageError(f"Spark cannot start on {remote or master}: {_start_words(error)}") from None


def _start_words(error: Exception) -> str:
    """A master that does not answer ends the session before anything runs on it."""
    said = spark_words(error)
    gone = ("stopped SparkContext", "SparkContext has been shut down", "SparkContext was shut down", "null")
    if any(word in str(error) for word in gone[:3]) or said == gone[3]:
        return "nobody answers there"
    return said


def _patient(master: str) -> str:
    """In one process Spark gives up at the first task that fails; a Python worker that is killed is no reason
    to."""
    found = re.fullmatch(r"local(?:\[([0-9]+|\*)\])?", master.strip())
    return f"local[{found.group(1) or 1},{_ATTEMPTS}]" if found else master


def quiet_interrupts() -> None:
    """Ctrl-C as in any command: pyspark's own handler talks to Java in the middle of another talk, and what
    breaks then is logged with a traceback. Stopping the session ends its jobs."""
    import logging
    import signal

    from pyspark import accumulators

    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Python's own server would print a traceback when the Java process at its other end is gone.
    accumulators.AccumulatorTCPServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    logging.disable(logging.CRITICAL)


def spark_words(error: Exception) -> str:
    """What Spark or Java said, in a line: no error class, no state, no stack."""
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    # What is thrown in Java comes after a line about the call.
    said = next((line[2:] for line in lines if line.startswith(": ")), lines[0])
    said = re.sub(
        r"^\[[A-Z_0-9.]+\] |^(?:(?:[\w$]+\.)+[\w$]+(?:Exception|Error): )+| SQLSTATE: \w+", "", said
    )
    return said.removesuffix(".")[:300]


_GOES_ON = "--resume takes up the steps that are finished"
# What the JVM or its absence says -> what it means.
_CAUSES = {
    "No space left on device": "a disk is full: free some space, or name another for Spark's own files "
    f"(--conf spark.local.dir=DIR); then {_GOES_ON}",
    "Python worker exited unexpectedly": "a Python worker was killed again and again, which is how the "
    f"system ends one that needs too much memory: --master 'local[1]' runs one at a time; {_GOES_ON}",
    "OutOfMemoryError": f"Spark ran out of memory: --conf spark.driver.memory=6g gives it more; {_GOES_ON}",
    "ExecutorLostFailure": f"executors were lost again and again; {_GOES_ON}",
    "SparkContext was shut down": f"Spark was stopped, or lost its master; {_GOES_ON}",
}
_NO_JVM = (
    "Spark's Java process ended: it was killed, which is how the system ends one that needs too much memory; "
    f"{_GOES_ON}"
)


def is_jvm_gone(error: BaseException) -> bool:
    text = str(error)
    return (
        isinstance(error, ConnectionError)
        or type(error).__name__ == "Py4JNetworkError"
        or "Answer from Java side is empty" in text
        or "Error while sending or receiving" in text
    )


def failed_words(error: Exception) -> str:
    """Of a job that failed: what the worker's Python said last, else what Spark said."""
    text = str(error)
    if is_jvm_gone(error):
        return _NO_JVM
    for mark, meaning in _CAUSES.items():
        if mark in text:
            return meaning
    _, found, traceback = text.rpartition("Traceback (most recent call last):")
    for line in traceback.splitlines() if found else ():
        missing = re.match(r"ModuleNotFoundError: No module named '([\w.]+)'", line)
        if missing is not None:
            return f"the executors' Python has no {missing.group(1)}; they need {WORKERS_NEED}"
        if re.match(r"[\w.]+(?:Error|Exception|Interrupt)?: ", line):
            return f"a worker failed: {line[:300]}"
    return f"the Spark job failed: {spark_words(error)}"


@contextmanager
def failures_told() -> Iterator[None]:
    """A job that fails is told in a line; a mistake of ours is not."""
    try:
        yield
    except Exception as error:
        ours = type(error).__module__.partition(".")[0] in ("pyspark", "py4j", "grpc")
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        if ours or full or is_jvm_gone(error):
            raise UsageError(failed_words(error)) from None
        raise


def stop(spark: SparkSession) -> None:
    """The end of a session; one whose Java process is gone has ended already."""
    with suppress(Exception):
        spark.stop()


class _stderr_aside:
    """The JVM greets on the process's own stderr before any log level counts."""

    def __enter__(self) -> None:
        sys.stderr.flush()
        self._kept = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)

    def __exit__(self, *_: object) -> None:
        os.dup2(self._kept, 2)
        os.close(self._kept)


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """The session's settings changed for a while; it gets its own back."""
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, kept in before.items():
            if kept is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, kept)


def is_connect(spark: SparkSession) -> bool:
    return "connect" in type(spark).__module__


def is_local(spark: SparkSession) -> bool:
    """Workers are processes of this machine, in this environment: nothing needs shipping. Of a Connect server
    that cannot be known, whatever its master is called."""
    if is_connect(spark):
        return False
    try:
        master = spark.conf.get("spark.master", "") or ""
    except Exception:
        return False
    return master.startswith("local") and not master.startswith("local-cluster")
