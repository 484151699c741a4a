"""What the simulator answered, kept for all runs to come: a parquet table in OUT/verdicts.

    simulator  version and digest of the program that answered: a folder each (`simulator=0.1.0-82bde8381624`)
    kind       verdict (the search), answer (what is computed) or read (a key that a rule asked for)
    key        digest of the question
    question   the guarantee, the policy, what is free of charge, the faults
    answer     JSON

A file is named by the digest of its bytes: one that is damaged betrays itself and is removed. A run adds one
file and rewrites none, so two runs at once cannot hurt each other. When there are many files
they are put together into one; a reader that comes upon a file just removed passes over it, and at worst asks
the simulator again.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...memo.digests import digest, program_digest

if TYPE_CHECKING:
    from ...spark.places import Place

FOLDER = "verdicts"
SIMULATOR = f"{__version__}-{program_digest()[:12]}"
COLUMNS = ("kind", "key", "question", "answer")
KINDS = ("verdict", "answer", "read")
# Beyond this many files, listing and opening them costs more than writing them anew.
FILES_MAX = 16
_HERE = f"{FOLDER}/simulator={SIMULATOR}"


def read_verdicts(place: Place) -> dict[str, str]:
    """By `kind/key`, as a worker asks."""
    return {f"{row['kind']}/{row['key']}": row["answer"] for row in _rows(place, _files(place))}


def keep_verdicts(place: Place, new: dict[str, str]) -> None:
    rows = []
    for mark, answer in sorted(new.items()):
        kind, _, key = mark.partition("/")
        if kind in KINDS:
            rows.append({"kind": kind, "key": key, "question": json.loads(answer)["mark"], "answer": answer})
    if rows:
        _write(place, rows)
    files = _files(place)
    if len(files) > FILES_MAX:
        whole = {(row["kind"], row["key"]): row for row in _rows(place, files)}
        made = _write(place, [whole[key] for key in sorted(whole)])
        for name in files:
            if name != made:
                place.delete(f"{_HERE}/{name}")
    for name in place.names(FOLDER):
        if f"{FOLDER}/{name}" != _HERE:
            place.delete(f"{FOLDER}/{name}")


def _files(place: Place) -> list[str]:
    return [name for name in place.names(_HERE) if name.endswith(".parquet")]


def _rows(place: Place, files: list[str]) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = []
    for name in files:
        data = place.read_bytes(f"{_HERE}/{name}")
        if data is not None and name != _name(data):
            place.delete(f"{_HERE}/{name}")
        elif data is not None:
            rows += pq.read_table(io.BytesIO(data), columns=list(COLUMNS)).to_pylist()
    return rows


def _write(place: Place, rows: list[dict[str, Any]]) -> str:
    """The name of the new file."""
    import pyarrow
    import pyarrow.parquet as pq

    data = io.BytesIO()
    schema = pyarrow.schema([(name, pyarrow.string()) for name in COLUMNS])
    pq.write_table(pyarrow.Table.from_pylist(rows, schema=schema), data, compression="zstd")
    name = _name(data.getvalue())
    place.write_bytes(f"{_HERE}/{name}", data.getvalue())
    return name


def _name(data: bytes) -> str:
    return f"{digest(data)}.parquet"
