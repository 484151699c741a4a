"""What .gitignore names is not audited, by git's own rules: compared with git itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.read.files import find_scope
from advisor.read.git.ignored import fits_word, parse_patterns
from tests.conftest import needs

from .telling import PRODUCER, report_of, statuses


@pytest.fixture(scope="module")
def git():
    return needs("git")


def walked(folder: Path) -> set[str]:
    scope = find_scope([str(folder)])
    return {Path(path).relative_to(folder).as_posix() for one in scope.workspaces for path, _, _ in one.files}


def listed(folder: Path) -> set[str]:
    words = ("ls-files", "--cached", "--others", "--exclude-standard", "-z")
    done = subprocess.run(("git", *words), cwd=folder, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split("\0") if name and not name.startswith(".git/")}


FILES = (
    "a.log",
    "b/a.log",
    "b/c/d.txt",
    "b/c/e/f.txt",
    "g[1].txt",
    "h i.txt",
    "build/x",
    "b/build/y",
    "#z",
    "!w",
)
PATTERNS = st.sampled_from(
    [
        "*.log",
        "!a.log",
        "/a.log",
        "b/",
        "b/*",
        "b/**",
        "**/c",
        "**/c/**",
        "b/**/f.txt",
        "c/d.txt",
        "/b/c",
        "!b/c",
        "/build",
        "build/",
        "d.???",
        "[a-d].log",
        "[!a].log",
        "g\\[1\\].txt",
        "\\#z",
        "\\!w",
        "*.txt",
        "!/b/c/d.txt",
        "#",
        "**",
        "*",
        "!b/",
        "h\\",
        "i.txt",
        "e",
        "**/e/f.txt",
        "!*.log",
    ]
)


@pytest.mark.usefixtures("git")
@given(top=st.lists(PATTERNS, max_size=5), inner=st.lists(PATTERNS, max_size=3))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_as_git_does(tmp_path_factory, top, inner):
    folder = tmp_path_factory.mktemp("repository")
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / ".gitignore").write_text("\n".join(top) + "\n")
    (folder / "b" / ".gitignore").write_text("\n".join(inner) + "\n")
    subprocess.run(("git", "init", "-q"), cwd=folder, check=True)
    assert walked(folder) == listed(folder)


@pytest.mark.usefixtures("git")
@pytest.mark.parametrize("version", ["2", "4"])
def test_what_is_tracked_is_not_ignored(tmp_path, version):
    for name in ("kept/a.properties", "kept/b.properties", "other/c.properties"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PRODUCER)
    (tmp_path / ".gitignore").write_text("*.properties\n")
    for words in (("init", "-q"), ("add", "-f", "kept"), ("update-index", "--index-version", version)):
        subprocess.run(("git", *words), cwd=tmp_path, check=True)
    assert walked(tmp_path) == {".gitignore", "kept/a.properties", "kept/b.properties"} == listed(tmp_path)


def test_build_output_is_not_audited_unless_it_is_named(advisor, tmp_path):
    (tmp_path / "pom.xml").write_text("<project/>")
    for folder in ("src/main/resources", "target/classes"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "producer.properties").write_text(PRODUCER)
    report = report_of(advisor("audit", "--format", "json", "--fail-on", "never", "."), 0)
    assert statuses(report) == {"src/main/resources/producer.properties": "audited"}
    named = "target/classes/producer.properties"
    report = report_of(advisor("audit", "--format", "json", "--fail-on", "never", named), 0)
    assert list(statuses(report).values()) == ["audited"]


def test_a_pattern_costs_no_more_than_its_length():
    assert not fits_word("*a" * 200 + "b", "a" * 20_000)
    assert len(parse_patterns("x\n" * 20_000)) == 5_000
