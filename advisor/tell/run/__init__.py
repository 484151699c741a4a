"""Runs in one notation: every trace of evidence as typed rows, and the rows as text.

    run = run_of(finding["evidence"]["trace"], finding["evidence"]["guarantee"])
    run.columns    brokers, members, links of the size chain, ...: what is looked at
    run.rows       one a step: number, time, sentence, notes, cells with what changed
    run.ending     "r0 is lost"
    run_lines(run, width=80)

Text (`audit`, `simulate`, `compare`, `explain`) and pages draw these rows and nothing else, so a run reads
the same everywhere. The trace itself stays in the JSON report as the simulator wrote it; its words
(`fence b0`, `kill9 b1`) are for programs and never shown.

A new kind of run:

1. Its steps are {step, t_ms?, event {name, text, ...}, effects, state {kind, cells, ...}} as all others'.
   `state.kind` names the kind; `cells` are its columns in words.
2. If `event.text` and `effects` are sentences already and `cells` say enough, add the kind to `TOLD` in
   `tables.py` with its legend. That is all.
3. Else write a module beside this one with `build(trace, guarantee) -> Run` and name it in `_MODULES` of
   `build.py`. `made` in `build.py` marks what changed.
4. What the run comes to is one function in `endings.py`, by guarantee.
5. `tests/tell/test_runs.py` then finds it in the rules' examples, and fails on a word of the simulator's.
"""

from .build import run_of as run_of
from .text import run_lines as run_lines
from .values import Cell as Cell
from .values import Column as Column
from .values import Row as Row
from .values import Run as Run
