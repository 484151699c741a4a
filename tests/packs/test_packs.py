"""Packs: what is loaded, what is refused and where, and that compiled packs equal their sources."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.hookspecs import PackSpec
from advisor.memo.cache import Cache
from advisor.model import Location, UsageError
from advisor.packs import pack as packs
from advisor.packs.pack import applies_to, compile_folder, compile_pack, load_packs
from advisor.schemas.tomltext import read_toml

HERE = Path(__file__).parent
PLATFORM = HERE / "data" / "platform.toml"
RULES = HERE.parent.parent / "rules"
OFF = Cache(None)

HEAD = '[pack]\nname = "mine"\nschema = 1\nprefix = "MY"\n'
RULE = 'code = "MY101"\nname = "one"\nseverity = "note"\nmessage = "m"\nwhy = "w"\n'


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        compile_pack("mine.toml", text.encode())
    return str(caught.value)


def test_every_field_arrives() -> None:
    retention, tail, key = load_packs((), [str(PLATFORM)], OFF)
    assert retention.code == "PLAT101"
    assert retention.at == Location(str(PLATFORM), 7)
    assert retention.when is not None
    assert retention.when["all"][0] == {"key": "topic.retention.ms", "ge": 0, "lt": "{param.least}"}
    assert (retention.evidence, retention.guarantee, retention.check) == ("budget", None, None)
    assert retention.params == {"least": "1h"}
    assert (retention.components, retention.profiles) == (("topic",), ("prod",))
    assert (retention.clients, retention.kafka) == (("java",), ">=2.0,<5.0")
    assert (retention.covers, retention.since, retention.replaced_by) == (("KA999",), "1.0", "PLAT102")
    assert not retention.enabled
    assert [example["bad"] for example in retention.examples] == [
        {"topic": {"retention.ms": "60000"}},
        {"topic": {"retention.ms": "3599999"}},
    ]
    assert (retention.fine_when, retention.sources) == (
        "The topic is a feed of current values.",
        ("team handbook",),
    )
    assert (tail.evidence, tail.guarantee) == ("trace", "acked-records-survive")
    assert tail.environment == {"slow_follower": "rf-1"}
    assert tail.faults == ({"power_loss": 1}, {"disk_wiped": 1})
    assert (tail.enabled, tail.components, tail.kafka) == (True, (), None)
    assert (key.evidence, key.check, key.faults, key.pack) == ("plumbing", "unknown-key", (), "platform")


# Each: the rule's own text, the line of the fault, and what the message must say.
REFUSED = {
    "misspelt field": (RULE + 'check = "c"\nsevrity = "note"\n', 12, "did you mean 'severity'?"),
    "misspelt value": (RULE.replace("note", "eror") + 'check = "c"\n', 8, "did you mean 'error'?"),
    "missing field": (RULE.replace('why = "w"\n', "") + 'check = "c"\n', 5, "lacks 'why'"),
    "two deciders": (RULE + 'check = "c"\nguarantee = "g"\n', 5, "exactly one of guarantee, when, check"),
    "no decider": (RULE, 5, "exactly one of guarantee, when, check; has none"),
    "deep in a condition": (
        RULE + 'when.all = [\n  { key = "topic.a", eq = 1 },\n  { key = "topic.b", match = "x" },\n]\n',
        13,
        "unknown field; did you mean 'matches'?",
    ),
    "key without component": (
        RULE + 'when = { key = "acks", eq = "1" }\n',
        11,
        "a name such as producer.acks",
    ),
    "no operator": (RULE + 'when = { key = "topic.a" }\n', 11, "at least one of eq, ne"),
    "no quantity": (RULE + 'when = { key = "topic.a", lt = "soon" }\n', 11, "a duration such as 1h"),
    "no such param": (RULE + 'when = { key = "topic.a", lt = "{param.x}" }\n', 11, "params has no 'x'"),
    "bad regex": (
        RULE + 'when.any = [\n  { key = "topic.a", matches = "(" },\n]\n',
        12,
        "no regular expression",
    ),
    "bad range": (RULE + 'check = "c"\n[rule.applies]\nkafka = "2.x"\n', 13, "a version range such as"),
    "bad component": (
        RULE + 'check = "c"\n[rule.applies]\ncomponents = ["topics"]\n',
        13,
        "did you mean 'topic'?",
    ),
    "other prefix": (RULE.replace("MY101", "KA101") + 'check = "c"\n', 6, "prefix 'MY'"),
    "example without good": (
        RULE + 'check = "c"\n[[rule.example]]\nbad.topic = { a = "1" }\n[[rule.example]]\ngood = {}\n',
        12,
        "lacks 'good'",
    ),
    "unquoted dots": (
        RULE + 'check = "c"\n[[rule.example]]\ngood = {}\nbad.topic.min.insync = "2"\n',
        14,
        "a key with dots is written in quotes",
    ),
    "count of faults": (
        RULE + 'guarantee = "g"\nfaults = { broker_crash = "two" }\n',
        12,
        "a count from 0 to 9",
    ),
    "date for text": (RULE.replace('"m"', "[2020-01-01]") + 'check = "c"\n', 9, "must be text"),
    "not TOML": (RULE + "check = \n", 11, "is not valid TOML"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_line_and_what_is_allowed(name: str) -> None:
    text, line, says = REFUSED[name]
    lines = refusal(f"{HEAD}[[rule]]\n{text}").splitlines()
    assert any(one.startswith(f"mine.toml:{line}: ") and says in one for one in lines), lines


@pytest.mark.parametrize(("written", "shown"), [("2", "2"), ("2.5", "2.5"), ('"x"', "'x'"), ("[]", "a list")])
def test_a_rule_that_is_no_table_is_told_as_one(written: str, shown: str) -> None:
    assert refusal(f"rule = [{written}]\n{HEAD}") == f"mine.toml:1: rule 1: is {shown}, must be a table"


def test_a_rule_is_named_by_its_code_and_every_fault_is_listed() -> None:
    good = f'[[rule]]\n{RULE}check = "c"\n'
    second = good.replace("MY101", "MY102").replace("one", "two").replace("note", "never")
    third = good.replace("MY101", "my103").replace("one", "three") + "enabled = 1\n"
    assert refusal(HEAD + good + second + third).splitlines() == [
        "mine.toml:15: rule MY102: severity: 'never' is not allowed (allowed: error, note, warning)",
        "mine.toml:20: rule my103: code: is 'my103', must be the pack's prefix and three or four digits, "
        "such as KA101",
        "mine.toml:26: rule my103: enabled: is 1, must be true or false",
    ]


def test_wrong_bytes_are_refused_in_words() -> None:
    assert refusal("").startswith("mine.toml:1: pack file: lacks 'pack'")
    for data, says in (
        (b'[pack]\nname = "\xff"\n', "mine.toml:2: is not UTF-8"),
        (b"a = " + b"[" * 100_000, "mine.toml: is nested too deeply"),
        (b"a = 1" + b"0" * 5000, "mine.toml:1: a whole number does not fit into 64 bits"),
        (b"a = nan", "nan and inf"),
    ):
        with pytest.raises(UsageError, match=r"mine\.toml") as caught:
            compile_pack("mine.toml", data)
        assert says in str(caught.value)
    with pytest.raises(UsageError, match=r"rule pack: .*gone.toml cannot be read: No such file"):
        load_packs((), ["gone.toml"], OFF)


def test_two_rules_with_one_code_or_name_name_both_places(tmp_path: Path) -> None:
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text(f'{HEAD}[[rule]]\n{RULE}check = "c"\n')
    second.write_text(f'{HEAD}\n[[rule]]\n{RULE.replace("one", "two")}check = "c"\n')
    with pytest.raises(UsageError) as caught:
        load_packs((), [str(first), str(second)], OFF)
    assert str(caught.value) == f"{second}:6: code 'MY101' is taken: MY101 one has it at {first}:5"
    second.write_text(f'{HEAD}[[rule]]\n{RULE.replace("MY101", "MY102")}check = "c"\n')
    with pytest.raises(UsageError, match=r"b.toml:5: name 'one' is taken: MY101 one has it at .*a.toml:5"):
        load_packs((), [str(first), str(second)], OFF)
    # The same file named twice is one pack.
    assert len(load_packs((), [str(first), f"{tmp_path}/./a.toml"], OFF)) == 1


def test_a_users_pack_is_validated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(str(tmp_path / "cache"))
    file = tmp_path / "platform.toml"
    file.write_bytes(PLATFORM.read_bytes())
    cold = load_packs((), [str(file)], cache)
    with monkeypatch.context() as patch:
        patch.setattr(packs, "compile_pack", lambda *_: pytest.fail("validated again"))
        assert load_packs((), [str(file)], cache) == cold
    # A cached value of another shape is made anew.
    (entry,) = (tmp_path / "cache").rglob("pack/*.json")
    cache.put("pack", entry.stem, [{"code": 1}])
    assert load_packs((), [str(file)], cache) == cold
    file.write_text(file.read_text().replace('"error"', '"eror"'))
    with pytest.raises(UsageError, match="did you mean 'error'"):
        load_packs((), [str(file)], cache)


def make_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> PackSpec:
    package = folder / "acme_packs_for_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "platform.toml").write_bytes(PLATFORM.read_bytes())
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    return PackSpec("platform", "acme_packs_for_test", "platform.toml")


def test_a_packages_pack_is_read_compiled_unless_it_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = make_package(tmp_path, monkeypatch)
    folder = tmp_path / "acme_packs_for_test"
    plain = load_packs([spec], (), OFF)
    assert packs.main(["compile", str(folder)]) == 0
    with monkeypatch.context() as patch:
        patch.setattr(packs, "compile_pack", lambda *_: pytest.fail("compiled again"))
        assert load_packs([spec], (), OFF) == plain
    assert str(plain[0].at) == "acme_packs_for_test/platform.toml:7"
    toml = folder / "platform.toml"
    toml.write_text(toml.read_text().replace("tail-loss", "tail-lost"))
    assert load_packs([spec], (), OFF)[1].name == "tail-lost"
    with pytest.raises(UsageError, match=r"rule pack 'x': no_such_package cannot be imported"):
        load_packs([PackSpec("x", "no_such_package", "x.toml")], (), OFF)


def test_the_shipped_packs_equal_their_sources() -> None:
    shipped = (RULES / packs.COMPILED).read_text(encoding="utf-8")
    assert shipped == compile_folder(str(RULES)), "run: python -m advisor.packs.pack compile"


# Where the packages of an editable install lie is told by such a file too.
OURS = f"""
from types import ModuleType
for name, folder in (("kafka_advisor_plugins", "plugins"), ("kafka_advisor_rules", "rules")):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [{str(Path(__file__).parents[2])!r} + "/" + folder]
"""


def test_a_warm_start_imports_nothing_heavy(tmp_path: Path) -> None:
    project = tmp_path / "kafka-advisor.toml"
    project.write_text('kafka_version = "4.1"\n[facts]\nbrokers = 3\n[workload]\nlongest_outage = "30s"\n')
    code = f"""
