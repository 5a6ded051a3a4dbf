"""Every way an importer may name the resources folder, the missing one included."""

import shutil
from ctypes import byref
from pathlib import Path
from urllib.parse import quote

import pytest
from fmpy import extract, read_model_description
from fmpy.fmi2 import fmi2CallbackFunctions, fmi2CoSimulation, fmi2False
from masters import FMU2NamedSlave

# How the folder is named; whether the path inside is percent-encoded, or only its percent signs are.
LOCATIONS = {
    "single slash": lambda path: b"file:" + quote(path).encode(),
    "triple slash": lambda path: b"file://" + quote(path).encode(),
    "localhost": lambda path: b"file://localhost" + quote(path).encode(),
    "trailing slash": lambda path: b"file://" + quote(path).encode() + b"/",
    "spaces and umlauts as they are": lambda path: b"file://" + path.replace("%", "%25").encode(),
    "single slash, as it is": lambda path: b"file:" + path.replace("%", "%25").encode(),
    "plain path": lambda path: path.encode(),
    "missing": lambda path: None,
    "empty": lambda path: b"",
}


@pytest.fixture
def folder(fmus, tmp_path):
    """An extracted FMU in a folder whose name needs encoding."""
    target = tmp_path / "with space, 100% ü"
    shutil.copytree(extract(fmus.fmu("bouncing_ball")), target)
    return target


@pytest.mark.parametrize("name", LOCATIONS)
def test_location(folder, name):
    location = LOCATIONS[name](str(folder / "resources"))
    description = read_model_description(str(folder))
    slave = FMU2NamedSlave(description, str(folder))
    callbacks = fmi2CallbackFunctions()
    component = slave.fmi2Instantiate(
        b"ball", fmi2CoSimulation, description.guid.encode(), location, byref(callbacks), fmi2False, fmi2False
    )
    assert component
    slave.component = component
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.doStep(0.0, 0.5)
    slave.freeInstance()


def test_folder_that_is_not_there(folder):
    description = read_model_description(str(folder))
    slave = FMU2NamedSlave(description, str(folder))
    callbacks = fmi2CallbackFunctions()
    component = slave.fmi2Instantiate(
        b"ball",
        fmi2CoSimulation,
        description.guid.encode(),
        Path("/nowhere/resources").as_uri().encode(),
        byref(callbacks),
        fmi2False,
        fmi2False,
    )
    assert not component
