"""What holds for every input format: golden cases, marks that say whose a file is, secrets kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.model import LoadError, Secret, Source
from advisor.registry import function, load_registry
from tests.formats import runner

SPECS = {spec.name: spec for spec in load_registry().formats}
CASES = [(name, case) for name in SPECS for case in runner.cases(name)]
# Formats with tests of their own besides, which look at their golden cases too.
OWN_TESTS = {"compose", "envfile", "kubernetes", "properties", "spring", "strimzi"}


def case_id(value: object) -> str:
    return value.name if isinstance(value, Path) else str(value)


@pytest.mark.parametrize(("name", "case"), [pair for pair in CASES if pair[0] not in OWN_TESTS], ids=case_id)
def test_case(name: str, case: Path) -> None:
    runner.check(case, *runner.code_of(name))


# Cases of these try names that are offered to a format only if the user names the file.
NAMED_ALONE = {"properties"}


@pytest.mark.parametrize(("name", "case"), CASES, ids=case_id)
def test_a_file_that_is_claimed_is_one_that_is_offered(name: str, case: Path) -> None:
    spec = SPECS[name]
    claim = function(spec.claim, "claim")
    for file, text in inputs(case):
        base = file.rpartition("/")[2].lower()
        if name not in NAMED_ALONE and claim(base, text):
            assert base.endswith(spec.suffixes)
            assert not spec.markers or any(marker in text for marker in spec.markers)


def inputs(case: Path) -> list[tuple[str, str]]:
    files = sorted(path for path in case.rglob("*") if path.is_file() and path.name != runner.EXPECTED)
    return [(path.relative_to(case).as_posix(), path.read_bytes().decode()) for path in files]


@pytest.mark.parametrize("name", sorted(SPECS))
@pytest.mark.parametrize(
    "text", ["", "\n", "{", "}", "[", '"', "\x00", "- " * 50, "a: b", "=", "\ufeff", "é" * 9]
)
def test_what_is_nobodys_is_refused_quietly(name: str, text: str) -> None:
    load, claim = runner.code_of(name)
    for file in SPECS[name].suffixes:
        if claim(f"x{file}", text):
            try:
                load(Source(f"x{file}", text, lambda _: None))
            except LoadError:
                continue


def test_secrets_stay_secrets() -> None:
    """Whatever the format, a password that is written is wrapped."""
    for name, case in CASES:
        load, claim = runner.code_of(name)
        for file, text in inputs(case):
            if "hunter2" in text and claim(file, text):
                for document in load(runner.source(case, file)).documents:
                    shown = [str(one.value) for one in document.settings] + [
                        str(one) for one in document.facts
                    ]
                    shown += [str(one.value) + one.detail for one in document.dropped] + [document.name]
                    assert not any("hunter2" in one for one in shown)
                    assert all(
                        isinstance(one.value, Secret) for one in document.settings if "password" in one.key
                    )
