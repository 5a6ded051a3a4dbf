"""Model files written from Python values, and their runs through the library that is packed into the FMU."""

import numpy as np
from fmpy.fmi1 import FMICallException
from masters import FMU2NamedSlave

G = 9.81
WARNING = 1


def value(of):
    """A value as TOML: a mapping is an inline table."""
    if isinstance(of, bool):
        return str(of).lower()
    if isinstance(of, str):
        return f'"{of}"'
    if isinstance(of, dict):
        return "{ " + ", ".join(f"{key} = {value(item)}" for key, item in of.items()) + " }"
    if isinstance(of, (list, tuple, np.ndarray)):
        return "[" + ", ".join(map(value, of)) + "]"
    return repr(int(of)) if isinstance(of, (int, np.integer)) else repr(float(of))


def entry(kind, keys):
    return f"\n{kind}\n" + "".join(f"{key} = {value(item)}\n" for key, item in keys.items())


def node(name, mass, **keys):
    """A node that the FMU moves."""
    return entry("[[node]]", {"name": name, "coupling": "owned", "mass": mass, **keys})


def surface(name, **keys):
    return entry("[[surface]]", {"name": name, **keys})


def plane(name, normal=(0.0, 0.0, 1.0), **keys):
    return surface(name, shape={"plane": {"normal": normal}}, **keys)


def contact(one, other, restitution=0.0, mu=None, **keys):
    friction = {} if mu is None else {"friction": {"cone": {"mu": mu}}}
    return entry("[[contact]]", {"between": [one, other], "restitution": restitution, **friction, **keys})


def joint(name, one, other, **keys):
    return entry("[[joint]]", {"name": name, "between": [one, other], **keys})


def spring(name, one, other, **keys):
    return entry("[[spring]]", {"name": name, "between": [one, other], **keys})


def model(*entries, step=1e-3, gravity=(0.0, 0.0, -G), inner=None, **engine):
    """A model file with communication steps of `step` and internal ones of `inner`, or as long; what is not told is at its
    default."""
    head = entry("[model]", {"name": "textbook"}) + entry("[experiment]", {"step": step})
    engine = {"step": inner or step, "gravity": gravity, **engine}
    return head + entry("[engine]", engine) + "".join(entries)


def ball_inertia(mass, radius):
    """Of a solid sphere."""
    return [0.4 * mass * radius**2] * 3


def box_inertia(mass, size):
    """Of a solid box with these edges."""
    squares = np.square(size)
    return list(mass / 12 * (squares.sum() - squares))


def turn(axis, angle):
    """Quaternion w x y z of a turn about a coordinate axis, "x", "y" or "z"."""
    quaternion = np.zeros(4)
    quaternion[0], quaternion[1 + "xyz".index(axis)] = np.cos(angle / 2), np.sin(angle / 2)
    return quaternion


def rotated(quaternion, vector):
    """A vector of the body in world components; arrays of either go along their first axis."""
    quaternion, vector = np.asarray(quaternion), np.asarray(vector)
    w, axis = quaternion[..., :1], quaternion[..., 1:]
    twice = 2 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)


class Run:
    """What came of a run: values at all communication points, the start included, and what the FMU said."""

    def __init__(self, names, rows, times, statuses, log):
        self.columns = dict(zip(names, np.array(rows).T))
        self.time, self.statuses, self.log = np.array(times), statuses, log

    def __getitem__(self, name):
        return self.columns[name]

    def vector(self, name, count=3):
        return np.stack([self.columns[f"{name}[{axis}]"] for axis in range(1, count + 1)], axis=1)

    def turned(self, name, vector):
        """A vector of a body's frame in world components at all times."""
        return rotated(self.vector(f"{name}.q", 4), vector)

    @property
    def told(self):
        """Whether any status or log line said that something was done less exactly than asked."""
        return bool(self.log) or max(self.statuses, default=0) >= WARNING


def run(fmus, text, stop, step=1e-3, names=None, start=None, inputs=None, times=None):
    """Steps the FMU of a model text. `inputs` gives values by name at the time at which a step starts; `times` are the
    communication points, where they are not multiples of `step`. Without `names` all real outputs are kept.
    A status above fmi2Warning is a failure."""
    description, folder = fmus.of_text(text)
    slave = FMU2NamedSlave(description, folder)
    slave.instantiate()
    slave.set_named(start or {})
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    if names is None:
        names = [variable.name for variable in description.modelVariables
                 if variable.causality == "output" and variable.type == "Real"]
    references = [slave.references[name] for name in names]
    if times is None:
        times = step * np.arange(round(stop / step) + 1)
    rows, statuses = [slave.getReal(references)], []
    try:
        for begin, end in zip(times[:-1], times[1:]):
            if inputs is not None:
                slave.set_named(inputs(begin))
            try:
                statuses.append(slave.fmi2DoStep(slave.component, begin, end - begin, 1))
            except FMICallException as failure:
                raise AssertionError(f"doStep from {begin} s: {failure}; {slave.warnings[-1:]}") from failure
            rows.append(slave.getReal(references))
    finally:
        slave.freeInstance()
    return Run(names, rows, times, statuses, slave.warnings)
