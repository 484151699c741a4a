"""`kafka-advisor lsp`, spoken to over its pipes as an editor does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .client import Client, applied

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Folders with a letter that a URI escapes."""
    return Path(shutil.copytree(SAMPLES / "quickstart", tmp_path / "my shop"))


@pytest.fixture
def editor(shop: Path) -> Iterator[Client]:
    client = Client(shop)
    yield client
    assert client.end() == 0


def codes(found: list[dict[str, object]]) -> list[object]:
    return sorted(str(one["code"]) for one in found)


def test_findings_follow_what_is_typed_and_nothing_is_saved(editor: Client, shop: Path) -> None:
    producer = shop / "producer.properties"
    saved = producer.read_text()
    editor.open(producer)
    assert codes(editor.found(producer)) == ["KA011", "KA101", "KA301", "KA302"]
    editor.type(producer, saved.replace("acks=1", "acks=all"), 2)
    assert editor.found(producer) == []
    editor.type(producer, saved.replace("acks=1", "acks=al"), 3)
    assert "KA006" in codes(editor.found(producer))
    assert producer.read_text() == saved


def test_a_text_is_judged_with_the_unsaved_text_of_another_file(editor: Client, shop: Path) -> None:
    producer, topic = shop / "producer.properties", shop / "topic-orders.properties"
    editor.open(producer, producer.read_text().replace("acks=1", "acks=all"))
    assert editor.found(producer) == []
    alone = topic.read_text().replace("replication.factor=3", "replication.factor=1")
    editor.open(topic, alone.replace("min.insync.replicas=2", "min.insync.replicas=1"))
    assert "KA102" in codes([*editor.found(topic), *editor.found(producer)])
    editor.tell("textDocument/didClose", {"textDocument": {"uri": topic.as_uri()}})
    assert editor.found(topic) == []
    assert editor.found(producer) == []


def test_what_is_marked_is_the_value_in_the_units_of_the_client(editor: Client, shop: Path) -> None:
    producer = shop / "producer.properties"
    line = "acks=1"
    editor.open(producer)
    found = next(one for one in editor.found(producer) if one["code"] == "KA101")
    text = producer.read_text().splitlines()[found["range"]["start"]["line"]]
    assert text == line
    assert text[found["range"]["start"]["character"] : found["range"]["end"]["character"]] == "1"
    assert found["severity"] == 1
    assert "Fix: set acks=all" in found["message"].splitlines()
    related = [one["message"] for one in found["relatedInformation"]]
    assert "together with min.insync.replicas=2" in related


def test_columns_count_as_utf_16(editor: Client, shop: Path) -> None:
    producer = shop / "producer.properties"
    # A sign of two units before the value that is wrong.
    editor.open(producer, producer.read_text() + "client.id=\U0001d4d0\nlinger.ms = 5s\n")
    found = next(one for one in editor.found(producer) if one["code"] == "KA012")
    assert found["range"]["start"]["character"] == len("linger.ms = ")


def test_hovering_tells_facts_and_the_run(editor: Client, shop: Path) -> None:
    producer = shop / "producer.properties"
    editor.open(producer)
    editor.found(producer)
    lines = producer.read_text().splitlines()
    text = editor.hover(producer, lines.index("acks=1"))
    assert text is not None
    assert text.startswith("**acks** (producer, Kafka 4.1)")
    assert "- default: `all`" in text
    assert "How it happens (1 broker crash):" in text
    assert "broker 1 takes over" in text
    assert editor.hover(producer, len(lines) + 5) is None


def test_a_quick_fix_is_tried_on_the_text_as_it_is_typed(editor: Client, shop: Path) -> None:
    producer = shop / "producer.properties"
    # Saved with acks=all, and typed over: the file on disk has nothing to mend.
    typed = producer.read_text()
    producer.write_text(typed.replace("acks=1", "acks=all"))
    editor.open(producer, typed)
    editor.found(producer)
    [action] = editor.actions(producer, typed.splitlines().index("acks=1"))
    assert action["title"].startswith("set acks=all (fixes KA101, KA301, KA302); cost: ")
    assert "edit" not in action
    made = editor.request("codeAction/resolve", action)
    [(uri, changes)] = made["edit"]["changes"].items()
    assert uri == producer.as_uri()
    assert applied(typed, changes) == typed.replace("acks=1", "acks=all")
    assert editor.actions(producer, 0) == []


