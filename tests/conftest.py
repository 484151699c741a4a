"""What every test shares: the command run in its own process, and no skipping where CI promised the parts."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Where this project is installed pytest finds it by itself; named here, it is there in a checkout too.
pytest_plugins = ("advisor.testing.fixtures", "pytester")

# Property tests must not fail because the machine is busy.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

ROOT = Path(__file__).resolve().parent.parent


# The longest first, so that nothing long is left over at the end.
LONGEST = ("fleet", "rules", "cli", "sim")


def pytest_collection_modifyitems(items):
    folders = [*LONGEST, *sorted({_folder(item) for item in items} - set(LONGEST))]
    items.sort(key=lambda item: folders.index(_folder(item)))


def pytest_xdist_make_scheduler(config, log):
    """Who runs what: a file's tests share its fixtures and stay together, all of Spark's share one session,
    and tests about the source do not read it while a wheel is built there."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return _group(Path(nodeid.partition("::")[0]).relative_to("tests"))

    return Together(config, log)


def _group(path: Path) -> str:
    if path.parts[0] == "fleet" or path.as_posix() in ("replay/test_replay.py", "replay/test_command.py"):
        return "spark"
    return "tree" if path.parts[0] in ("packaging", "test_house.py") else path.as_posix()


def _folder(item) -> str:
    return item.path.relative_to(ROOT / "tests").parts[0]


@pytest.fixture
def advisor(kafka_advisor):
    """`advisor("audit", "x")` runs the command as a user does and gives the finished process."""
    return kafka_advisor.command


@pytest.fixture
def samples(tmp_path):
    """A copy of samples/ that a test may write to."""
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    return tmp_path / "samples"


def needs(program: str) -> str:
    """The program's path; without it a test is skipped here and fails in CI."""
    # Programs of this very environment count, whether or not it is activated.
    beside = Path(sys.executable).parent / program
    found = str(beside) if beside.exists() else shutil.which(program)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{program} is missing, and CI must have it")
        pytest.skip(f"{program} is not installed")
    return found
