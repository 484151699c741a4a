"""Files that cannot be read: a clear line and the right exit code, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .telling import PRODUCER, codes, report_of, statuses, told

COMPOSE = "services:\n  kafka:\n    image: apache/kafka:4.1.0\n    environment:\n      KAFKA_NODE_ID: 1\n"
BOMB = (
    COMPOSE
    + "x0: &a0 [lol, lol]\n"
    + "".join(f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
)


def flow(depth: int) -> str:
    return COMPOSE + "x: " + "[" * depth + "]" * depth + "\n"


def flow_maps(depth: int) -> str:
    return COMPOSE + "x: " + "{a: " * depth + "1" + "}" * depth + "\n"


def block(depth: int) -> str:
    """Nested as `- - - -`, the only block nesting whose size does not grow with the square of its depth."""
    return COMPOSE + "x:\n  " + "- " * depth + "x\n"


def stairs(depth: int) -> str:
    return COMPOSE + "".join(" " * n + "x:\n" for n in range(depth))


# name, bytes, and words that must be in the line that tells of it
UNREADABLE = {
    "binary.properties": (b"acks=all\n\x00\x01\x02\xff", "binary"),
    "binary.yml": (COMPOSE.encode() + b"\x00\x01", "binary"),
    "latin.yml": (COMPOSE.encode() + b"# caf\xe9\n", "line 6"),
    "bomb.yml": (BOMB.encode(), "nodes"),
    "flow-10k.yml": (flow(10_000).encode(), "nested deeper than 200"),
    "maps-10k.yml": (flow_maps(10_000).encode(), "nested deeper than 200"),
    "block-10k.yml": (block(10_000).encode(), "nested deeper than 200"),
    "stairs-2k.yml": (stairs(2000).encode(), "nested deeper than 200"),
    "flow-1m.yml": (flow(1_000_000).encode(), "nested deeper than 200"),
    "block-1m.yml": (block(1_000_000).encode(), "nested deeper than 200"),
    "cut.yml": (COMPOSE.encode() + b'x: "no end\n', "YAML"),
    "escape.properties": (b"bootstrap.servers=k:9092\nacks=\\u00zz\n", "malformed"),
}


NAMES = sorted(UNREADABLE)


@pytest.mark.parametrize("name", NAMES)
def test_named_file_that_cannot_be_read(advisor, tmp_path, name):
    data, word = UNREADABLE[name]
    (tmp_path / name).write_bytes(data)
    said = told(advisor("audit", name), 2)
    (line,) = [line for line in said.splitlines() if line.startswith(f"kafka-advisor: {name}")]
    assert word in line


def test_walked_files_that_cannot_be_read_are_skipped(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER)
    for name, (data, _) in UNREADABLE.items():
        (tmp_path / name).write_bytes(data)
    done = advisor("audit", "--format", "json", ".")
    report = report_of(done, 0)
    assert statuses(report) == {**dict.fromkeys(UNREADABLE, "skipped"), "producer.properties": "audited"}
    findings = {item["locations"][0]["file"]: item for item in report["findings"] if item["code"] == "KA001"}
    assert sorted(findings) == sorted(UNREADABLE)
    for name, (_, word) in UNREADABLE.items():
        assert findings[name]["severity"] == "warning"
        assert word in findings[name]["message"]
    assert done.stderr == ""


def test_empty_file(advisor, tmp_path):
    (tmp_path / "empty.properties").write_bytes(b"")
    assert "nothing could be audited" in told(advisor("audit", "empty.properties"), 2)
    assert "skipped empty.properties: empty" in advisor("audit", "empty.properties").stdout


def test_empty_folder(advisor, tmp_path):
    (tmp_path / "nothing").mkdir()
    assert "nothing could be audited" in told(advisor("audit", "nothing"), 2)


@pytest.mark.parametrize("name", ["huge.properties", "huge.yml"])
def test_file_of_200_mb_is_not_read(advisor, tmp_path, name):
    with open(tmp_path / name, "wb") as file:
        file.write(b"bootstrap.servers=k:9092\n")
        file.truncate(200 * 1024 * 1024)
    said = told(advisor("audit", name, timeout=20), 2)
    assert f"kafka-advisor: {name}: 209715200 bytes, more than the limit" in said


def test_properties_that_are_not_utf8_are_latin_1(advisor, tmp_path):
    """Java reads them so; nothing is lost."""
    (tmp_path / "producer.properties").write_bytes(
        PRODUCER.encode() + "client.id=caf\xe9\n".encode("latin-1")
    )
    done = advisor("audit", "--format", "json", "--show-effective", "producer.properties")
    report = report_of(done, 0)
    assert statuses(report) == {"producer.properties": "audited"}
    assert "caf\\u00e9" in done.stdout


def test_fifo_does_not_block(advisor, tmp_path):
    os.mkfifo(tmp_path / "pipe.properties")
    said = told(advisor("audit", "pipe.properties", timeout=20), 2)
    assert "pipe.properties: not a regular file" in said
    (tmp_path / "producer.properties").write_text(PRODUCER)
    report = report_of(advisor("audit", "--format", "json", ".", timeout=20), 0)
    assert statuses(report)["pipe.properties"] == "skipped"


def test_missing_path(advisor, tmp_path):
    said = told(advisor("audit", "nowhere.properties"), 2)
    assert said == "kafka-advisor: nowhere.properties: no such file or folder\n"


def test_missing_path_wins_over_findings(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER.replace("all", "ALL"))
    done = advisor("audit", "producer.properties", "nowhere")
    assert "nowhere: no such file" in told(done, 2)
    assert "KA006" in done.stdout


def test_link_loop(advisor, tmp_path):
    (tmp_path / "a.properties").symlink_to("b.properties")
    (tmp_path / "b.properties").symlink_to("a.properties")
    (tmp_path / "round").symlink_to(".")
    assert "symbolic links" in told(advisor("audit", "a.properties"), 2)
    (tmp_path / "producer.properties").write_text(PRODUCER)
    report = report_of(advisor("audit", "--format", "json", "."), 0)
    assert statuses(report)["producer.properties"] == "audited"
    assert not [name for name in statuses(report) if name.startswith("round")]


def test_broken_link(advisor, tmp_path):
    (tmp_path / "gone.properties").symlink_to("nowhere")
    assert "gone.properties: no such file" in told(advisor("audit", "gone.properties"), 2)


def test_link_out_of_the_root_is_not_followed(advisor, tmp_path):
    outside = tmp_path / "outside.properties"
    outside.write_text("acks=ALL\nbootstrap.servers=k:9092\nlinger.ms=1\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "kafka-advisor.toml").write_text("")
    (root / "producer.properties").write_text(PRODUCER)
    (root / "link.properties").symlink_to(outside)
    (root / "folder").symlink_to(tmp_path)
    report = report_of(advisor("audit", "--format", "json", root), 0)
    assert statuses(report) == {"producer.properties": "audited", "link.properties": "skipped"}
    assert codes(report) == ["KA001"]
    done = advisor("audit", root / "link.properties")
    assert "link.properties: a link that leads out of" in told(done, 2)
    assert "ALL" not in done.stdout


def test_fix_writes_through_no_link_out_of_the_root(advisor, tmp_path):
    outside = tmp_path / "outside.properties"
    outside.write_text(PRODUCER.replace("all", "ALL"))
    root = tmp_path / "root"
    root.mkdir()
    (root / "kafka-advisor.toml").write_text("")
    (root / "producer.properties").symlink_to(outside)
    told(advisor("fix", "--write", root), 2)
    assert outside.read_text() == PRODUCER.replace("all", "ALL")


def test_link_inside_the_root_is_followed(advisor, tmp_path):
    (tmp_path / "kafka-advisor.toml").write_text("")
    (tmp_path / "producer.properties").write_text(PRODUCER)
    (tmp_path / "link.properties").symlink_to("producer.properties")
    report = report_of(advisor("audit", "--format", "json", "link.properties"), 0)
    assert statuses(report) == {"link.properties": "audited"}


def test_folders_nested_beyond_every_recursion(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER)
    folder = os.open(tmp_path, os.O_RDONLY)
    for name in ["d"] * 1100 + ["e" * 200] * 12:
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    try:
        done = advisor("audit", "--format", "json", ".")
        assert statuses(report_of(done, 0)) == {"producer.properties": "audited"}
        # What lies deeper than a path may be long is told, not passed over.
        assert done.stderr.endswith("e: file name too long\n")
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def _runs_as(user: dict[str, int]) -> bool:
    words = [sys.executable, "-c", "import advisor, yaml"]
    try:
        return subprocess.run(words, cwd="/", capture_output=True, check=False, **user).returncode == 0
    except PermissionError:
        return False


def test_folder_without_permission(advisor, tmp_path):
    """Root may read everything, so as root the command is run as nobody."""
    nobody = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
    if not _runs_as(nobody):
        pytest.skip("another user cannot run this Python")
    shared = tmp_path / "shared"
    locked = shared / "locked"
    locked.mkdir(parents=True)
    (shared / "producer.properties").write_text(PRODUCER)
    (locked / "consumer.properties").write_text("group.id=x\n")
    unreadable = shared / "secret.properties"
    unreadable.write_text(PRODUCER)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != folder.parent:
            folder.chmod(folder.stat().st_mode | 0o055)
    locked.chmod(0)
    unreadable.chmod(0)

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "advisor", "audit", "--no-cache", *words],
            cwd=shared,
            capture_output=True,
            text=True,
            check=False,
            **nobody,
        )

    try:
        assert "permission denied" in told(run("locked"), 2)
        assert "secret.properties: permission denied" in told(run("secret.properties"), 2)
        done = run(".")
        assert "locked: permission denied" in told(done, 0)
        assert "secret.properties: permission denied" in done.stdout
    finally:
        locked.chmod(0o755)


def test_file_name_that_is_no_text(advisor, tmp_path):
    """A name of bytes that are not UTF-8, with an escape that would drive a terminal."""
    name = b"pro\xffducer\x1b[31m.properties"
    with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
        file.write(PRODUCER.replace("all", "ALL").encode())
    for format in ("text", "json"):
        done = advisor("audit", "--format", format, ".")
        told(done, 1)
        assert "\x1b" not in done.stdout
        assert "KA006" in done.stdout
    done = advisor("audit", "no\x1b[31m.properties")
    assert "\x1b" not in told(done, 2)


# What the command line and the files of the project say


@pytest.fixture
def good(tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER)


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--select", "KA999"], "no rule is called 'KA999'"),
        (["--ignore", "no-such-rule"], "no rule is called 'no-such-rule'"),
        (["--set", "acks"], "--set acks: write component.key=value"),
        (["--set", "acks=1"], "write component.key=value"),
        (["--set", "writer.acks=1"], "no component 'writer'"),
        (["--set", "producer.ack=1"], "did you mean producer.acks?"),
        (["--set", "fact.broker=1"], "no such fact"),
        (["--kafka-version", "banana"], "banana"),
        (["--kafka-version", "4.x", "--set", "producer.acks=1"], "4.x"),
        (["--kafka-version", ""], "version"),
        (["--format", "yaml"], "no report format 'yaml' (allowed: checkstyle, github, gitlab, html, json,"),
        (["--report", "json"], "write FORMAT=FILE"),
        (["--report", "xml=x"], "no report format 'xml'"),
        (["--report", "json=no/such/folder/x.json"], "no/such/folder/x.json: no such file"),
        (["--rules", "no.toml"], "no.toml"),
        (["--plugin", "no.py"], "--plugin no.py: no such file"),
        (["--fail-on", "sometimes"], "invalid choice"),
        (["--nonsense"], "unrecognized arguments"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_words(advisor, words, said):
    done = advisor("audit", *words, "producer.properties")
    assert said in told(done, 2)


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kafka_version = \n", "kafka-advisor.toml:1"),
        ('kafka_version = "4.1"\nprofil = "prod"\n', "kafka-advisor.toml:2: profil: unknown field"),
        ("kafka_version = 4.1\n", "must be in quotes"),
        ('[severity]\nKA006 = "fatal"\n', "kafka-advisor.toml:2"),
        ('plugins = ["evil.py"]\n', "--trust-plugins"),
        ('rules = ["../outside.toml"]\n', "leaves the folder"),
        ('plugins = ["not-installed"]\n', "not installed"),
        ('[[suppress]]\nrule = "KA006"\n', "reason"),
        ('[[deployment]]\nproducer = "nobody"\n', "no producer called 'nobody'"),
        ("\xff\xfe", "kafka-advisor.toml"),
        ("a = " + "[" * 5000 + "]" * 5000 + "\n", "kafka-advisor.toml"),
        ('kafka_version = "99.9.9.9.9"\n', "kafka-advisor.toml:1"),
    ],
)
def test_broken_project_file(advisor, tmp_path, text, said):
    (tmp_path / "kafka-advisor.toml").write_bytes(text.encode("latin-1"))
    assert said in told(advisor("audit", "producer.properties"), 2)


@pytest.mark.usefixtures("good")
def test_project_file_that_is_no_file(advisor, tmp_path):
    os.mkfifo(tmp_path / "kafka-advisor.toml")
    told(advisor("audit", "producer.properties", timeout=20), 0)


PACK = '[pack]\nname = "house"\nschema = 1\nprefix = "HOUSE"\n'
RULE = (
    '[[rule]]\ncode = "HOUSE001"\nname = "loud"\nseverity = "warning"\nmessage = "{producer}: loud"\n'
    'why = "It is."\n'
)


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "pack"),
        ("[pack\n", "house.toml:1"),
        (PACK + RULE, "house.toml:5"),
        (PACK + RULE + 'when.all = [{ key = "producer.acks", like = "x" }]\n', "like"),
        (PACK + RULE + 'check = "no-such-check"\n', "no-such-check"),
        (PACK + RULE.replace("HOUSE001", "KA006") + 'check = "start-enum"\n', "prefix"),
        (PACK + RULE.replace('"loud"', '"not-a-choice"') + 'check = "start-enum"\n', "not-a-choice"),
        (PACK + (RULE + 'check = "start-enum"\n') * 2, "taken"),
    ],
)
def test_broken_pack(advisor, tmp_path, text, said):
    (tmp_path / "house.toml").write_text(text)
    assert said in told(advisor("audit", "--rules", "house.toml", "producer.properties"), 2)


HOOK = "from advisor.api import FormatSpec, CheckSpec, hookimpl\n"


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import no_such_module\n", "failed to import: ModuleNotFoundError"),
        ("def broken(:\n", "failed to import: SyntaxError"),
        ("raise SystemExit(0)\n", "failed to import: SystemExit"),
        (HOOK + "@hookimpl\ndef advisor_format():\n    return []\n", "advisor_format"),
        pytest.param(HOOK + "@hookimpl\ndef advisor_formats(config):\n    return []\n", "config"),
        (HOOK + "@hookimpl\ndef advisor_formats():\n    return ['x']\n", "FormatSpec is expected"),
        pytest.param(HOOK + "@hookimpl\ndef advisor_formats():\n    return 3\n", "broken"),
        pytest.param(
            HOOK + "@hookimpl\ndef advisor_formats():\n    raise RuntimeError('x')\n",
            "broken.py",
        ),
        (
            HOOK + "@hookimpl\ndef advisor_formats():\n"
            "    return [FormatSpec('spring', ('.x',), (), 'm:c', 'm:l', 'again')]\n",
            "two plugins give a format named 'spring'",
        ),
        (
            HOOK + "@hookimpl\ndef advisor_formats():\n"
            "    return [FormatSpec('mine', ('.properties',), (), 'no_module:c', 'm:l', 'x')]\n",
            "no_module:c cannot be loaded",
        ),
    ],
)
def test_broken_plugin(advisor, tmp_path, text, said):
    (tmp_path / "broken.py").write_text(text)
    assert said in told(advisor("audit", "--plugin", "broken.py", "producer.properties"), 2)


@pytest.mark.usefixtures("good")
def test_reader_of_a_plugin_that_fails_is_told_and_the_rest_goes_on(advisor, tmp_path):
    (tmp_path / "mine.py").write_text(
        HOOK + "@hookimpl\ndef advisor_formats():\n"
        "    return [FormatSpec('mine', ('.mine',), (), 'mine:claim', 'mine:load', 'x')]\n"
        "def claim(name, text):\n    return 100\n"
        "def load(source):\n    return int(source.text)\n"
    )
    (tmp_path / "a.mine").write_text("hunter2")
    report = report_of(advisor("audit", "--plugin", "mine.py", "--format", "json", "."), 0)
    assert statuses(report) == {"a.mine": "skipped", "producer.properties": "audited"}
    (finding,) = [item for item in report["findings"] if item["code"] == "KA001"]
    assert "ValueError" in finding["message"]
    assert "mine.py:8" in finding["message"], "the plugin's author is not told where"
    assert "hunter2" not in finding["message"], "what a file holds may be a secret"


# Where the output goes


@pytest.mark.usefixtures("good")
def test_closed_pipe_is_silent(tmp_path):
    for number in range(300):
        (tmp_path / f"producer-{number}.properties").write_text(PRODUCER.replace("all", "ALL"))
    done = subprocess.run(
        f"'{sys.executable}' -m advisor audit --no-cache --select KA0 --format json . | head -1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{\n"
    assert done.stderr == ""


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize("redirect", [">&-", ">/dev/full", "2>&-", ">&- 2>&-"])
def test_output_that_cannot_be_written(tmp_path, redirect):
    done = subprocess.run(
        f"'{sys.executable}' -m advisor audit --no-cache . {redirect}",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    told(done, 0 if redirect == "2>&-" else 2)
    if redirect == ">/dev/full":
        assert "no space left" in done.stderr


def test_terminal_that_cannot_show_a_letter(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER.replace("acks=all", "acks=\u4f60\u597d"))
    done = advisor("audit", ".", env={"PYTHONIOENCODING": "ascii"})
    told(done, 1)
    assert "\\u4f60\\u597d" in done.stdout


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize("where", ["file", "file/below"])
def test_unwritable_cache_is_a_note(advisor, tmp_path, where):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "kafka-advisor.toml").write_text('kafka_version = "4.1"\n')
    done = advisor("audit", ".", env={"KAFKA_ADVISOR_CACHE": str(tmp_path / where)})
    said = told(done, 0)
    assert said.startswith("kafka-advisor: cache off: ")
    assert said.count("\n") == 1
    assert "read 1 file" in done.stdout
    assert told(advisor("audit", "--no-cache", "."), 0) == ""


@pytest.mark.usefixtures("good")
def test_torn_cache_is_not_believed(advisor, tmp_path):
    (tmp_path / "kafka-advisor.toml").write_text('kafka_version = "4.1"\n')
    own = {"KAFKA_ADVISOR_CACHE": str(tmp_path / ".cache")}
    first = advisor("audit", ".", env=own)
    entries = list((tmp_path / ".cache").rglob("*.json"))
    assert entries, "nothing was kept"
    for entry in entries:
        entry.write_text(entry.read_text()[:20])
    second = advisor("audit", ".", env=own)
    told(second, 0)
    assert second.stdout == first.stdout
