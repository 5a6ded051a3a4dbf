"""System structure packages: against the schema of SSP 1.0, and run by FMPy, libcosim and ecos."""

import ctypes
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import exact
import fmpy
import numpy as np
import pytest
from conftest import BUILDER, MODELS, ROOT, contact_fmu
from fmpy import read_model_description
from fmpy.ssp.simulation import simulate_ssp
from fmpy.ssp.ssd import get_connections, read_ssd
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
from lxml import etree
from masters import references
from other_fmus import other_fmu

# FMPy starts with all connectors at zero, whatever the package says, so the ball starts there too.
BALL = (ROOT / "models/coupled_ball/model.toml").read_text().replace("0.0, 0.0, 1.001", "0.0, 0.0, 0.0")
BALL = BALL.replace("normal = [0.0, 0.0, 1.0]\n", "normal = [0.0, 0.0, 1.0]\nposition = [0.0, 0.0, -1.001]\n")
STEP = 1e-3
NAMESPACES = {
    "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
    "ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
    "ssv": "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model file, the smooth half of its ball, and FMUs that do not quite fit."""
    folder = tmp_path_factory.mktemp("ssp")
    (folder / "ball.toml").write_text(BALL)
    other_fmu("smooth_ball", "smooth_ball", folder / "smooth_ball.fmu")
    other_fmu("other_tool", "lag", folder / "lag.fmu")
    (folder / "high.toml").write_text((ROOT / "models/coupled_ball/model.toml").read_text())
    start = lambda xml: xml.replace('unit="m" start="0"', 'unit="m" start="1.001"')
    other_fmu("smooth_ball", "smooth_ball", folder / "high_ball.fmu", edit=start, defines=["HEIGHT=1.001"])
    renamed = lambda xml: xml.replace("ball.r[3]", "z").replace("ball.v[3]", "speed").replace("ball.f[3]", "force")
    other_fmu("smooth_ball", "smooth_ball", folder / "free fall-1.fmu", edit=renamed)
    scaled = lambda xml: xml.replace('name="m"><BaseUnit m="1"/>', 'name="m"><BaseUnit m="1" factor="0.001"/>')
    other_fmu("smooth_ball", "smooth_ball", folder / "millimetres.fmu", edit=scaled)
    return folder


def ssp(folder, name, *arguments):
    """Writes a package and returns its path and its description, which is checked against the schema."""
    path = folder / name
    assert contact_fmu("ssp", "ball.toml", *arguments, "-o", name, cwd=folder) == f"{name}\n"
    return path, read_ssd(path)


def tree_of(path):
    with zipfile.ZipFile(path) as archive:
        return etree.fromstring(archive.read("SystemStructure.ssd"))


def connections(ssd):
    return {
        (entry.startElement, entry.startConnector, entry.endElement, entry.endConnector)
        for entry in ssd.system.connections
    }


SMOOTH = {
    ("smooth_ball", "ball.r[3]", "coupled_ball", "ball.r[3]"),
    ("smooth_ball", "ball.v[3]", "coupled_ball", "ball.v[3]"),
    ("coupled_ball", "ball.f[3]", "smooth_ball", "ball.f[3]"),
}


def inner(ssd):
    return {entry for entry in connections(ssd) if entry[0] and entry[2]}


def plain(name):
    """Name of a connector of the system: OMSimulator takes no dots and brackets there."""
    return name.replace(".", "_").replace("[", "_").removesuffix("]")


def starts(path):
    """Start values that the package has for components, and under None for the system's own connectors."""
    found = {}
    for bindings in tree_of(path).iter("{%s}ParameterBindings" % NAMESPACES["ssd"]):
        parent = bindings.getparent()
        name = parent.get("name") if etree.QName(parent).localname == "Component" else None
        (values,) = bindings.findall("ssd:ParameterBinding/ssd:ParameterValues/ssv:ParameterSet", NAMESPACES)
        etree.XMLSchema(etree.parse(SSV)).assertValid(values)
        found[name] = {
            entry.get("name"): (etree.QName(entry[0]).localname, entry[0].get("value"))
            for entry in values.findall("ssv:Parameters/ssv:Parameter", NAMESPACES)
        }
    return found


SSV = Path(fmpy.__file__).parent / "ssp/schema/SystemStructureParameterValues.xsd"


@pytest.mark.parametrize("model", MODELS)
def test_names_in_open_systems_are_plain(folder, model):
    """As OMSimulator wants them: connectors of the system have neither dots nor brackets, and each a name of its own."""
    path = folder / f"open_{model}.ssp"
    contact_fmu("ssp", ROOT / "models" / model / "model.toml", "--open", "-o", path)
    system = tree_of(path).find("ssd:System", NAMESPACES)
    names = [connector.get("name") for connector in system.findall("ssd:Connectors/ssd:Connector", NAMESPACES)]
    assert names and len(set(names)) == len(names)
    assert all(re.fullmatch(r"\w+", name) for name in names)
    ends = [
        connection.get(f"{end}Connector")
        for connection in system.findall("ssd:Connections/ssd:Connection", NAMESPACES)
        for end in ("start", "end")
        if connection.get(f"{end}Element") is None
    ]
    assert sorted(ends) == sorted(names)


def test_start_values_are_those_of_the_model(folder):
    path = folder / "start.ssp"
    contact_fmu("ssp", "high.toml", "--with", "lag.fmu", "--open", "-o", path, cwd=folder)
    found = starts(path)
    assert found["coupled_ball"]["ball.r[3]"] == ("Real", "1.001") == found[None]["ball_r_3"]
    assert set(found["coupled_ball"]) == {f"ball.{letter}[{axis}]" for letter in ("r", "v", "f_ext") for axis in (1, 2, 3)}
    assert found["lag"] == {"u": ("Real", "0.0"), "enabled": ("Boolean", "true")}
    assert set(found[None]) == {plain(name) for name in [*found["coupled_ball"], *found["lag"]]}
    contact_fmu("ssp", "high.toml", "--with", "high_ball.fmu", "-o", path, cwd=folder)
    found = starts(path)
    assert found["coupled_ball"] == {"ball.r[3]": ("Real", "1.001"), "ball.v[3]": ("Real", "0.0")}
    assert found["high_ball"] == {"ball.f[3]": ("Real", "0.0")} and None not in found


def test_starts_that_do_not_agree_are_noted(folder):
    command = [str(BUILDER), "ssp", "high.toml", "--with", "smooth_ball.fmu", "-o", "apart.ssp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    told = "note: input coupled_ball.ball.r[3] starts at 1.001, but smooth_ball.ball.r[3], to which it is connected, at 0.0\n"
    assert done.stderr == told


def test_one_fmu(folder):
    path, ssd = ssp(folder, "one.ssp", "--open")
    assert zipfile.ZipFile(path).namelist() == ["SystemStructure.ssd", "resources/coupled_ball.fmu"]
    (component,) = ssd.system.elements
    assert (component.name, component.source) == ("coupled_ball", "resources/coupled_ball.fmu")
    kinds = {connector.name: connector.kind for connector in component.connectors}
    assert (kinds["ball.r[3]"], kinds["ball.f[3]"], kinds["ball.mass"]) == ("input", "output", "parameter")
    assert "time" not in kinds
    outer = {connector.name: connector.kind for connector in ssd.system.connectors}
    assert outer == {plain(name): kind for name, kind in kinds.items() if kind in ("input", "output")}
    assert inner(ssd) == set()
    assert len(connections(ssd)) == len(outer)
    assert len(get_connections(ssd.system)) == len(outer)


def test_connectors_of_the_system_are_asked_for(folder):
    _, ssd = ssp(folder, "closed.ssp")
    (component,) = ssd.system.elements
    assert ssd.system.connectors == [] and connections(ssd) == set()
    kinds = {connector.kind for connector in component.connectors}
    assert kinds == {"output", "parameter"}, "FMPy reads no system with an open input"


def test_types_and_units(folder):
    path, ssd = ssp(folder, "lag.ssp", "--open", "--with", "lag.fmu")
    tree = tree_of(path)
    find = lambda component, name: tree.find(
        f".//ssd:Component[@name='{component}']/ssd:Connectors/ssd:Connector[@name='{name}']", NAMESPACES
    )
    for component, name, tag, attributes in [
        ("coupled_ball", "ball.r[3]", "Real", {"unit": "m"}),
        ("coupled_ball", "ball.f[3]", "Real", {"unit": "N"}),
        ("coupled_ball", "ball_floor.state", "Integer", {}),
        ("lag", "u", "Real", {"unit": "degC"}),
        ("lag", "gain", "Real", {}),
        ("lag", "enabled", "Boolean", {}),
        ("lag", "label", "String", {}),
        ("lag", "mode", "Enumeration", {"name": "lag.Mode"}),
    ]:
        (element,) = find(component, name)
        assert (etree.QName(element).localname, dict(element.attrib)) == (tag, attributes), name
    units = {unit.name: unit for unit in ssd.units}
    assert (units["N"].kg, units["N"].m, units["N"].s) == (1, 1, -2)
    assert (units["degC"].K, units["degC"].offset) == (1, 273.15)
    items = tree.findall("ssd:Enumerations/ssc:Enumeration[@name='lag.Mode']/ssc:Item", NAMESPACES)
    assert [(item.get("name"), item.get("value")) for item in items] == [("lag", "1"), ("direct", "2")]
    experiment = tree.find("ssd:DefaultExperiment", NAMESPACES)
    assert (float(experiment.get("startTime")), float(experiment.get("stopTime"))) == (0.0, 5.0)
    used = {element.get("unit") for element in tree.iter("{%s}Real" % NAMESPACES["ssc"])} - {None}
    assert used == set(units)
    steps = [element.get("stepSize") for element in tree.iter() if etree.QName(element).localname == "FixedStepMaster"]
    assert [float(step) for step in steps] == [1e-3]
    osp = "{http://opensimulationplatform.com/SSP/OSPAnnotations}FixedStepAlgorithm"
    assert [float(element.get("baseStepSize")) for element in experiment.iter(osp)] == [1e-3]


def test_same_names_are_connected(folder):
    path, ssd = ssp(folder, "coupled.ssp", "--with", "smooth_ball.fmu")
    assert connections(ssd) == SMOOTH
    _, ssd = ssp(folder, "open.ssp", "--with", "smooth_ball.fmu", "--open")
    assert inner(ssd) == SMOOTH
    names = [connector.name for connector in ssd.system.connectors]
    assert len(set(names)) == len(names)
    assert "ball_r_1" in names and "ball_r_3" not in names and "ball_f_3" not in names


def in_fmpy(path, steps):
    """Heights of the ball after each step, and the latency that the FMU found."""
    result = simulate_ssp(str(path), stop_time=(steps - 0.5) * STEP, step_size=STEP)
    return result["smooth_ball.ball.r[3]"], result["coupled_ball.ball.latency"][-1]


def in_libcosim(path, steps, ball="smooth_ball"):
    """With the step size of the package."""
    # libcosim takes the folder of the description.
    extracted = path.with_suffix("")
    zipfile.ZipFile(path).extractall(extracted)
    execution = CosimExecution.from_ssp_file(ssp_path=str(extracted))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer=observer)
    index, contact = (execution.slave_index_from_instance_name(name) for name in (ball, "coupled_ball"))
    height = references(read_model_description(extracted / f"resources/{ball}.fmu"))["ball.r[3]"]
    heights = []
    for _ in range(steps):
        assert execution.step()
        heights += observer.last_real_values(index, [height])
    assert abs(execution.status().current_time - steps * STEP * 1e9) < 1
    latency = references(read_model_description(extracted / "resources/coupled_ball.fmu"))["ball.latency"]
    return heights, observer.last_integer_values(contact, [latency])[0]


def in_ecos(path, steps, ball="smooth_ball"):
    # ecos is linked with a library that another package brings.
    ctypes.CDLL(f"{sys.prefix}/lib/libtbb.so.12", mode=ctypes.RTLD_GLOBAL)
    from ecospy import EcosSimulation

    heights = []
    with EcosSimulation(step_size=STEP, ssp_path=str(path)) as simulation:
        simulation.init()
        for _ in range(steps):
            simulation.step()
            heights.append(simulation.get_real(f"{ball}::ball.r[3]"))
        return heights, simulation.get_integer("coupled_ball::ball.latency")


@pytest.mark.parametrize("master", [in_fmpy, in_libcosim, in_ecos])
def test_coupled_ball_bounces(folder, master):
    path, _ = ssp(folder, f"{master.__name__}.ssp", "--with", "smooth_ball.fmu")
    heights, latency = master(path, 5000)
    times = STEP * np.arange(1, 5001)
    assert len(heights) == 5000
    impacts = exact.ball_impacts(21)[0]
    # As in docs/coupling.md: an impulse is delivered over up to three steps, the last bounces are shorter than that.
    settled = (times < impacts[20]) | (times > 4.5)
    settled &= ~np.any([(impact <= times) & (times < impact + 3e-3) for impact in impacts], axis=0)
    assert settled.sum() > 4000
    assert np.abs(heights - exact.ball_height(times) + 0.801)[settled].max() < 1e-8
    assert latency == 1


def test_connections_that_are_asked_for(folder):
    wishes = ["free_fall_1.z=coupled_ball.ball.r[3]", "free_fall_1.speed=coupled_ball.ball.v[3]"]
    wishes += ["coupled_ball.ball.f[3]=free_fall_1.force"]
    arguments = [part for wish in wishes for part in ("--connect", wish)]
    path, ssd = ssp(folder, "asked.ssp", "--with", "free fall-1.fmu", *arguments)
    expected = {tuple(part for end in wish.split("=") for part in end.split(".", 1)) for wish in wishes}
    assert inner(ssd) == expected
    by_name = simulate_ssp(str(ssp(folder, "named.ssp", "--with", "smooth_ball.fmu")[0]), stop_time=1.0, step_size=1e-3)
    by_wish = simulate_ssp(str(path), stop_time=1.0, step_size=1e-3)
    assert np.array_equal(by_name["smooth_ball.ball.r[3]"], by_wish["free_fall_1.z"])
    assert by_wish["free_fall_1.z"].min() < -0.5


def test_different_units_are_not_connected(folder):
    path, ssd = ssp(folder, "units.ssp", "--with", "millimetres.fmu")
    assert ("millimetres", "ball.r[3]", "coupled_ball", "ball.r[3]") not in connections(ssd)
    assert ("millimetres", "ball.v[3]", "coupled_ball", "ball.v[3]") in connections(ssd)
    units = {unit.name: unit for unit in ssd.units}
    assert (units["m"].factor, units["m (millimetres)"].factor) == (1.0, 0.001)


def test_outputs_of_the_same_name_are_not_connected(folder):
    """Two components of one FMU: which of their positions is meant is for the user to say."""
    path, ssd = ssp(folder, "two.ssp", "--open", "--with", "smooth_ball.fmu", "--with", "smooth_ball.fmu")
    assert [component.name for component in ssd.system.elements] == ["coupled_ball", "smooth_ball", "smooth_ball_2"]
    assert inner(ssd) == {
        ("coupled_ball", "ball.f[3]", "smooth_ball", "ball.f[3]"),
        ("coupled_ball", "ball.f[3]", "smooth_ball_2", "ball.f[3]"),
    }
    names = [connector.name for connector in ssd.system.connectors]
    assert len(set(names)) == len(names)
    assert {"smooth_ball_ball_r_3", "smooth_ball_2_ball_r_3", "ball_r_1"} <= set(names)
    wish = "smooth_ball_2.ball.r[3]=coupled_ball.ball.r[3]"
    _, ssd = ssp(folder, "two.ssp", "--with", "smooth_ball.fmu", "--with", "smooth_ball.fmu", "--connect", wish)
    assert ("smooth_ball_2", "ball.r[3]", "coupled_ball", "ball.r[3]") in inner(ssd)


@pytest.mark.parametrize("model", ["slider_crank", "wheel", "oscillator", "bouncing_ball_compliant"])
def test_systems_of_models_are_valid(folder, model):
    path = folder / f"{model}.ssp"
    contact_fmu("ssp", ROOT / "models" / model / "model.toml", "-o", path)
    ssd = read_ssd(path)
    assert ssd.version == "1.0" and ssd.name == f"{model}_system"


def test_system_of_an_owned_model_runs(folder):
    path = folder / "bouncing_ball.ssp"
    contact_fmu("ssp", ROOT / "models/bouncing_ball/model.toml", "--open", "-o", path)
    result = simulate_ssp(str(path), stop_time=0.995, step_size=1e-2)
    times = 1e-2 * np.arange(1, 101)
    assert np.abs(result["bouncing_ball.ball.r[3]"] - 0.2 - exact.ball_height(times)).max() < 1e-12
    assert np.array_equal(result["ball_r_3"], result["bouncing_ball.ball.r[3]"])


@pytest.mark.parametrize("master", [in_libcosim, in_ecos])
def test_a_ball_starts_where_the_model_has_it(folder, master):
    path = folder / f"high_{master.__name__}.ssp"
    contact_fmu("ssp", "high.toml", "--with", "high_ball.fmu", "-o", path, cwd=folder)
    heights, latency = master(path, 1000, ball="high_ball")
    times = STEP * np.arange(1, 1001)
    flies = ~np.any([(hit <= times) & (times < hit + 3e-3) for hit in exact.ball_impacts(2)[0]], axis=0)
    assert np.abs(heights - exact.ball_height(times) - 0.2)[flies].max() < 1e-8
    assert latency == 1


def test_a_runner_that_starts_connections_elsewhere_is_told(folder, capfd):
    """FMPy has no start values of connections: the FMU says what is wrong."""
    path = folder / "high.ssp"
    contact_fmu("ssp", "high.toml", "--with", "high_ball.fmu", "-o", path, cwd=folder)
    simulate_ssp(str(path), stop_time=0.0095, step_size=STEP)
    told = [line for line in capfd.readouterr().out.splitlines() if "has jumped by" in line]
    assert len(told) == 1 and "ball.r has jumped by 1.001 m, which ball.v does not explain" in told[0]
