"""`python -m tests.sim.rewrite`: write the golden traces and the counts of states anew. CI never does."""

from __future__ import annotations

import re
import sys

from advisor.sim import Broken

from .scenario import SCENARIOS, TRACES, load, text_of


def main() -> int:
    TRACES.mkdir(exist_ok=True)
    wanted = set()
    for path in sorted(SCENARIOS.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        head, *tables = re.split(r"(?m)^(?=\[\[case\]\])", text)
        for number, case in enumerate(load(path)):
            trace, verdict = (), None
            if case.events:
                trace = case.drive()
            else:
                verdict = case.ask()
                if verdict.verdict != case.expected["verdict"]:
                    print(f"{case.id}: {verdict.text()}, but {case.expected['verdict']} is expected")
                tables[number] = re.sub(r"(?m)^states = \d+", f"states = {verdict.states}", tables[number])
                trace = verdict.trace if isinstance(verdict, Broken) else ()
            if trace:
                case.trace_path.write_text(text_of(case, verdict, trace), encoding="utf-8")
                wanted.add(case.trace_path)
        path.write_text("".join([head, *tables]), encoding="utf-8")
    for stale in sorted(set(TRACES.glob("*.txt")) - wanted):
        stale.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
