"""The simulator: replication as transition rules, and a search for the run that breaks a guarantee.

It knows no configuration keys, no files, no clock and no chance, and imports nothing of the rest of the
package. `ask` is the way in; `start` and `run` drive a given list of events. Names are found on first use:
a verdict that is known already needs no model.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .partition.state import Event as Event
    from .partition.state import Policy as Policy
    from .partition.state import start as start
    from .partition.step import NotEnabled as NotEnabled
    from .partition.step import enabled as enabled
    from .partition.step import run as run
    from .partition.step import step as step
    from .questions import QUESTIONS as QUESTIONS
    from .questions import ask as ask
    from .search.verdict import Bounds as Bounds
    from .search.verdict import Broken as Broken
    from .search.verdict import Holds as Holds
    from .search.verdict import Step as Step
    from .search.verdict import Trace as Trace
    from .search.verdict import Unknown as Unknown
    from .search.verdict import Verdict as Verdict
    from .search.verdict import table as table

_HOMES = {
    "partition.step": ("NotEnabled", "enabled", "run", "step"),
    "partition.state": ("Event", "Policy", "start"),
    "questions": ("QUESTIONS", "ask"),
    "search.verdict": ("Bounds", "Broken", "Holds", "Step", "Trace", "Unknown", "Verdict", "table"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"advisor.sim has no name {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
