"""Tests about the source itself."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from advisor.memo.cache import Cache
from advisor.packs.pack import load_packs
from advisor.registry import load_registry
from tests.rules.case_files import read_cases

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted([*ROOT.glob("advisor/**/*.py"), *ROOT.glob("plugins/**/*.py"), *ROOT.glob("rules/*.py")])
RULES = load_packs(load_registry().packs, (), Cache(None))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "words",
    [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)],
    ids=lambda words: " ".join(words),
)
def test_source_is_clean(words):
    done = run(*words)
    assert done.returncode == 0, done.stdout + done.stderr


def test_dependencies_point_one_way():
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_two_modules_need_each_other():
    """Neither when imported nor later, inside a function: what two share has a home of its own."""
    import grimp

    graph = grimp.build_graph("advisor", exclude_type_checking_imports=True)
    folders = {name for name in graph.modules if graph.find_children(name)}
    assert {name: found for name in folders if (found := graph.nominate_cycle_breakers(name))} == {}


def test_folders_stay_small():
    """A folder is a page: about twelve names that a reader can hold in the head."""
    folders = {path.parent for path in SOURCES}
    sizes = {
        folder.relative_to(ROOT).as_posix(): len(
            [path for path in folder.glob("*.py") if path.stem != "__init__"]
        )
        for folder in folders
    }
    # One module a command: that folder is as long as the list of commands.
    most = {"advisor/commands": 16}
    assert {name: size for name, size in sizes.items() if size > most.get(name, 13)} == {}


def test_only_accept_and_fix_reveal_secrets():
    allowed = {ROOT / "advisor/model.py", ROOT / "advisor/fix/smallest_change.py"}
    users = [
        path
        for path in SOURCES
        if "reveal(" in path.read_text()
        and path not in allowed
        and ROOT / "advisor/accept" not in path.parents
    ]
    assert users == []


_CHECKED = "numbers of [workload] and of params, checked when their file was read, and of the catalog"
_OURS = "text of the catalog's or the simulator's own"
_SHAPED = "text whose digits a pattern has counted"
_PLAYED = "ports, partitions and members as the system and the simulator name them"
# Files that may turn text into numbers by themselves: how many such calls, and why. Everything else that
# somebody wrote is read by syntax/numbers.py.
_NUMBERS_READ: dict[str, tuple[int, str]] = {
    "advisor/accept/component/broker.py": (1, "a value that Config has parsed"),
    "advisor/accept/component/librdkafka.py": (2, "strtol and strtod, digits bounded by the pattern"),
    "advisor/accept/security/jaas.py": (2, "an octal escape of three digits"),
    "advisor/accept/value/classes.py": (2, _OURS),
    "advisor/accept/value/numbers.py": (1, "Double.parseDouble, after its grammar was checked"),
    "advisor/catalog/versions.py": (1, _OURS),
    "advisor/fleet/rows/narrow.py": (2, "offsets of an Arrow array"),
    "advisor/spark/places.py": (1, "a count of Parquet's"),
    "advisor/fleet/tell/reach.py": (1, "a count of numpy's"),
    "advisor/fleet/tell/shown_findings.py": (2, "a slot that the fleet's own tables hold"),
    "advisor/guard/calls.py": (1, "a variable of the environment, told if it is no number"),
    "advisor/join/versions.py": (1, _OURS),
    "advisor/output/terminal.py": (2, "COLUMNS, up to five digits"),
    "advisor/packs/conditions.py": (3, "a decimal number of a pack: no infinity, no other script"),
    "advisor/read/project_schema.py": (2, "an amount that packs/conditions.py has read"),
    "advisor/read/secrets.py": (1, "whether a word has a digit at all: nothing is read"),
    "advisor/simulate/scenario_report.py": (1, "an exit code of a truth value"),
    "advisor/syntax/properties.py": (1, "four hexadecimal digits"),
    "advisor/syntax/units.py": (4, _SHAPED),
    "advisor/syntax/yamltree.py": (3, "YAML's own numbers, up to 40 characters"),
    "advisor/tell/html/frames.py": (6, "records and partitions as the simulator names them"),
    "advisor/tell/recipes.py": (1, "a version that was resolved before"),
    "advisor/real/cluster/cluster.py": (1, _PLAYED),
    "advisor/real/cluster/guard.py": (2, "process ids that the run itself tells it"),
    "advisor/real/cluster/metadata_log.py": (1, _PLAYED),
    "advisor/real/cluster/proxy.py": (1, _PLAYED),
    "advisor/real/plays/group.py": (2, _PLAYED),
    "advisor/real/plays/grown_topic.py": (1, _PLAYED),
    "advisor/real/plays/searched_group.py": (4, _PLAYED),
    "advisor/real/plays/transaction.py": (2, _PLAYED),
    "advisor/real/stage.py": (1, _PLAYED),
    "plugins/formats/spring/spring_fields.py": (1, "Integer.decode, up to 20 characters"),
    "advisor/ask/answers/deploy/growth.py": (1, _CHECKED),
    "advisor/ask/answers/groups/coordinators.py": (3, _CHECKED),
    "advisor/ask/answers/groups/follower_reads.py": (2, _CHECKED),
    "advisor/ask/answers/groups/listeners.py": (1, _CHECKED),
    "advisor/ask/answers/groups/members.py": (7, _CHECKED),
    "advisor/ask/answers/groups/pauses.py": (3, _CHECKED),
    "advisor/ask/answers/groups/processing.py": (1, "faults of a pack, whole numbers by its schema"),
    "advisor/ask/answers/groups/resets.py": (5, _CHECKED),
    "advisor/ask/answers/groups/settings.py": (2, _CHECKED),
    "advisor/ask/answers/groups/stability.py": (2, _CHECKED),
    "advisor/ask/answers/producer/cluster_timeouts.py": (3, _CHECKED),
    "advisor/ask/answers/producer/delivery_outages.py": (1, _CHECKED),
    "advisor/ask/answers/producer/outage.py": (2, _CHECKED),
    "advisor/ask/answers/producer/setup.py": (1, "a number that packs/conditions.py has read"),
    "advisor/ask/answers/sizes/batches.py": (1, _CHECKED),
    "advisor/ask/answers/sizes/chain.py": (7, _CHECKED),
    "advisor/ask/answers/storage/compaction.py": (8, _CHECKED),
    "advisor/ask/answers/storage/retention.py": (3, _CHECKED),
    "advisor/ask/answers/storage/segments.py": (6, _CHECKED),
    "advisor/ask/answers/storage/settings.py": (6, _CHECKED),
    "advisor/ask/answers/transactions/forgotten_producers.py": (2, _CHECKED),
    "advisor/ask/answers/transactions/reads.py": (1, "faults of a pack, whole numbers by its schema"),
    "advisor/ask/answers/transactions/streams.py": (5, _CHECKED),
    "advisor/ask/answers/transactions/times.py": (21, _CHECKED),
    "advisor/sim/partition/leader_epochs.py": (2, "the simulator imports nothing: digits bounded there"),
    "advisor/sim/partition/state.py": (3, "the simulator imports nothing: digits bounded there"),
}
_MAY_READ = re.compile(r"\b(int|float)[(,]|\.is(digit|decimal|numeric)\b")
_OF_NUMBERS = ("abs", "all", "any", "bool", "len", "max", "min", "round", "sum")


def _is_number(node: ast.expr) -> bool:
    """What is a number by its form: arithmetic that no text has, a constant, a count."""
    match node:
        case ast.Constant() | ast.Compare():
            return True
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.BinOp(left=left, op=op, right=right):
            return not isinstance(op, ast.Add | ast.Mod) or _is_number(left) or _is_number(right)
        case ast.BoolOp(values=values):
            return all(map(_is_number, values))
        case ast.Call(func=ast.Name(id=name)):
            return name in _OF_NUMBERS
    return False


def _numbers_read(source: str) -> list[str]:
    """Calls that turn a text of unknown length and script into a number, or ask whether it is one."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="int" | "float"), args=[given, *_]) if not _is_number(given):
                found.append(ast.unparse(node))
            case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="int" | "float"), *_]):
                found.append(ast.unparse(node))
            case ast.Attribute(attr="isdigit" | "isdecimal" | "isnumeric"):
                found.append(ast.unparse(node))
    return found


