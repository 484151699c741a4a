"""Plugins that are broken in every way that was thought of: each gives one clear line that names it, and what
it did not break is audited as without it."""

from __future__ import annotations

import gc
import json
import textwrap
from typing import NamedTuple

import pytest

from advisor.commands import run

CONFIG = "bootstrap.servers=kafka:9092\nacks=1\nlinger.ms=2s\n"
PACK = """\
[pack]
name = "broken"
schema = 1
prefix = "BR"

[[rule]]
code = "BR001"
name = "broken-rule"
severity = "warning"
{decides}
message = "found"
why = "A test."
applies = {{ components = ["producer"] }}
"""
HEAD = """\
from advisor.api import CheckSpec, ClientSpec, FormatSpec, ModelSpec, PackSpec, ReporterSpec, hookimpl
from advisor.api import Accepted, Document, Hit, Judgement, Loaded, Location, Reason, Rejected
"""


class Broken(NamedTuple):
    """`says`: a part of the line. `code`: None for exit 2 before anything is audited, else the finding's."""

    source: str
    says: str
    code: str | None = None
    decides: str = ""
    words: tuple[str, ...] = ()


def hook(name: str, specs: str) -> str:
    return f"@hookimpl\ndef advisor_{name}():\n    return {specs}\n"


def check(body: str, says: str, reads: str = "document") -> Broken:
    given = hook("checks", f'[CheckSpec("br", f"{{__name__}}:ask", "{reads}")]')
    return Broken(given + f"def ask(subject, context):\n    {body}\n", says, "KA000", 'check = "br"')


def guarantee(body: str, says: str) -> Broken:
    given = hook("models", '[ModelSpec("guarantee", "br-holds", f"{__name__}:ask")]')
    code = f"def ask(deployment, context):\n    {body}\n"
    return Broken(given + code, says, "KA000", 'guarantee = "br-holds"')


def form(claim: str, load: str, says: str, code: str) -> Broken:
    given = hook("formats", '[FormatSpec("br", (".br",), (), f"{__name__}:claim", f"{__name__}:load", "x")]')
    given += f"def claim(name, text):\n    {claim}\ndef load(source):\n    {load}\n"
    return Broken(given, says, code)


def reporter(body: str, says: str) -> Broken:
    given = hook("reporters", '[ReporterSpec("br", f"{__name__}:render", "x")]')
    return Broken(given + f"def render(report, options):\n    {body}\n", says, words=("--format", "br"))


def family(body: str, says: str) -> Broken:
    given = hook("clients", '[ClientSpec("java2", refused=f"{__name__}:refuse")]')
    return Broken(given + f"def refuse(component, config):\n    {body}\n", says, "KA000")


