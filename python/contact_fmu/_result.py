"""What a simulation gives."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _native

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]


class Message(NamedTuple):
    """Something that was said during a simulation."""

    time: float
    """Time of the sample before it."""
    kind: str
    """``note`` of the master, or the status with which the FMU logged it: ``fmi2Warning``, ..."""
    text: str
    """The text."""


class Result(Mapping[str, NDArray[np.float64]]):
    """Samples of a simulation by name: ``result["time"]``, ``result["ball.r[3]"]``. In a notebook it shows its report.

    Outputs come first, then inputs, each a NumPy array. Integers are given as numbers, booleans as 0 and 1.
    """

    def __init__(self, run: _native.Run) -> None:
        """Use :meth:`Model.simulate`."""
        self._run = run
        self._facts = {name: (place, unit, text) for place, (name, unit, text) in enumerate(run.columns())}
        self._arrays: dict[str, NDArray[np.float64]] = {}

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        array = self._arrays.get(name)
        if array is None:
            data = self._run.times() if name == "time" else self._run.column(self._fact(name)[0])
            array = np.frombuffer(data, dtype=np.float64).copy()
            self._arrays[name] = array
        return array

    def __iter__(self) -> Iterator[str]:
        yield "time"
        yield from self._facts

    def __len__(self) -> int:
        return 1 + len(self._facts)

    def _fact(self, name: str) -> tuple[int, str, str]:
        """Place, unit and description of a column."""
        if name not in self._facts:
            near = get_close_matches(str(name), list(self), n=1)
            raise KeyError(f"{name}: the result has no such column{f', did you mean {near[0]}?' if near else ''}")
        return self._facts[name]

    def unit(self, name: str) -> str:
        """Unit of a column; empty where it has none."""
        return "s" if name == "time" else self._fact(name)[1]

    def description(self, name: str) -> str:
        """What a column is, in one sentence."""
        return "Simulated time" if name == "time" else self._fact(name)[2]

    @property
    def messages(self) -> list[Message]:
        """What the FMU and the master said, in order."""
        return [Message(*message) for message in self._run.messages()]

    def to_pandas(self) -> pandas.DataFrame:
        """All columns as a data frame with the time as its index."""
        import pandas

        columns = {name: self[name] for name in self._facts}
        return pandas.DataFrame(columns, index=pandas.Index(self["time"], name="time"))

    def report(self, path: Optional[Union[str, os.PathLike[str]]] = None) -> str:
        """The report page: plots, the motion in 3D, energy, solver statistics, messages. With a path it is written there
        too."""
        if path is not None:
            self._run.write_report(path)
        return self._run.report()

    def __repr__(self) -> str:
        time = self["time"]
        return f"<contact_fmu.Result: {len(self)} columns, {len(time)} samples, {time[0]:g} to {time[-1]:g} s>"

    def _repr_html_(self) -> str:
        page = escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 720px; border: 0" title="report"></iframe>'

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a result stays in its process: take what you need of it, for instance to_pandas()")

