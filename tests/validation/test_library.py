"""What is inside an FMU: symbols, size, reproducible bytes, no trace of the machine it was built on."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

from conftest import ROOT, contact_fmu
from fmpy import extract

FMI2_FUNCTIONS = {
    "fmi2" + name
    for name in """
    GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment EnterInitializationMode
    ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean
    SetString GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate
    GetDirectionalDerivative SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus
    GetRealStatus GetIntegerStatus GetBooleanStatus GetStringStatus EnterEventMode NewDiscreteStates
    EnterContinuousTimeMode CompletedIntegratorStep SetTime SetContinuousStates GetDerivatives GetEventIndicators
    GetContinuousStates GetNominalsOfContinuousStates
    """.split()
}


def test_exactly_the_fmi_functions_are_exported(fmus):
    library = next(Path(extract(fmus.fmu("bouncing_ball"))).glob("binaries/linux64/*.so"))
    listing = subprocess.run(
        ["nm", "--dynamic", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    assert {line.split()[-1].split("@")[0] for line in listing.splitlines()} == FMI2_FUNCTIONS


def test_fmus_are_small(fmus, model):
    with zipfile.ZipFile(fmus.fmu(model)) as archive:
        libraries = [name for name in archive.namelist() if name.startswith("binaries/")]
    assert os.path.getsize(fmus.fmu(model)) < 2_100_000 * len(libraries)


def test_two_builds_give_the_same_bytes(fmus, model, tmp_path):
    shutil.copytree(ROOT / "models" / model, tmp_path / "elsewhere")
    source = (tmp_path / "elsewhere" / "model.toml").rename(tmp_path / "elsewhere" / "copy.toml")
    os.utime(source, (0, 0))
    environment = dict(os.environ, TZ="Pacific/Auckland", LANG="de_DE.UTF-8")
    again = tmp_path / "again.fmu"
    contact_fmu("build", source, "-o", again, env=environment, cwd=tmp_path)
    assert again.read_bytes() == Path(fmus.fmu(model)).read_bytes()


def test_archive_holds_no_date(fmus):
    with zipfile.ZipFile(fmus.fmu("bouncing_ball")) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert b"generationDateAndTime" not in archive.read("modelDescription.xml")


def test_no_path_of_the_build_machine_is_inside(fmus):
    with zipfile.ZipFile(fmus.fmu("bouncing_ball")) as archive:
        for entry in archive.namelist():
            content = archive.read(entry)
            for path in (ROOT, Path.home()):
                assert str(path).encode() + b"/" not in content, entry