import sys
from advisor.memo.cache import Cache
from advisor.packs.conditions import compile_condition
from advisor.packs.pack import load_packs
from advisor.read.project import load_project
cache = Cache({str(tmp_path / "cache")!r})
rules = load_packs((), [{str(PLATFORM)!r}], cache)
project = load_project({str(project)!r}, open({str(project)!r}, "rb").read(), cache)
print(len(rules), project.facts, project.workload)
heavy = "tomllib toml jsonschema pydantic dataclasses _hashlib hashlib tempfile difflib".split()
print([name for name in heavy if name in sys.modules])
"""
    for heavy in (True, False):
        # Isolated from site: a test environment's .pth files import things of their own.
        path = f"import sys; sys.path[:0] = {sys.path!r}\n" + OURS
        run = subprocess.run(
            [sys.executable, "-S", "-c", path + code], capture_output=True, text=True, check=True
        )
        values, modules = run.stdout.splitlines()
        assert values == "3 {'brokers': '3'} {'longest_outage': 30000}"
        assert (modules != "[]") is heavy, modules


@pytest.mark.parametrize(
    ("range", "inside", "outside"),
    [
        (None, ["0.8", "4.3"], []),
        (">=2.0,<4.0", ["2.0", "2.0.1", "3.9", "3.9.2"], ["1.1", "4.0", "4.0.0", "0.11"]),
        ("<=3.9", ["3.9", "3.9.1"], ["3.10", "4.0"]),
        (">3.9", ["3.10", "4.0"], ["3.9", "3.9.1"]),
        ("== 3.9", ["3.9", "3.9.1"], ["3.8", "4.0"]),
        ("!=3.9", ["3.8", "4.0"], ["3.9", "3.9.1"]),
        ("<4", ["3.9"], ["4.0", "4.1"]),
        (">=2.0.1", ["2.0.1", "2.1"], ["2.0"]),
    ],
)
def test_version_ranges(range: str | None, inside: list[str], outside: list[str]) -> None:
    for versions, expected in ((inside, True), (outside, False)):
        for version in versions:
            number = tuple(int(part) for part in version.split("."))
            assert applies_to(range, number) is expected, (range, version)


def test_lines_are_found_in_any_layout() -> None:
    text = """\
