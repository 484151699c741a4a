"""Kafka's own jars: those of KAFKA_HOME, or fetched once by Maven into the user's cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from ...catalog import resolve_version
from ...model import UsageError

# The first release whose brokers need no ZooKeeper in production (KIP-833).
OLDEST = (3, 3)
_FETCH_SECONDS = 900
_DRIVER = Path(__file__).parent / "Driver.java"
# Some Java runtimes have the compiler, but no command for it.
_JAVAC = ("java", "-m", "jdk.compiler/com.sun.tools.javac.Main")
_POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>advisor</groupId><artifactId>throw-away</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>VERSION</version>
</dependency></dependencies></project>"""


def release_of(version: str) -> str:
    """4.3 is played on 4.3.1; a release that is named in full is taken as it is."""
    found = resolve_version(version)
    if found.number < OLDEST:
        raise UsageError(f"Kafka {version} needs ZooKeeper: real runs are played on 3.3 and newer")
    return version if version.count(".") > 1 else found.release


def find_jars(version: str, fetch: bool, progress: Callable[[str], None] = lambda text: None) -> Path:
    """The folder of the jars of a release."""
    release = release_of(version)
    home = os.environ.get("KAFKA_HOME")
    if home:
        return _of_home(Path(home), release)
    kept = _cache() / f"kafka-{release}"
    if (kept / "whole").exists():
        return kept
    if not fetch:
        raise UsageError(
            f"Kafka {release} is not here: set KAFKA_HOME to an unpacked Kafka, or let Maven fetch it "
            "with --fetch"
        )
    progress(f"fetching Kafka {release}")
    _fetch(release, kept)
    return kept


def _of_home(home: Path, release: str) -> Path:
    found = sorted((home / "libs").glob("kafka-clients-*.jar"))
    if not found:
        raise UsageError(f"KAFKA_HOME={home}: there is no libs/kafka-clients-*.jar in it")
    match = re.search(r"clients-(\d+\.\d+)", found[0].name)
    if match is None or match[1] != ".".join(release.split(".")[:2]):
        raise UsageError(f"KAFKA_HOME has {found[0].name}, but Kafka {release} is wanted")
    return home / "libs"


def _fetch(release: str, kept: Path) -> None:
    if shutil.which("mvn") is None:
        raise UsageError("--fetch needs Maven (mvn) on the PATH")
    with tempfile.TemporaryDirectory(prefix="kafka-advisor-") as folder:
        Path(folder, "pom.xml").write_text(_POM.replace("VERSION", release))
        words = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={kept}"]
        done = subprocess.run(
            words, cwd=folder, timeout=_FETCH_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    if done.returncode:
        said = [line for line in done.stdout.decode(errors="replace").splitlines() if "ERROR" in line]
        raise UsageError(f"Maven could not fetch Kafka {release}: {said[0] if said else 'no reason given'}")
    (kept / "whole").touch()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafka-advisor-real"


def classpath(jars: Path) -> str:
    """Of the jars and of the client driver, which is compiled against them once."""
    source = _DRIVER.read_bytes()
    mark = sha256(source + str(jars).encode()).hexdigest()[:16]
    made = _cache() / f"driver-{mark}"
    if not (made / "Driver.class").exists():
        if shutil.which("java") is None:
            raise UsageError("Java is needed: there is no java on the PATH")
        made.parent.mkdir(parents=True, exist_ok=True)
        # Made beside its place and moved, so that two runs at once do not see half of it.
        with tempfile.TemporaryDirectory(dir=made.parent) as folder:
            every = os.pathsep.join(map(str, sorted(jars.glob("*.jar"))))
            words = [*_JAVAC, "-proc:none", "-cp", every, "-d", f"{folder}/out", str(_DRIVER)]
            done = subprocess.run(words, capture_output=True, text=True, timeout=300)
            if done.returncode:
                raise UsageError(
                    f"the client driver does not compile with {jars}: {done.stderr.strip()[:300]}"
                )
            try:
                os.rename(f"{folder}/out", made)
            except OSError:
                if not (made / "Driver.class").exists():
                    raise
    return f"{made}{os.pathsep}{jars}/*"
