"""`python -m tests.real.reproduced [NAME ...]`: the cases of findings.txt on a real cluster, and their fixes.

What came of it is written to advisor/real/reproduced.json, which the documentation shows. A case that is
named is played alone and replaces its own line. Needs Java and Maven; one takes half a minute to three.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from advisor.engine import Options, audit
from advisor.real.reproduce import Reproduction, Wishes, reproduce
from advisor.real.side_by_side import changes_text, told, verdict

from ..rules.case_files import Case, read_cases

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "advisor" / "real" / "reproduced.json"


def cases() -> list[Case]:
    return read_cases(HERE / "findings.txt")


def play(case: Case, folder: Path, progress: Any = lambda text: None) -> Reproduction:
    """`KA402 in 3 tries` is what a case expects."""
    code, *more = case.expected[0].split()
    options = Options((str(case.place(folder)),), cache=False, today=time.strftime("%Y-%m-%d"))
    wishes = Wishes(code, fetch=True, tries=int(more[1]) if more else 1, seconds_max=1_800)
    return reproduce(audit(options), options, wishes, progress)


def row(case: Case, done: Reproduction, seconds: float) -> dict[str, Any]:
    """A line of the table."""
    fixed = done.fixed
    return {
        "case": case.name,
        "code": done.finding.code,
        "message": done.finding.message,
        "kafka": done.release,
        "seen": done.broken.hits,
        "tries": len(done.broken.outcomes),
        "reality": done.broken.shown.words if done.broken.shown else done.broken.failure,
        "fix": changes_text(done.finding) if done.finding.fixes else None,
        "seen_with_fix": None if fixed is None else fixed.hits,
        "tries_with_fix": None if fixed is None else len(fixed.outcomes),
        "reality_with_fix": None if fixed is None else fixed.shown.words if fixed.shown else fixed.failure,
        "on": time.strftime("%Y-%m-%d"),
        "seconds": round(seconds),
    }


def main(names: list[str]) -> int:
    table = {one["case"]: one for one in json.loads(TABLE.read_text())} if TABLE.exists() else {}
    wrong = 0
    for case in cases():
        if names and case.name not in names:
            continue
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            done = play(case, Path(folder))
        table[case.name] = row(case, done, time.monotonic() - begun)
        good = done.broken.agrees and (done.fixed is None or done.fixed.agrees)
        wrong += not good
        print(f"{case.name}: {verdict(done)}", flush=True)
        if not good:
            print("\n".join(told(done, 110)), flush=True)
        order = [one.name for one in cases()]
        kept = [table[name] for name in order if name in table]
        TABLE.write_text(json.dumps(kept, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