# [[rule]] in a comment
title = \"\"\"
[[rule]]
code = "no" \\\"\"\" \"\"\"\"
'quoted key'."a\\u002eb" = 'x # no comment'
[[ rule ]]
code = 'A'
when.all = [
  { key = "k1", in = ["]", '}'] }, # ]
  { key = "k2", in = [
    3, [4]]},
]
[rule.applies]
kafka = ">=1"
[[rule.example]]
[[rule.example]]
bad.topic."a.b" = 1
[[rule]]
code = "B"
"""
    for newline in ("\n", "\r\n"):
        data = ("\ufeff" + text.replace("\n", newline)).encode()
        value, lines = read_toml("x.toml", data)
        assert value["rule"][1]["code"] == "B"
        assert lines.of(("title",)) == 2
        assert lines.of(("quoted key", "a.b")) == 5
        assert lines.of(("rule", 0)) == 6
        assert lines.of(("rule", 0, "when", "all", 0, "in", 1)) == 9
        assert lines.of(("rule", 0, "when", "all", 1)) == 10
        assert lines.of(("rule", 0, "when", "all", 1, "in", 1, 0)) == 11
        assert lines.of(("rule", 0, "applies", "kafka")) == 14
        assert lines.of(("rule", 0, "example", 1)) == 16
        assert lines.of(("rule", 0, "example", 1, "bad", "topic", "a.b", "deeper")) == 17
        assert lines.of(("rule", 1, "missing")) == 18