GOOD = 'Hit(Location(subject.file), ("acks",), {})'
BROKEN = {
    # Loading it.
    "syntax": Broken("def (:\n", "SyntaxError"),
    "import": Broken("import no_such_module_at_all\n", "no_such_module_at_all"),
    "exit-on-import": Broken("import sys\nsys.exit(0)\n", "SystemExit"),
    "os-exit-on-import": Broken("import os\nos._exit(0)\n", "SystemExit"),
    "raise-on-import": Broken("raise ValueError('no')\n", "ValueError: no"),
    "base-exception-on-import": Broken("class X(BaseException): pass\nraise X\n", "X"),
    "endless-import": Broken("while True: pass\n", "longer than"),
    "recursive-import": Broken("def f(): f()\nf()\n", "RecursionError"),
    "wordless-error": Broken(
        "class X(Exception):\n    def __str__(self): raise RuntimeError\nraise X\n", "X at "
    ),
    # Its hooks.
    "unknown-hook": Broken(
        "@hookimpl\ndef advisor_client():\n    return []\n",
        "advisor_client() in line 3 is no hook; did you mean 'advisor_clients'?",
    ),
    "hook-with-argument": Broken(
        "@hookimpl\ndef advisor_checks(x):\n    return []\n", "advisor_checks(x) in line 3 asks for x; a hook"
    ),
    "hook-without-mark": Broken(
        "def advisor_checks():\n    return []\n", "advisor_checks() in line 3 is not marked: write @hookimpl"
    ),
    "wrong-major-version": Broken("api_version = '2.0'\n", "was written for version 2.0 of the plugin API"),
    "hook-raises": Broken(hook("checks", "1/0"), "ZeroDivisionError"),
    "hook-exits": Broken(hook("checks", "exit()"), "SystemExit"),
    "hook-endless": Broken(
        "import time\n" + hook("formats", "time.sleep(10**6)"), "advisor_formats() was stopped"
    ),
    "hook-endless-items": Broken(
        "@hookimpl\ndef advisor_checks():\n    while True: yield CheckSpec('a', 'b:c', 'document')\n",
        "more than 100,000",
    ),
    "hook-gives-none": Broken(hook("packs", "None"), "advisor_packs() gave None"),
    "hook-gives-text": Broken(hook("models", "'x'"), "advisor_models() gave 'x'"),
    "hook-gives-other": Broken(hook("checks", "[1]"), "gave 1 where a CheckSpec is expected"),
    "spec-of-other-kind": Broken(
        hook("checks", "[PackSpec('a', 'b', 'c')]"), "where a CheckSpec is expected"
    ),
    "spec-without-name": Broken(hook("checks", "[CheckSpec(None, 'a:b', 'document')]"), "name is None"),
    "spec-list-as-name": Broken(hook("clients", "[ClientSpec(['a'])]"), "name is ['a']"),
    "spec-reads-nothing": Broken(hook("checks", "[CheckSpec('a', 'a:b', 'file')]"), "reads is 'file'"),
    "spec-code-without-colon": Broken(
        hook("checks", "[CheckSpec('a', 'a.b', 'document')]"), "module:function"
    ),
    "spec-code-as-function": Broken(hook("checks", "[CheckSpec('a', print, 'document')]"), "function is"),
    "spec-kind": Broken(hook("models", "[ModelSpec('fault', 'a', 'a:b')]"), "kind is 'fault'"),
    "spec-aliases": Broken(hook("clients", "[ClientSpec('a', aliases=['x'])]"), "aliases are ['x']"),
    "spec-suffixes": Broken(hook("formats", "[FormatSpec('a', '.br', (), 'a:b', 'a:b', 'x')]"), "suffixes"),
    "spec-encoding": Broken(
        hook("formats", "[FormatSpec('a', ('.br',), (), 'a:b', 'a:b', 'x', 'no-such')]"), "fallback_encoding"
    ),
    "code-missing": Broken(
        hook("checks", '[CheckSpec("br", f"{__name__}:nothing", "document")]'),
        "nothing",
        None,
        'check = "br"',
    ),
    "code-no-function": Broken(
        hook("checks", '[CheckSpec("br", f"{__name__}:ask", "document")]') + "ask = 3\n",
        "no function",
        None,
        'check = "br"',
    ),
    "pack-of-no-package": Broken(
        hook("packs", "[PackSpec('p', 'no_such_package', 'p.toml')]"), "no_such_package"
    ),
    # A name that is taken.
    "format-taken": Broken(
        hook("formats", "[FormatSpec('properties', ('.br',), (), 'a:b', 'a:b', 'x')]"),
        "a format named 'properties': kafka_advisor_plugins.formats and ",
    ),
    "check-taken": Broken(
        hook("checks", "[CheckSpec('start-type', 'a:b', 'document')]"), "kafka_advisor_plugins.checks and "
    ),
    "reporter-taken": Broken(
        hook("reporters", "[ReporterSpec('json', 'a:b', 'x')]"), "kafka_advisor_plugins.reporters and "
    ),
    "client-taken": Broken(hook("clients", "[ClientSpec('java')]"), "kafka_advisor_plugins.clients and "),
    "guarantee-taken": Broken(
        hook("models", "[ModelSpec('guarantee', 'group-stable', 'a:b')]"), "kafka_advisor_plugins.models and "
    ),
    "guarantee-of-the-search": Broken(
        hook("models", "[ModelSpec('guarantee', 'acked-records-survive', 'a:b')]"),
        "kafka_advisor_plugins.models and ",
    ),
    "assignor-of-kafka": Broken(
        hook("models", "[ModelSpec('assignor', 'org.apache.kafka.clients.consumer.RangeAssignor', 'a:b')]"),
        "Kafka's own",
    ),
    "assignor-twice": Broken(
        hook("models", "[ModelSpec('assignor', 'x.Y', code) for code in ('a:b', 'c:d')]"),
        "assignor named 'x.Y'",
    ),
    "partitioner-twice": Broken(
        hook("models", "[ModelSpec('partitioner', 'x.Y', code) for code in ('a:b', 'c:d')]"),
        "partitioner named 'x.Y'",
    ),
    # Its checks.
    "check-raises": check("raise ValueError(subject)", "ValueError at"),
    "check-exits": check("import sys; sys.exit(0)", "tried to end the program"),
    "check-os-exits": check("import os; os._exit(0)", "tried to end the program"),
    "check-aborts": check("import os; os.abort()", "tried to end the program"),
    "check-base-exception": check("raise GeneratorExit", "GeneratorExit"),
    "check-endless": check("\n    while True: pass", "longer than 0.5 s"),
    "check-sleeps": check("import time; time.sleep(10**6)", "longer than 0.5 s"),
    "check-endless-regex": check("import re; re.match('(a+)+$', 'a' * 64 + 'b')", "longer than 0.5 s"),
    "check-recursion": check("ask(subject, context)", "RecursionError"),
    "check-memory": check("[0] * 10**15", "MemoryError"),
    "check-gives-none": check("return None", "gave None where Hits"),
    "check-gives-text": check("return ['x']", "gave 'x' where a Hit"),
    "check-lazy-endless": check("return type('X', (), {'__iter__': lambda self: iter(int, 1)})()", "100,000"),
    "check-gives-dict": check("yield {}", "gave {} where a Hit"),
    "check-nowhere": check("yield Hit(None, (), {})", "at is None"),
    "check-line-as-text": check("yield Hit(Location(subject.file, 'one'), (), {})", "no place in a file"),
    "check-key-no-tuple": check("yield Hit(Location(subject.file), 'acks', {})", "keys"),
    "check-severity": check("yield " + GOOD + "._replace(severity='bad')", "severity 'bad'"),
    "check-settings": check("yield " + GOOD + "._replace(settings=('acks',))", "settings"),
    "check-edits": check("yield " + GOOD + "._replace(edits=('acks',))", "edits"),
    "check-fails-late": check(f"yield {GOOD.replace('Hit', 'Hit')}; 1/0", "ZeroDivisionError"),
    "deployment-check-raises": check("return subject.nothing", "AttributeError", "deployment"),
    # Its guarantees.
    "guarantee-raises": guarantee("yield from 1", "TypeError"),
    "guarantee-exits": guarantee("exit(0)", "tried to end the program"),
    "guarantee-endless": guarantee("\n    while True: pass", "longer than"),
    "guarantee-verdict": guarantee("yield Judgement('maybe')", "verdict 'maybe'"),
    "guarantee-nowhere": guarantee("yield Judgement('broken')", "without a Hit"),
    "guarantee-no-reason": guarantee("yield Judgement('unknown')", "without a reason"),
    "guarantee-gives-bool": guarantee("return True", "gave True where Judgements"),
    # Its formats.
    "claim-raises": form("1/0", "pass", "ZeroDivisionError", "KA000"),
    "claim-exits": form("exit()", "pass", "tried to end the program", "KA000"),
    "claim-endless": form("\n    while True: pass", "pass", "longer than", "KA000"),
    "claim-text": form("return 'yes'", "pass", "claim from 0 to 100", "KA000"),
    "claim-too-sure": form("return 10**9", "pass", "claim from 0 to 100", "KA000"),
    "load-raises": form("return 90", "raise KeyError('secret-word')", "KeyError at", "KA001"),
    "load-exits": form("return 90", "exit()", "tried to end the program", "KA001"),
    "load-none": form("return 90", "return None", "where Loaded", "KA001"),
    "load-list": form("return 90", "return Loaded([])", "tuple", "KA001"),
    "load-status": form("return 90", "return Loaded((), 'fine')", "status 'fine'", "KA001"),
    "load-setting": form(
        "return 90",
        "return Loaded((Document(source.file, 'br', 'producer', 'p', (('a', 'b'),)),))",
        "Setting",
        "KA001",
    ),
    # Its reporters.
    "reporter-raises": reporter("return report['nothing']", "KeyError"),
    "reporter-exits": reporter("exit(0)", "tried to end the program"),
    "reporter-none": reporter("return None", "gave None where a text"),
    "reporter-endless": reporter("\n    while True: pass", "longer than"),
    # Its client families.
    "family-raises": family("1/0", "ZeroDivisionError"),
    "family-exits": family("exit(0)", "tried to end the program"),
    "family-true": family("return True", "Accepted or Rejected"),
    "family-reasons": family("return Rejected(('no',))", "Reason"),
    "family-kind": family("return Rejected((Reason('bad', ('acks',), 'x'),))", "kind 'bad'"),
}


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """One cache for all: what the simulator finds in the configuration is the same each time."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _quick(monkeypatch, tmp_path, searched):
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(searched))
    monkeypatch.setenv("KAFKA_ADVISOR_PLUGIN_SECONDS", "0.5")
    monkeypatch.chdir(tmp_path)
    yield
    gc.enable()  # a command switches it off for its short life


def audited(capsys, *words: str) -> tuple[int, str, str]:
    code = run(["audit", ".", *words])
    done = capsys.readouterr()
    return code, done.out, done.err


def plain(report: str) -> list[str]:
    """The findings that are not about the plugin."""
    found = json.loads(report)["findings"]
    return [json.dumps(one) for one in found if one["code"] not in ("KA000", "KA001")]


@pytest.mark.parametrize("name", BROKEN)
def test_one_line_names_it_and_the_rest_is_audited(name, tmp_path, capsys):
    broken = BROKEN[name]
    plugin = f"broken_{name.replace('-', '_')}.py"
    (tmp_path / plugin).write_text(HEAD + textwrap.dedent(broken.source))
    (tmp_path / "producer.properties").write_text(CONFIG)
    if "load-" in name or "claim-" in name:
        (tmp_path / "other.br").write_text("acks=1\n")
    if "family-" in name:
        (tmp_path / "kafka-advisor.toml").write_text('[[client]]\npath = "*"\nfamily = "java2"\n')
    words = ["--plugin", plugin]
    if broken.decides:
        (tmp_path / "pack.toml").write_text(PACK.format(decides=broken.decides))
        words += ["--rules", "pack.toml"]
    if broken.code is None:
        code, out, err = audited(capsys, *words, *broken.words)
        assert (code, out) == (2, "")
        (line,) = err.splitlines()
        assert line.startswith("kafka-advisor: ")
        assert plugin.removesuffix(".py") in line
        assert broken.says in line
        return
    code, out, err = audited(capsys, *words, "--format", "json")
    assert err == ""
    (told,) = [one for one in json.loads(out)["findings"] if one["code"] in ("KA000", "KA001")]
    assert told["code"] == broken.code
    assert plugin in told["message"]
    assert broken.says in told["message"]
    assert "secret-word" not in out
    assert code == 1
    if "family-" in name:
        return  # what Kafka itself would refuse is asked in one breath with the family
    _, without, _ = audited(capsys, "--format", "json")
    assert [one for one in plain(out) if '"BR001"' not in one] == plain(without) != []


def test_what_it_prints_does_not_get_into_the_report(tmp_path, capsys):
    source = "print('on import')\n" + hook("checks", '[CheckSpec("br", f"{__name__}:ask", "document")]')
    source += "import os\ndef ask(subject, context):\n    print('hello')\n    os.chdir('/')\n    return []\n"
    (tmp_path / "broken_loud.py").write_text(HEAD + source)
    (tmp_path / "producer.properties").write_text(CONFIG)
    (tmp_path / "pack.toml").write_text(PACK.format(decides='check = "br"'))
    code, out, err = audited(
        capsys,
        "--plugin",
        "broken_loud.py",
        "--rules",
        "pack.toml",
        "--format",
        "json",
        "--report",
        "json=out.json",
    )
    assert code == 1
    assert json.loads(out) == json.loads((tmp_path / "out.json").read_text())
    assert list(dict.fromkeys(err.splitlines())) == ["on import", "hello"]


def test_endless_code_is_told_once_and_not_called_again(tmp_path, capsys):
    broken = BROKEN["check-endless"]
    (tmp_path / "broken_often.py").write_text(HEAD + broken.source)
    (tmp_path / "pack.toml").write_text(PACK.format(decides=broken.decides))
    for number in range(20):
        (tmp_path / f"producer-{number:02}.properties").write_text(CONFIG)
    code, out, _ = audited(
        capsys, "--plugin", "broken_often.py", "--rules", "pack.toml", "--format", "json", "--no-link"
    )
    (told,) = [one for one in json.loads(out)["findings"] if one["code"] == "KA000"]
    assert code == 1
    assert "is not called again" in told["message"]


STUBBORN = """
def ask(subject, context):
    while True:
        try:
            while True:
                sorted([2, 1])
        except BaseException:
            pass
