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
from ._model import AnyPath, Columns, Model, read_table
from ._result import Result

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

Measure = Union[str, Callable[[Result], Any]]


def grid(axes: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Every combination of the values of some parameters, the last parameter first to change."""
    values = [list(axis) for axis in axes.values()]
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

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A parameter or measure over all points; NaN where the simulation failed."""
        known = list(self.points[0] if self.points else []) + [name for one in self.values for name in one]
        if name not in known:
            raise KeyError(f"{name}: the study has {', '.join(dict.fromkeys(known))}")
        rows = ({**point, **values} for point, values in zip(self.points, self.values))
        return np.array([row.get(name, np.nan) for row in rows], dtype=np.float64)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each simulation: parameters, measures, and why it failed."""
        import pandas

        rows = zip(self.points, self.values, self.errors)
        return pandas.DataFrame([{**point, **values, "error": str(error or "")} for point, values, error in rows])


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
    :class:`ModelError`.
    """
    if faults := model.check():
        raise ModelError("\n\n".join(str(fault) for fault in faults), faults)
    chosen = grid(points) if isinstance(points, Mapping) else [dict(point) for point in points]
    if isinstance(measure, str):
        measure = {measure: measure}
    elif not isinstance(measure, Mapping):
        measure = {getattr(measure, "__name__", "measure"): measure}
    measures = dict(measure)
    table = read_table(input)
    lock, done = threading.Lock(), 0

    def one(point: dict[str, Any]) -> tuple[dict[str, Any], Optional[ModelError]]:
        nonlocal done
        values, error = {}, None
        try:
            result = model._run(stop, step, {**(set or {}), **point}, table, False)
            values = {name: result[take][-1] if isinstance(take, str) else take(result) for name, take in measures.items()}
        except ModelError as fault:
            error = fault
        with lock:
            done += 1
            if progress is not None:
                progress(done, len(chosen))
        return values, error

    pool = ThreadPoolExecutor(threads or os.cpu_count())
    try:
        results = list(pool.map(one, chosen))
    finally:
        # What has not begun after Ctrl-C or a fault of a measure does not begin.
        pool.shutdown(cancel_futures=True)
    return Study(chosen, [values for values, _ in results], [error for _, error in results])