def test_numbers_are_read_in_one_place():
    wrong = {}
    for path in SOURCES:
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text()
        found = _numbers_read(text) if _MAY_READ.search(text) else []
        if name.startswith("advisor/sim/"):  # it computes with numbers; text alone is looked for
            found = [
                one for one in found if "isd" in one or "isn" in one or "(text" in one or "digits" in one
            ]
        if name != "advisor/syntax/numbers.py" and len(found) != _NUMBERS_READ.get(name, (0, ""))[0]:
            wrong[name] = found
    assert wrong == {}, "read what somebody wrote with syntax/numbers.py"
    assert {name for name in _NUMBERS_READ if not (ROOT / name).is_file()} == set()


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("int(text)", True),
        ("float(a + b)", True),
        ("list(map(int, words))", True),
        ("all(map(str.isdigit, words))", True),
        ("word.isnumeric()", True),
        ("int(seconds * 1000)", False),
        ("int(any(found))", False),
        ("int(7)", False),
    ],
)
def test_numbers_read_are_seen(source, seen):
    assert bool(_numbers_read(source)) is seen


def test_value_classes_are_cheap_to_make():
    """Each of typing's costs a plain start a quarter of a millisecond."""
    wrong = [
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        if path.is_relative_to(ROOT / "advisor")
        and re.search(r"^from typing import .*\bNamedTuple\b", path.read_text(), re.M)
    ]
    assert wrong == [], "from advisor.tuples import NamedTuple"