"""
IN_C = """
def ask(subject, context):
    import itertools
    sum(itertools.count())
"""


@pytest.mark.parametrize(
    ("source", "code", "says"),
    [
        (STUBBORN, 2, "kafka-advisor: plugin stubborn.py: stubborn:ask cannot be stopped"),
        # Nothing of ours runs any more: the interpreter's own watch says where it was.
        (IN_C, 1, "stubborn.py"),
    ],
    ids=["swallows", "in-c"],
)
def test_code_that_cannot_be_stopped_ends_the_program_and_is_named(advisor, tmp_path, source, code, says):
    given = HEAD + hook("checks", '[CheckSpec("br", "stubborn:ask", "document")]') + source
    (tmp_path / "stubborn.py").write_text(given)
    (tmp_path / "pack.toml").write_text(PACK.format(decides='check = "br"'))
    (tmp_path / "producer.properties").write_text(CONFIG)
    env = {"KAFKA_ADVISOR_PLUGIN_SECONDS": "0.3"}
    done = advisor("audit", ".", "--plugin", "stubborn.py", "--rules", "pack.toml", env=env, cwd=tmp_path)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, tmp_path, capsys, value):
    plugin = f"broken_limit_{value.strip('-')}.py"
    (tmp_path / plugin).write_text("")
    (tmp_path / "producer.properties").write_text(CONFIG)
    monkeypatch.setenv("KAFKA_ADVISOR_PLUGIN_SECONDS", value)
    code, _, err = audited(capsys, "--plugin", plugin)
    assert code == 2
    assert (
        err
        == f"kafka-advisor: KAFKA_ADVISOR_PLUGIN_SECONDS={value}: write a number of seconds, 0 for no limit\n"
    )
