"""Models: loaded, checked, built, simulated."""

from __future__ import annotations

import atexit
import os
import warnings
import weakref
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, Optional, Protocol, Union

from . import _native
from ._errors import Diagnostic, SimulationWarning
from ._result import Result

AnyPath = Union[str, "os.PathLike[str]"]
Table = tuple[list[str], list[list[str]]]


class Columns(Protocol):
    """Columns by name: a dictionary, a ``pandas.DataFrame``, another result."""

    def keys(self) -> Iterable[Any]: ...

    def __getitem__(self, name: str, /) -> Any: ...


def load(source: Union[AnyPath, Mapping[str, Any]], folder: Optional[AnyPath] = None) -> Model:
    """A model from a file, a text or a dictionary.

    A string with a line break in it is the text of a model file, any other string is a path. A dictionary holds the keys
    of the model file; numbers and lists may be NumPy's. Files that a text or a dictionary names are looked for in
    ``folder``, by default the current one; a model file's are beside it.

    Only a file that cannot be read raises :class:`ModelError` here. What else is wrong with a model is told by
    :meth:`Model.check`, and raised when it is built or simulated.
    """
    if isinstance(source, Mapping):
        text, name = _native.model_text(source), "<dict>"
    elif isinstance(source, str) and "\n" in source:
        text, name = source, "<text>"
    elif not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a model is the path of a file, the text of one or a dictionary, not {type(source).__name__}")
    elif folder is not None:
        raise TypeError("folder is for models that are given as text or dictionary; a model file's files are beside it")
    else:
        return Model(_native.Model.of_file(source))
    return Model(_native.Model(text, name if folder is None else os.path.join(folder, name)))


class Model:
    """A model, right or wrong. It does not change: :meth:`changed` gives another."""

    def __init__(self, native: _native.Model) -> None:
        """Use :func:`load`."""
        self._native = native
        _open.add(self)

    @property
    def name(self) -> Optional[str]:
        """Name, unless something is wrong with the model."""
        summary = self._native.summary()
        return None if summary is None else summary[0]

    @property
    def text(self) -> str:
        """The model file."""
        return self._native.text

    @property
    def data(self) -> dict[str, Any]:
        """The model file as a new dictionary, for :func:`load`."""
        return self._native.data()

    def check(self) -> list[Diagnostic]:
        """Everything that is wrong with the model; an empty list when it is right."""
        return self._native.diagnostics()

    def build(self, path: Optional[AnyPath] = None, platforms: Iterable[str] = (), fmi: int = 2) -> Path:
        """Writes the FMU, by default ``NAME.fmu`` in the current folder, and returns its path.

        It holds libraries for ``platforms``, by default for all that :func:`contact_fmu.platforms` names, and is of
        FMI 2.0 or, with ``fmi=3``, 3.0. The file is whole or not there.
        """
        if isinstance(platforms, str):
            platforms = [platforms]
        return Path(self._native.build(path, list(platforms), fmi))

    def simulate(
        self,
        stop: Optional[float] = None,
        step: Optional[float] = None,
        set: Optional[Mapping[str, Any]] = None,
        input: Optional[Union[AnyPath, Columns]] = None,
        *,
        log: bool = False,
    ) -> Result:
        """Simulates the model and returns all outputs and inputs.

        The library of the FMU does it, through its FMI functions; several threads may simulate at a time, also the same
        model. ``stop`` and ``step`` are seconds, by default those of the model file. ``set`` gives start values of
        parameters and inputs; ``input`` a column ``time`` and one for each input that follows it: a dictionary, a data
        frame or the path of a CSV file. Real inputs are interpolated. ``log`` keeps all that the FMU logs in
        ``messages`` of the result, not only warnings.

        Raises :class:`SimulationError`, which has what was simulated until then.
        """
        return self._run(stop, step, start_values(set), read_table(input), log)

    def _run(
        self,
        stop: Optional[float],
        step: Optional[float],
        settings: list[tuple[str, str]],
        table: Optional[Table],
        log: bool,
        end: Optional[_native.End] = None,
    ) -> Result:
        result = Result(self._native.simulate(stop, step, settings, table, log, end))
        spoken = [message for message in result.messages if message.kind not in ("note", "fmi2OK")]
        if spoken:
            more = f" (and {len(spoken) - 1} more: see `messages` of the result)" if len(spoken) > 1 else ""
            warnings.warn(f"{spoken[0].kind}: {spoken[0].text}{more}", SimulationWarning, stacklevel=3)
        return result

    def changed(self, changes: Mapping[str, Any]) -> Model:
        """The model with other values: ``model.changed({"engine.step": 1e-4, "node.ball.shape.sphere.radius": 0.2})``.

        Keys are written as in the model file, with dots between them. In lists (``node``, ``surface``, ``contact``,
        ``spring``, ``joint``) a name or a place from 0 says which one is meant. Values that can be set when the FMU
        starts, such as ``ball.mass``, need no other model: ``simulate(set=...)`` is quicker.
        """
        data = self.data
        for path, value in _mapping(changes, "changes").items():
            if not isinstance(path, str):
                raise TypeError(f"{path!r}: a key is text, such as `engine.step`")
            _change(data, path, value)
        return Model(_native.Model(_native.model_text(data), self._native.origin))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.text, self._native.origin)

    def __repr__(self) -> str:
        summary = self._native.summary()
        if summary is None:
            return f"<contact_fmu.Model {self._native.origin}: {len(self.check())} faults, see check()>"
        return f"<contact_fmu.Model {summary[0]}: {summary[2]}>"

    def _repr_html_(self) -> str:
        summary = self._native.summary()
        if summary is None:
            faults = "\n\n".join(escape(str(fault)) for fault in self.check())
            return f"<pre>{faults}</pre>"
        name, description, parts = (escape(part) for part in summary)
        text = escape(self.text)
        return (
            f"<b>{name}</b>{': ' if description else ''}{description}<br>{parts}"
            f"<details><summary>model file</summary><pre>{text}</pre></details>"
        )


