"""Slaves of FMI 3.0 as FMPy makes them, with variables by name."""

from contextlib import contextmanager

from fmpy import extract, read_model_description
from fmpy.fmi3 import FMU3Slave


class Slave3:
    """An instance in step mode, or in event mode if events are used."""

    def __init__(self, path, events=False, early_return=False, intermediate=None):
        self.description = read_model_description(path)
        self.variables = {variable.name: variable for variable in self.description.modelVariables}
        interface = self.description.coSimulation
        self.fmu = FMU3Slave(
            guid=self.description.guid,
            unzipDirectory=extract(path),
            modelIdentifier=interface.modelIdentifier,
            instanceName=interface.modelIdentifier,
        )
        self.messages = []
        self.fmu.instantiate(
            eventModeUsed=events, earlyReturnAllowed=early_return, intermediateUpdate=intermediate, logMessage=self.keep
        )

    def keep(self, environment, status, category, message):
        self.messages.append(message.decode())

    def start(self, **values):
        self.set(**values)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def get(self, name):
        variable = self.variables[name]
        count = 1
        for dimension in variable.dimensions:
            count *= int(dimension.start)
        values = self.fmu.getFloat64([variable.valueReference], count)
        return values if variable.dimensions else values[0]

    def set(self, **values):
        for name, value in values.items():
            value = value if hasattr(value, "__len__") else [value]
            self.fmu.setFloat64([self.variables[name.replace("__", ".")].valueReference], value)

    def ticks(self, name):
        return self.fmu.getClock([self.variables[name].valueReference])[0]

    def state(self, name):
        return self.fmu.getInt64([self.variables[name].valueReference])[0]


@contextmanager
def slave3(path, **options):
    slave = Slave3(path, **options)
    try:
        yield slave
    finally:
        slave.fmu.freeInstance()