def test_a_client_that_cannot_wait_gets_the_edit_at_once(shop: Path) -> None:
    client = Client(shop, resolves=False)
    producer = shop / "producer.properties"
    client.open(producer)
    client.found(producer)
    [action] = client.actions(producer, producer.read_text().splitlines().index("acks=1"))
    assert action["edit"]["changes"]
    assert client.end() == 0


def test_a_refused_project_file_is_told_at_its_line(editor: Client, shop: Path) -> None:
    project, producer = shop / "kafka-advisor.toml", shop / "producer.properties"
    project.write_text(project.read_text() + "\nprofil = 'prod'\n")
    editor.open(producer)
    editor.open(project)
    [found] = editor.found(project)
    assert found["severity"] == 1
    assert found["range"]["start"]["line"] == len(project.read_text().splitlines()) - 1
    project.write_text(project.read_text().replace("profil = 'prod'\n", ""))
    editor.tell("textDocument/didSave", {"textDocument": {"uri": project.as_uri()}})
    assert editor.found(project) == []
    assert "KA101" in codes(editor.found(producer))
    assert len(editor.messages) == 1


def test_what_is_not_kafkas_stays_unmarked(editor: Client, shop: Path) -> None:
    other = shop / "gradle.properties"
    other.write_text("org.gradle.jvmargs=-Xmx2g\n")
    editor.open(other)
    assert editor.found(other) == []


def test_a_secret_is_never_sent(editor: Client, shop: Path) -> None:
    producer = shop / "producer.properties"
    text = (
        producer.read_text() + "ssl.keystore.pasword=hunter2secret\nssl.truststore.password=hunter2secret\n"
    )
    editor.open(producer, text)
    found = editor.found(producer)
    told = [str(found), *(str(editor.hover(producer, line)) for line in range(len(text.splitlines())))]
    assert "hunter2secret" not in "".join(told)


def test_without_pygls_one_line_says_what_to_install() -> None:
    hidden = (
        "import sys; sys.modules['pygls'] = sys.modules['lsprotocol'] = None;"
        "from advisor.commands import run; sys.exit(run(['lsp']))"
    )
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "kafka-advisor: `lsp` needs the package pygls: pip install 'pygls>=2,<3'\n"


def offered(editor: Client, path: Path, line: int, column: int) -> dict[str, dict[str, object]]:
    place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": column}}
    return {one["label"]: one for one in editor.request("textDocument/completion", place)["items"]}


def test_keys_and_values_are_completed(editor: Client, shop: Path) -> None:
    producer = shop / "producer.properties"
    lines = producer.read_text().splitlines()
    editor.open(producer)
    assert editor.found(producer)
    typed = "\n".join([*lines, "  deliv", "acks=", "# comp", ""])
    editor.type(producer, typed, 2)
    assert editor.found(producer)
    keys = offered(editor, producer, len(lines), 7)
    timeout = keys["delivery.timeout.ms"]
    assert timeout["detail"] == "int, default 120000"
    assert timeout["textEdit"] == {
        "range": {"start": {"line": len(lines), "character": 2}, "end": {"line": len(lines), "character": 7}},
        "newText": "delivery.timeout.ms=",
    }
    assert "acks" not in keys, "it is there already"
    assert "replica.lag.time.max.ms" not in keys, "a key of brokers"
    values = offered(editor, producer, len(lines) + 1, 5)
    assert list(values) == ["all", "-1", "0", "1"]
    assert values["all"]["detail"] == "default"
    assert offered(editor, producer, len(lines) + 2, 6) == {}


def test_a_file_of_nobody_is_not_completed(editor: Client, shop: Path) -> None:
    other = shop / "notes.properties"
    other.write_text("colour=red\n")
    editor.open(other)
    assert offered(editor, other, 0, 3) == {}
