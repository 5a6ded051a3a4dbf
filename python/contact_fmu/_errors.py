"""What can be wrong, as data and as exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from ._result import Result


@dataclass(frozen=True)
class Diagnostic:
    """One thing wrong with a model."""

    message: str
    """What is wrong."""
    hint: Optional[str]
    """What to do about it."""
    file: str
    """Path of the model file; ``<text>`` or ``<dict>`` for a model that was given as such."""
    line: Optional[int]
    """Line, from 1; none where no single line is at fault. For a dictionary, a line of ``Model.text``."""
    column: Optional[int]
    """Column in characters, from 1."""
    text: str
    """All of it with the line that it is about, as the command line prints it."""

    def __str__(self) -> str:
        return self.text


class ModelError(Exception):
    """A model that cannot be read, built or simulated."""

    diagnostics: list[Diagnostic]
    """Everything that is wrong, in the order of the file."""

    def __init__(self, text: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(text, diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return str(self.args[0])


class SimulationError(ModelError):
    """A simulation that cannot begin, or does not reach its stop time."""

    _run: Any = None

    @property
    def result(self) -> Optional[Result]:
        """What was simulated until then, if anything."""
        from ._result import Result

        return None if self._run is None else Result(self._run)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


class SimulationWarning(UserWarning):
    """Something that the FMU warned of. ``Result.messages`` has all of it."""
