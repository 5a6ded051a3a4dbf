"""The contact FMU as a master's Python program sees it: FMPy, with inputs and outputs in named groups."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave


def build(model, folder, source=None):
    """Builds the FMU of models/`model`, or of another file, in a folder. CONTACT_FMU names the tool, if it is not on the
    path."""
    tool = os.environ.get("CONTACT_FMU") or shutil.which("contact-fmu")
    if tool is None:
        raise SystemExit("contact-fmu is not on the path: put it there, or let CONTACT_FMU name it")
    path = Path(folder) / f"{model}.fmu"
    source = source or Path(__file__).with_name(model) / "model.toml"
    subprocess.run([tool, "build", str(source), "-o", str(path)], check=True, stdout=subprocess.DEVNULL)
    return path


def vector(name, size=3):
    """Names of the components of a vector."""
    return [f"{name}[{k}]" for k in range(1, size + 1)]


class FmuSide:
    """An instance in initialization mode, until `start`."""

    def __init__(self, path, inputs=(), outputs=(), parameters=None):
        description = read_model_description(path)
        self.references = {variable.name: variable.valueReference for variable in description.modelVariables}
        self.inputs = [self.references[name] for name in inputs]
        self.outputs = [self.references[name] for name in outputs]
        self.folder = tempfile.TemporaryDirectory()
        self.slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=extract(path, self.folder.name),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="contact",
        )
        self.slave.instantiate()
        if parameters:
            self.slave.setReal([self.references[name] for name in parameters], list(parameters.values()))
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()

    def start(self, values=None):
        """Ends the initialization, with values of the inputs if there are any."""
        if values is not None:
            self.slave.setReal(self.inputs, values)
        self.slave.exitInitializationMode()

    def step(self, time, length, values=None):
        """Sets the inputs, steps, and gives the outputs."""
        if values is not None:
            self.slave.setReal(self.inputs, values)
        self.slave.doStep(time, length)
        return self.slave.getReal(self.outputs)

    def read(self, *names):
        return self.slave.getReal([self.references[name] for name in names])

    def close(self):
        self.slave.terminate()
        self.slave.freeInstance()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