def test_nothing_imports_plugins_by_folder_name():
    bad = [
        path for path in SOURCES if re.search(r"^\s*(from|import) (plugins|rules)\b", path.read_text(), re.M)
    ]
    assert bad == []


def test_plugins_and_rules_import_the_api_alone():
    """An allow-list: whatever of ours is not advisor.api, or of the plugin's own package, is refused."""
    from advisor import api

    ours = ("advisor", "plugins", "rules", "kafka_advisor_plugins", "kafka_advisor_rules")
    bad = []
    for path in (path for path in SOURCES if path.parts[len(ROOT.parts)] in ("plugins", "rules")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                bad += [(path.name, name.name) for name in node.names if name.name.split(".")[0] in ours]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                module = node.module or ""
                wrong = module.split(".")[0] in ours and module != "advisor.api"
                unknown = module == "advisor.api" and {name.name for name in node.names} - set(dir(api))
                bad += [(path.name, module)] if wrong or unknown else []
            elif isinstance(node, ast.ImportFrom):
                folder = path.parents[node.level - 1]
                outside = folder in (ROOT, *ROOT.parents)
                bad += [(path.name, "." * node.level)] if outside else []
            elif isinstance(node, ast.Name) and node.id in ("import_module", "__import__"):
                bad.append((path.name, node.id))
    assert bad == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_stay_small(path):
    assert len(path.read_text().splitlines()) <= 600


def test_every_hook_is_documented_on_its_page():
    text = (ROOT / "advisor/hookspecs.py").read_text()
    hooks = re.findall(r"def (advisor_\w+)\(self\) -> list\[(\w+)\]", text)
    assert len(hooks) == 6
    for hook, spec in hooks:
        assert re.search(rf"class {spec}\(NamedTuple\):\n    \"\"\"", text), (
            f"{hook} gives an undocumented {spec}"
        )


def test_every_room_is_on_the_map():
    text = (ROOT / "advisor/README.md").read_text()
    top = [
        path
        for path in (ROOT / "advisor").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    ]
    names = [path.name + ("/" if path.is_dir() else "") for path in top if not path.name.startswith("__")]
    names += [f"{path.parent.name}/" for path in ROOT.glob("advisor/sim/*/__init__.py")]
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", ["advisor/README.md", "advisor/fleet/README.md", "advisor/replay/README.md"])
def test_the_map_names_files_that_exist(page):
    """A module may be named by the end of its path, as a reader who stands in its folder would."""
    known = [path.relative_to(ROOT).as_posix() for path in SOURCES]
    named = re.findall(r"`(?:\.\./)?([\w/]+\.py)`", (ROOT / page).read_text())
    assert named
    assert [name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in known)] == []


