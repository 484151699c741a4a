"""Where results lie: what is kept from run to run, and what two runs do to each other. No Spark is needed."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from advisor.fleet.store import verdict_table
from advisor.fleet.store.verdict_table import COLUMNS, FILES_MAX, SIMULATOR, keep_verdicts, read_verdicts
from advisor.model import UsageError
from advisor.spark.places import LocalPlace


def answer(number: int) -> dict[str, str]:
    return {f"verdict/{number:04}": json.dumps({"mark": f"2|a-guarantee|policy {number}", "value": number})}


def test_verdicts_are_a_table_that_grows(tmp_path):
    place = LocalPlace(str(tmp_path))
    assert read_verdicts(place) == {}
    wanted: dict[str, str] = {}
    first = None
    for number in range(FILES_MAX):
        keep_verdicts(place, answer(number))
        wanted |= answer(number)
        files = sorted((tmp_path / "verdicts").rglob("*.parquet"))
        first = first or (files[0], files[0].read_bytes())
        assert len(files) == number + 1
        assert first[0].read_bytes() == first[1], "what was written is not written again"
    assert read_verdicts(place) == wanted
    keep_verdicts(place, answer(FILES_MAX))
    wanted |= answer(FILES_MAX)
    (whole,) = (tmp_path / "verdicts").rglob("*.parquet")
    assert read_verdicts(place) == wanted
    table = pq.read_table(tmp_path / "verdicts")
    assert table.column_names == [*COLUMNS, "simulator"]
    assert table["simulator"][0].as_py() == SIMULATOR
    assert table["question"][3].as_py() == "2|a-guarantee|policy 3"
    keep_verdicts(place, {"pack/x": "[]"})
    assert whole.exists()
    assert read_verdicts(place) == wanted


def test_verdicts_of_another_simulator_are_not_believed(tmp_path, monkeypatch):
    place = LocalPlace(str(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(verdict_table, "_HERE", "verdicts/simulator=1-old")
        keep_verdicts(place, answer(1))
        assert read_verdicts(place)
    assert read_verdicts(place) == {}
    keep_verdicts(place, answer(2))
    assert [path.name for path in (tmp_path / "verdicts").iterdir()] == [f"simulator={SIMULATOR}"]


def test_a_file_that_another_run_put_away_is_passed_over(tmp_path):
    class Slow(LocalPlace):
        """Its listing is old when the files are read."""

        def names(self, path):
            return [*super().names(path), "gone.parquet"]

    place = Slow(str(tmp_path))
    keep_verdicts(place, answer(1))
    assert read_verdicts(place) == answer(1)


def test_a_flipped_bit_of_a_table_is_thrown_away(tmp_path):
    place = LocalPlace(str(tmp_path))
    keep_verdicts(place, answer(1))
    keep_verdicts(place, answer(2))
    path = min((tmp_path / "verdicts").rglob("*.parquet"))
    whole = path.read_bytes()
    (other,) = [one for one in (answer(1), answer(2)) if one != _only(path)]
    for bit in range(0, len(whole) * 8, 13):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert read_verdicts(place) == other, f"bit {bit}"
        assert not path.exists()


def _only(path):
    (row,) = pq.ParquetFile(path).read().to_pylist()
    return {f"{row['kind']}/{row['key']}": row["answer"]}


def test_two_runs_do_not_write_to_one_place(tmp_path):
    with (
        LocalPlace(str(tmp_path)).alone(),
        pytest.raises(UsageError, match="another run is writing there"),
        LocalPlace(str(tmp_path)).alone(),
    ):
        pass
    with LocalPlace(str(tmp_path)).alone():
        pass