def _restored(text: str, origin: str) -> Model:
    return Model(_native.Model(text, origin))


# Models with a temporary folder, which is not to outlive the process.
_open: weakref.WeakSet[Model] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for model in list(_open):
        model._native.close()


def start_values(given: Optional[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Names and values as text."""
    return [] if given is None else [(str(name), _value(value, name)) for name, value in _mapping(given, "set").items()]


def as_list(values: Iterable[Any], name: object) -> list[Any]:
    """The values of an axis or a column."""
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{name}: {values!r} is not a list of values") from None


def _mapping(given: Any, argument: str) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"`{argument}` is a dictionary of names and values, not {type(given).__name__}")
    return given


def _value(value: Any, name: object) -> str:
    """As the command line would be told."""
    if getattr(value, "ndim", 0) == 0 and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return value
    raise TypeError(f"{name}: {value!r} is neither a number nor a boolean nor text")


def read_table(given: Optional[Union[AnyPath, Columns]]) -> Optional[Table]:
    """Header and rows of a table of inputs."""
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        try:
            return _native.table(Path(given).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{os.fspath(given)}: {error}") from None
    if not hasattr(given, "keys"):
        raise TypeError(f"`input` is columns by name or the path of a CSV file, not {type(given).__name__}")
    names = list(given.keys())
    header = [str(name) for name in names]
    columns = [[_value(value, name) for value in as_list(given[name], name)] for name in names]
    lengths = {name: len(column) for name, column in zip(header, columns)}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns of different lengths: {lengths}")
    return header, [list(row) for row in zip(*columns)]


def _change(data: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    place: Any = data
    for key in parents:
        place = place[_index(place, key, path)] if isinstance(place, list) else _table_of(place, path).setdefault(key, {})
    if isinstance(place, list):
        place[_index(place, last, path)] = value
    else:
        _table_of(place, path)[last] = value


def _table_of(place: Any, path: str) -> dict[str, Any]:
    if not isinstance(place, dict):
        raise KeyError(f"{path}: {place!r} has no keys")
    return place


def _index(items: list[Any], key: str, path: str) -> int:
    if key.isdecimal() and int(key) < len(items):
        return int(key)
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    if key in names:
        return names.index(key)
    known = ", ".join(str(name) for name in names if name is not None)
    raise KeyError(f"{path}: there is no `{key}`, only {known or f'0 to {len(items) - 1}'}")
