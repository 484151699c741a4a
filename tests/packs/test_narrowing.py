"""Packs that build on packs: what is extended counts, what is narrowed is as the pack wants it."""

import os
from pathlib import Path

import pytest

from advisor.memo.cache import Cache
from advisor.model import UsageError
from advisor.packs.pack import Rule, load_packs
from advisor.registry import load_registry
from advisor.testing import audit_paths

SPECS = load_registry().packs
OFF = Cache(None)
RULE = """
[[rule]]
code = "ORG001"
name = "short-retention"
severity = "note"
message = "short"
why = "A test."
params = { limit_ms = 1000 }
when = { key = "topic.retention.ms", lt = "{param.limit_ms}" }
"""


def pack(folder: Path, name: str, text: str = "", extends: str = "") -> str:
    head = f'[pack]\nname = "{name}"\nschema = 1\nprefix = "{name.upper()}"\n'
    path = folder / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + (f"extends = {extends}\n" if extends else "") + text)
    return str(path)


def loaded(*files: str, cache: Cache = OFF) -> dict[str, Rule]:
    return {rule.code: rule for rule in load_packs(SPECS, files, cache)}


def test_severity_params_and_profiles_of_a_built_in_rule(tmp_path: Path) -> None:
    text = """
    [narrow.KA431]
    severity = "error"
    params = { limit_ms = 5000 }
    profiles = ["prod"]

    [narrow.keys-scattered]
    severity = "off"
    """
    file = pack(tmp_path, "org", text)
    plain, narrowed = loaded(), loaded(file)
    rule = narrowed["KA431"]
    assert (rule.severity, rule.params["limit_ms"], rule.profiles) == ("error", 5000, ("prod",))
    assert {**plain["KA431"].params, "limit_ms": 5000} == rule.params
    assert plain["KA303"].enabled
    assert not narrowed["KA303"].enabled
    changed = {code for code, rule in narrowed.items() if rule != plain[code]}
    assert changed == {"KA431", "KA303"}


def test_it_counts_in_an_audit_and_the_project_file_has_the_last_word(tmp_path: Path) -> None:
    file = pack(tmp_path / "packs", "org", '[narrow.KA012]\nseverity = "note"\n')
    home = tmp_path / "home"
    home.mkdir()
    (home / "producer.properties").write_text("bootstrap.servers=a:1\nlinger.ms=2s\n")

    def severity() -> dict[str, str]:
        report = audit_paths([str(home)], rules=[file], profile="prod", select=["KA012"])
        return {one["code"]: one["severity"] for one in report["findings"]}

    assert severity() == {"KA012": "note"}
    (home / "kafka-advisor.toml").write_text('[severity]\nKA012 = "warning"\n')
    assert severity() == {"KA012": "warning"}


def test_what_is_extended_counts_and_can_be_narrowed_further(tmp_path: Path) -> None:
    pack(tmp_path / "base", "org", RULE + "[narrow.KA431]\nparams = { limit_ms = 5000 }\n")
    text = '[narrow.KA431]\nparams = { limit_ms = 4000 }\n[narrow.ORG001]\nseverity = "error"\n'
    team = pack(tmp_path, "team", text, extends='["base/org.toml", "durability"]')
    rules = loaded(team)
    assert rules["KA431"].params["limit_ms"] == 4000
    assert rules["ORG001"].severity == "error"
    assert rules["ORG001"].at.file == os.path.join(str(tmp_path), "base/org.toml")
    # Named beside the one that extends it, it is the same pack, not another.
    assert loaded(team, str(tmp_path / "base/org.toml")) == rules
    cache = Cache(str(tmp_path / "cache"))
    assert loaded(team, cache=cache) == loaded(team, cache=cache) == rules


def test_a_pack_that_was_sent_along_is_found_by_its_name(tmp_path: Path) -> None:
    """On a machine of a fleet all files given lie in one folder."""
    team = pack(tmp_path, "team", extends='["base/org.toml"]')
    org = pack(tmp_path, "org", RULE)
    assert "ORG001" in loaded(team, org)


@pytest.mark.parametrize(
    ("text", "extends", "says"),
    [
        ('[narrow.KA4311]\nseverity = "note"', "", "team.toml:5: narrow: no rule is called 'KA4311'"),
        ('[narrow.key-scattered]\nseverity = "note"', "", "did you mean 'keys-scattered'?"),
        ('[narrow.KA101]\nseverity = "fatal"', "", "team.toml:6: narrow.KA101.severity: 'fatal' is not"),
        ('[narrow.KA101]\nmessage = "x"', "", "narrow.KA101.message: unknown field"),
        ("[narrow.KA101]\n", "", "team.toml:5: narrow.KA101: must not be empty"),
        ("[narrow.ORG001]\nparams = { limit = 3 }", '["org.toml"]', "has no parameter 'limit' (it has"),
        ("", '["durabilty"]', "which no plugin gives; did you mean 'durability'?"),
        ("", '["gone.toml"]', "gone.toml cannot be read"),
        ("", '["../org.toml"]', "which is not in the folder of this pack"),
        ("", '["/etc/org.toml"]', "which is not in the folder of this pack"),
        ("", '["team.toml"]', "extends itself"),
        ("", "[]", "extends: must not be empty"),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong(tmp_path: Path, text: str, extends: str, says: str) -> None:
    pack(tmp_path, "org", RULE)
    file = pack(tmp_path, "team", text, extends)
    with pytest.raises(UsageError) as error:
        loaded(file)
    (line,) = str(error.value).splitlines()
    assert line.startswith(file)
    assert says in line


def test_two_packs_that_want_different_things_are_both_named(tmp_path: Path) -> None:
    one = pack(tmp_path, "one", '[narrow.KA101]\nseverity = "note"\n')
    two = pack(tmp_path, "two", '[narrow.KA101]\nseverity = "warning"\n')
    with pytest.raises(UsageError, match=r"two\.toml:5: .* another severity at .*one\.toml:5; let one"):
        loaded(one, two)


def test_a_param_that_the_guarantee_does_not_have_is_refused(tmp_path: Path) -> None:
    file = pack(tmp_path, "org", "[narrow.KA431]\nparams = { limit = 5000 }\n")
    (tmp_path / "producer.properties").write_text("bootstrap.servers=a:1\n")
    with pytest.raises(UsageError, match="rebalance-pause has no param 'limit'; there is limit_ms"):
        audit_paths([str(tmp_path)], rules=[file])


def test_a_name_of_ours_is_taken_and_who_brings_it_again_is_told(tmp_path: Path) -> None:
    file = pack(tmp_path, "org", RULE.replace("short-retention", "acked-record-loss"))
    with pytest.raises(UsageError) as error:
        loaded(file)
    assert str(error.value).startswith(f"{file}:6: name 'acked-record-loss' is taken: KA101 ")
