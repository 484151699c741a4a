"""`simulate --checkpoint`: a leader-epoch-checkpoint explained."""

from __future__ import annotations

import pytest


@pytest.fixture
def checkpoint(tmp_path):
    def write(text: str | bytes):
        path = tmp_path / "leader-epoch-checkpoint"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_s4_asked_for_epoch_1_the_answer_is_80(simulate, checkpoint):
    path = checkpoint("0\n3\n1 20\n2 80\n3 120\n")
    done = simulate("--checkpoint", path)
    assert (done.code, done.err) == (0, "")
    assert (
        "  asked for epoch 1 → 80\n  asked for epoch 2 → 120\n  asked for epoch 3 → the end of the log\n"
        in done.out
    )
    assert "Epoch 1 wrote offsets 20 to 79" in done.out
    done = simulate("--checkpoint", path, "--log-end-offset", "200", "--format", "json")
    assert [answer["end_offset"] for answer in done.json["answers"]] == [80, 120, 200]
    assert done.json["entries"][0] == {"epoch": 1, "start_offset": 20}


@pytest.mark.parametrize("text", ["", "0\n", "0\n0\n"])
def test_no_epoch_at_all(simulate, checkpoint, text):
    done = simulate("--checkpoint", checkpoint(text))
    assert done.code == 0
    assert "0 leader epochs" in done.out
    assert "No leader epoch has written" in done.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x\n", ":1: expected the version"),
        ("1\n0\n", ":1: version 1"),
        ("0\nmany\n", ":2: expected the number of entries"),
        ("0\n2\n0 0\n", ":2: 2 entries announced, 1 found"),
        ("0\n1\n0 0 0\n", ':3: expected "epoch offset"'),
        ("0\n1\n0 -5\n", ":3: epoch 0 at offset -5"),
        ("0\n1\n0 99999999999999999999\n", ":3: expected a start offset"),
        (b"\xff\xfe\x00", ": is not a leader-epoch-checkpoint"),
        ("0\n" + "9" * 5000 + "\n", ":"),
        ("0\n1\n0 \x1b[31m\n", ":3: "),
    ],
)
def test_a_file_that_kafka_would_refuse(simulate, checkpoint, text, said):
    path = checkpoint(text)
    done = simulate("--checkpoint", path)
    assert (done.code, done.out) == (2, "")
    assert f"{path}{said}" in done.err
    assert "\x1b" not in done.err
    assert "a mistake in kafka-advisor" not in done.err


def test_what_does_not_fit(simulate, checkpoint, tmp_path):
    path = checkpoint("0\n1\n0 10\n")
    for words, said in [
        (("--log-end-offset", "5"), "the last epoch begins at 10"),
        (("--set", "producer.acks=1"), "only --log-end-offset fits"),
        (("x",), "only --log-end-offset fits"),
    ]:
        done = simulate("--checkpoint", path, *words)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
    assert simulate("--checkpoint", tmp_path / "none").code == 2
    assert simulate("--checkpoint", tmp_path).code == 2
