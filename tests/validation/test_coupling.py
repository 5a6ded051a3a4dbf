"""FMUs with bodies that the master moves: FMPy finds nothing to object to, and state goes in and forces come out."""

import json
import tomllib
import zipfile
from pathlib import Path

import fmpy
import jsonschema
import numpy as np
import pytest
from conftest import ROOT, contact_fmu
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu
from lxml import etree
from masters import real_outputs, slave

SOURCE = ROOT / "tests/fixtures/couplings.toml"
COUPLED = ["ball", "top", "again", "tip", "table", "wall"]


@pytest.fixture(scope="module")
def fmu(tmp_path_factory):
    path = tmp_path_factory.mktemp("couplings") / "couplings.fmu"
    contact_fmu("build", SOURCE, "-o", path)
    return str(path)


def test_model_file_keeps_the_schema():
    jsonschema.validate(tomllib.loads(SOURCE.read_text()), json.loads(contact_fmu("schema")))


def test_validation_finds_nothing(fmu):
    assert validate_fmu(fmu) == []
    schema = etree.XMLSchema(file=str(Path(fmpy.__file__).parent / "schema/fmi2/fmi2ModelDescription.xsd"))
    with zipfile.ZipFile(fmu) as archive:
        schema.assertValid(etree.fromstring(archive.read("modelDescription.xml")))


def test_page_and_inspection_list_every_variable(fmu):
    names = [variable.name for variable in read_model_description(fmu).modelVariables]
    assert {"ball.r[3]", "top.q[4]", "again.f_applied[1]", "tip.contact_v[2]", "table.t[3]"} <= set(names)
    with zipfile.ZipFile(fmu) as archive:
        page = archive.read("documentation/index.html").decode()
    assert "Bodies that the master moves" in page
    inspected = contact_fmu("inspect", fmu)
    for name in names:
        assert f"<code>{name}</code>" in page
        assert f"\n{name} " in inspected


def test_causality_follows_the_coupling(fmu):
    causality = {variable.name: variable.causality for variable in read_model_description(fmu).modelVariables}
    for body in COUPLED:
        assert causality[f"{body}.r[1]"] == "input"
        assert causality[f"{body}.f[1]"] == "output"
    assert causality["owned.r[1]"] == "output"


def test_forces_of_a_fmpy_run_are_finite(fmu):
    outputs = real_outputs(fmu)
    result = simulate_fmu(fmu, output=outputs, step_size=1e-3, output_interval=1e-3)
    assert len(result) == 101
    for name in outputs:
        assert np.isfinite(result[name]).all(), name


def test_given_motion_decides_on_the_gap(fmu):
    with slave(fmu) as one:
        for height in [0.9, 0.8, 0.7]:
            one.reset()
            one.setupExperiment()
            one.enterInitializationMode()
            one.set_named({"ball.r[3]": height, "table.r[3]": 0.1})
            (gap,) = one.real("ball_table.gap")
            assert abs(gap - (height - 0.1 - 0.2)) < 1e-14
            one.exitInitializationMode()


def test_saved_states_hold_what_the_master_gave(fmu):
    names = real_outputs(fmu)
    with slave(fmu) as one:
        one.set_named({"ball.r[3]": 0.21, "ball.v[3]": -5.0})
        state = one.getFMUstate()
        ahead = one.steps(0, 20, 1e-3, names)
        one.set_named({"ball.r[3]": 3.0, "ball.v[3]": 0.0})
        one.steps(20, 22, 1e-3, names)
        restored = one.deSerializeFMUstate(one.serializeFMUstate(state))
        one.setFMUstate(restored)
        assert one.real("ball.r[3]", "ball.v[3]") == [0.21, -5.0]
        assert one.steps(0, 20, 1e-3, names) == ahead
        one.freeFMUstate(restored)
        one.freeFMUstate(state)


def test_a_quaternion_that_is_no_rotation_stops_the_step(fmu):
    with slave(fmu) as one:
        one.set_named({"top.q[1]": 0.0, "top.q[3]": 0.0})
        with pytest.raises(Exception, match="fmi2DoStep failed with status 3"):
            one.doStep(0.0, 1e-3)
        one.set_named({"top.q[1]": 0.83, "top.q[3]": 0.63})
        one.doStep(0.0, 1e-3)