def test_files_speak_of_the_product_alone():
    """No path of a machine, no host of a package registry."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    hosts = "|".join(["pypi" + r"\.org", "repo1?" + r"\.maven", "registry" + r"\.npmjs", "deb" + r"\.debian"])
    pattern = re.compile(rf"({hosts}|/wor[k]/|/roo[t]/)".encode())
    bad = []
    for name in listed.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file() and pattern.search(path.read_bytes()):
            bad.append(name)
    assert bad == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_rule_has_what_a_reader_needs(rule):
    assert rule.why
    assert rule.sources
    # What Kafka refuses is never fine; what a run breaks is, for somebody.
    assert rule.fine_when or rule.guarantee is None
    assert rule.name == rule.name.lower()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_rule_has_a_failing_and_a_passing_case(rule):
    path = ROOT / "tests/rules" / f"{rule.code}-{rule.name}.txt"
    cases = {case.name.partition("-")[0] for case in read_cases(path)} if path.is_file() else set()
    assert rule.examples or cases >= {"fail", "pass"}


def test_every_rule_has_a_title():
    """The head of a finding, in words: "acknowledged records can be lost"."""
    packs = [tomllib.loads(path.read_text()) for path in ROOT.glob("rules/*.toml")]
    untitled = [rule["code"] for pack in packs for rule in pack["rule"] if "title" not in rule]
    assert untitled == [], "add a title to the rule"
    assert [rule.code for rule in RULES if len(rule.title) > 62 or rule.title[-1] in ".:"] == []


def test_readme_shows_what_the_command_prints():
    done = run("advisor", "audit", "samples/quickstart")
    assert done.returncode == 1
    assert (ROOT / "README.md").read_text().split("```")[1].strip("\n") == done.stdout.strip("\n")


def test_ci_runs_the_test_command_of_the_readme():
    (command,) = re.findall(r"^    (.*-m pytest)$", (ROOT / "README.md").read_text(), re.M)
    assert command in (ROOT / ".ci/run").read_text()


@pytest.mark.parametrize("name", ["README.md", "advisor/GUIDE.md"])
def test_links_of_the_documents_lead_somewhere(name):
    page = ROOT / name
    links = re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
    assert links
    # An index, a tag or a site that nobody has set up leads nowhere either.
    assert [link for link in links if "://" in link or not (page.parent / link).exists()] == []


def test_the_readme_counts_every_recording():
    """The table of what the simulator is held against, and what of it differs."""
    rows = re.findall(r"^\| .+ \| (\d+) \| all(?: but (\d+))? \|$", (ROOT / "README.md").read_text(), re.M)
    files = [path.read_text() for path in (ROOT / "tests/oracles/data").glob("*.jsonl")]
    assert sum(int(many) for many, _ in rows) == sum(
        bool(line) for text in files for line in text.split("\n")
    )
    listed = tomllib.loads((ROOT / "tests/oracles/differences.toml").read_text())["difference"]
    assert sum(int(but or 0) for _, but in rows) == len(listed)


def test_the_top_level_holds_what_it_should():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    top = {name.partition("/")[0] for name in listed.decode().split("\0") if name and name[0] != "."}
    folders = {"advisor", "plugins", "rules", "tests", "samples"}
    assert top == {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"} | folders
