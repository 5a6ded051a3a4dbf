"""Every way an importer may name the resources folder, the missing one included."""

import shutil
from ctypes import byref
from pathlib import Path

import pytest
from fmpy import extract, read_model_description
from fmpy.fmi2 import fmi2CallbackFunctions, fmi2CoSimulation, fmi2False
from masters import Slave

LOCATIONS = {
    "single slash": lambda path: b"file:" + path,
    "triple slash": lambda path: b"file://" + path,
    "localhost": lambda path: b"file://localhost" + path,
    "trailing slash": lambda path: b"file://" + path + b"/",
    "plain path": lambda path: path,
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
@pytest.mark.parametrize("encoded", [True, False])
def test_location(folder, name, encoded):
    from urllib.parse import quote

    path = str(folder / "resources")
    if name == "plain path" and encoded:
        pytest.skip("a plain path is never encoded")
    if name not in ("plain path", "missing", "empty") and not encoded:
        path = path.replace("%", "%25")
    location = LOCATIONS[name]((quote(path) if encoded else path).encode())
    description = read_model_description(str(folder))
    slave = Slave(description, str(folder))
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
    slave = Slave(description, str(folder))
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
