"""The simulator: replication as transition rules, and a search for the run that breaks a guarantee.

It knows no configuration keys, no files, no clock and no chance, and imports nothing of the rest of the
package. `ask` is the way in; `start` and `run` drive a given list of events.
"""

from .partition import NotEnabled as NotEnabled
from .partition import enabled as enabled
from .partition import run as run
from .partition import step as step
from .partition_state import Event as Event
from .partition_state import Policy as Policy
from .partition_state import start as start
from .questions import QUESTIONS as QUESTIONS
from .questions import ask as ask
from .tolerance import Headline as Headline
from .tolerance import Tolerance as Tolerance
from .tolerance import headline as headline
from .tolerance import tolerance as tolerance
from .verdict import Bounds as Bounds
from .verdict import Broken as Broken
from .verdict import Holds as Holds
from .verdict import Step as Step
from .verdict import Trace as Trace
from .verdict import Unknown as Unknown
from .verdict import Verdict as Verdict
from .verdict import table as table
