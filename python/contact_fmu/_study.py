"""Parameter studies: many simulations of one model, in threads."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._errors import ModelError
from ._model import AnyPath, Columns, Model, as_list, read_table, start_values
from ._native import End
from ._result import Result

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

Measure = Union[str, Callable[[Result], Any]]


def grid(axes: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Every combination of the values of some parameters, the last parameter first to change."""
    values = [as_list(axis, name) for name, axis in axes.items()]
    return [dict(zip(axes, point)) for point in itertools.product(*values)]


@dataclass(frozen=True)
class Study:
    """Simulations of a parameter study, in the order of their points."""

    points: list[dict[str, Any]]
    """Start values of each simulation."""
    values: list[dict[str, Any]]
    """What was measured of each, by name; empty where the simulation failed."""
    errors: list[Optional[ModelError]]
    """Why a simulation failed; none where it did not."""
    measures: list[str]
    """Names of what was measured."""

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A parameter or measure over all points; NaN where the simulation failed."""
        known = dict.fromkeys([*(key for point in self.points for key in point), *self.measures])
        if name not in known:
            raise KeyError(f"{name}: the study has {', '.join(known)}")
        rows = ({**point, **values} for point, values in zip(self.points, self.values))
        return np.array([row.get(name, np.nan) for row in rows], dtype=np.float64)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each simulation: parameters, measures, and why it failed."""
        import pandas

        nothing = dict.fromkeys(self.measures, np.nan)
        rows = zip(self.points, self.values, self.errors)
        return pandas.DataFrame([{**point, **nothing, **values, "error": str(error or "")} for point, values, error in rows])


def sweep(
    model: Model,
    points: Union[Mapping[str, Iterable[Any]], Sequence[Mapping[str, Any]]],
    measure: Union[Measure, Mapping[str, Measure]],
    *,
    stop: Optional[float] = None,
    step: Optional[float] = None,
    set: Optional[Mapping[str, Any]] = None,
    input: Optional[Union[AnyPath, Columns]] = None,
    threads: Optional[int] = None,
    progress: Optional[Callable[[int, int], None]] = None,
) -> Study:
    """Simulates a model with many start values, on all processors.

    ``points`` is a list of start values as in ``simulate(set=...)``, or gives values for each parameter, of which every
    combination is taken. ``measure`` says what is kept of each result: the name of a column, whose last value is taken, or
    a function of the result; a dictionary of these keeps several under its own names. ``set``, ``input``, ``stop`` and
    ``step`` are the same for all. ``progress`` is called with how many simulations are done, and how many there are.

    A simulation that fails has an entry in ``errors`` and stops no other. A model that is wrong raises
    :class:`ModelError`. Ctrl-C, and an exception in a measure or in ``progress``, ends all of them.
    """
    if not isinstance(model, Model):
        raise TypeError(f"the first argument is a model, which `load` gives, not {type(model).__name__}")
    if faults := model.check():
        raise ModelError("\n\n".join(str(fault) for fault in faults), faults)
    if isinstance(points, Mapping):
        chosen = grid(points)
    elif all(isinstance(point, Mapping) for point in as_list(points, "points")):
        chosen = [dict(point) for point in points]
    else:
        raise TypeError("points are a list of dictionaries, or a dictionary with the values of each parameter")
    if isinstance(measure, str):
        measure = {measure: measure}
    elif not isinstance(measure, Mapping):
        measure = {getattr(measure, "__name__", "measure"): measure}
    measures = dict(measure)
    for name, take in measures.items():
        if not (isinstance(take, str) or callable(take)):
            raise TypeError(f"{name}: {take!r} is neither the name of a column nor a function of the result")
    workers = (os.cpu_count() or 1) if threads is None else threads
    if not isinstance(workers, int) or workers < 1:
        raise ValueError(f"threads is a whole number from 1 up, not {threads!r}")
    settings = [start_values({**(set or {}), **point}) for point in chosen]
    table, end = read_table(input), End()
    lock, done = threading.Lock(), 0

    def one(start: list[tuple[str, str]]) -> tuple[dict[str, Any], Optional[ModelError]]:
        try:
            return simulated(start)
        except BaseException:
            # Those before it, which are waited for first, run no further.
            end.now()
            raise

    def simulated(start: list[tuple[str, str]]) -> tuple[dict[str, Any], Optional[ModelError]]:
        nonlocal done
        values, error = {}, None
        try:
            result = model._run(stop, step, start, table, False, end)
            values = {name: result[take][-1] if isinstance(take, str) else take(result) for name, take in measures.items()}
        except ModelError as fault:
            error = fault
        with lock:
            done += 1
            if progress is not None:
                progress(done, len(chosen))
        return values, error

    pool = ThreadPoolExecutor(workers)
    try:
        results = list(pool.map(one, settings))
    finally:
        # After Ctrl-C none runs further, and none begins.
        end.now()
        pool.shutdown(cancel_futures=True)
    return Study(chosen, [values for values, _ in results], [error for _, error in results], list(measures))
