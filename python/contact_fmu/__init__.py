"""Hard contact and friction: models of contact-fmu built, simulated and reported from Python.

    import contact_fmu

    model = contact_fmu.load("drop.toml")
    result = model.simulate(stop=2.0)
    height = result["ball.r[3]"]

An FMU that ``model.build()`` writes contains no Python and needs nothing installed.
"""

from ._errors import Diagnostic, ModelError, SimulationError, SimulationWarning
from ._model import Model, load
from ._native import __version__, platforms
from ._result import Message, Result
from ._study import Study, grid, sweep

__all__ = [
    "Diagnostic",
    "Message",
    "Model",
    "ModelError",
    "Result",
    "SimulationError",
    "SimulationWarning",
    "Study",
    "__version__",
    "grid",
    "load",
    "platforms",
    "sweep",
]
