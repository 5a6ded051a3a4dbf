"""Small helpers over FMPy's low-level interface."""

from contextlib import contextmanager

from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Model, FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE


def references(description):
    """Value references of variables by name."""
    return {variable.name: variable.valueReference for variable in description.modelVariables}


class Named:
    """An instance that knows its variables by name."""

    def __init__(self, description, folder, instance="slave"):
        super().__init__(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=self.interface(description).modelIdentifier,
            instanceName=instance,
        )
        self.references = references(description)
        self.warnings, self.told = [], []

    def instantiate(self):
        """Keeps what the FMU logs: warnings and worse, and what it tells with fmi2OK."""

        def log(environment, instance, status, category, message):
            if status > 0:
                self.warnings.append(message.decode())
                print(message.decode())
            else:
                self.told.append(message.decode())

        callbacks = fmi2CallbackFunctions()
        callbacks.logger = fmi2CallbackLoggerTYPE(log)
        callbacks.allocateMemory = defaultCallbacks.allocateMemory
        callbacks.freeMemory = defaultCallbacks.freeMemory
        super().instantiate(callbacks=callbacks)

    def initialize(self, start=0.0):
        self.instantiate()
        self.setupExperiment(startTime=start)
        self.enterInitializationMode()
        self.exitInitializationMode()

    def real(self, *names):
        return self.getReal([self.references[name] for name in names])

    def integer(self, *names):
        return self.getInteger([self.references[name] for name in names])

    def set(self, **values):
        self.setReal([self.references[name] for name in values], list(values.values()))

    def set_named(self, values):
        self.setReal([self.references[name] for name in values], list(values.values()))


# FMPy tells FMI versions apart by how the class is called.
class FMU2NamedSlave(Named, FMU2Slave):
    """An instance for co-simulation."""

    def interface(self, description):
        return description.coSimulation

    def steps(self, first, last, step, names):
        """Steps from `first * step` to `last * step` and returns the values after each."""
        references = [self.references[name] for name in names]
        rows = []
        for k in range(first, last):
            self.doStep(k * step, step)
            rows.append(self.getReal(references) if references else [])
        return rows


class FMU2NamedBlock(Named, FMU2Model):
    """An instance for model exchange."""

    def interface(self, description):
        return description.modelExchange

    def new_states(self):
        """Time of the next event, after the states of the present one."""
        needed, terminate, nominals, values, defined, time = self.newDiscreteStates()
        assert (needed, terminate, nominals, values, defined) == (False, False, False, False, True)
        return time


@contextmanager
def slave(fmu, instance="slave"):
    """An initialized instance, terminated and freed at the end."""
    description = read_model_description(fmu)
    one = FMU2NamedSlave(description, extract(fmu), instance)
    one.initialize()
    try:
        yield one
    finally:
        one.terminate()
        one.freeInstance()


def real_outputs(fmu):
    """Names of all real outputs."""
    variables = read_model_description(fmu).modelVariables
    return [variable.name for variable in variables if variable.causality == "output" and variable.type == "Real"]
