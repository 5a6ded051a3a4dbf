"""FMUs of FMI 3.0: valid, the numbers of FMI 2.0 in both kinds of master, events at impacts and where sliding ends."""

import subprocess
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from conftest import BUILDER, ROOT, contact_fmu, read_csv, refused
from exact import ball_height
from fmi3_side import slave3
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi2 import FMU2Slave
from fmpy.ssp.ssd import read_ssd
from fmpy.validation import validate_fmu
from lxml import etree

SCHEMAS = Path(fmpy.__file__).parent / "schema/fmi3"
# For the command line: owned bodies, groups, joints with friction, continuous contacts, couplings of all kinds.
SOME = ["bouncing_ball", "resting_block", "friction_pendulum", "bouncing_ball_compliant", "coupled_ball", "rotor_droop_stop"]


@pytest.fixture(scope="module")
def fmu3(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmi3")

    def build(model):
        path = folder / f"{model}.fmu"
        if not path.exists():
            contact_fmu("build", ROOT / "models" / model / "model.toml", "--fmi", "3", "-o", path)
        return str(path)

    return build


@pytest.fixture(scope="module")
def of_text3(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmi3_text")

    def build(text):
        source = folder / f"{len(list(folder.glob('*.toml')))}.toml"
        source.write_text(text)
        contact_fmu("build", source, "--fmi", "3", "-o", source.with_suffix(".fmu"))
        return str(source.with_suffix(".fmu"))

    return build


def test_descriptions_are_valid(fmu3, fmus, model):
    """Both files against the schemas, and by FMPy's own rules; the terminals in FMI 2.0 FMUs too."""
    schema = etree.XMLSchema(file=str(SCHEMAS / "fmi3ModelDescription.xsd"))
    terminals = etree.XMLSchema(file=str(SCHEMAS / "fmi3TerminalsAndIcons.xsd"))
    with zipfile.ZipFile(fmu3(model)) as archive:
        document = etree.fromstring(archive.read("modelDescription.xml"))
    schema.assertValid(document)
    names = {element.get("name") for element in document.find("ModelVariables")}
    for path, known in ((fmu3(model), names), (fmus.fmu(model), None)):
        with zipfile.ZipFile(path) as archive:
            document = etree.fromstring(archive.read("terminalsAndIcons/terminalsAndIcons.xml"))
            if known is None:
                description = etree.fromstring(archive.read("modelDescription.xml"))
                known = {element.get("name") for element in description.find("ModelVariables")}
        terminals.assertValid(document)
        members = [element.get("variableName") for element in document.iter("TerminalMemberVariable")]
        assert members and set(members) <= known
    assert validate_fmu(fmu3(model)) == []


def test_exactly_the_functions_of_fmi3_are_exported(fmu3):
    header = (Path(fmpy.__file__).parent / "c-code/fmi3FunctionTypes.h").read_text()
    wanted = {word.removesuffix("TYPE") for word in header.replace("(", " ").split() if word.endswith("TYPE")}
    library = next(Path(extract(fmu3("bouncing_ball"))).glob("binaries/x86_64-linux/*.so"))
    listing = subprocess.run(
        ["nm", "--dynamic", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    assert {line.split()[-1].split("@")[0] for line in listing.splitlines()} == wanted


def test_arrays_enumeration_and_clocks(fmu3):
    variables = {variable.name: variable for variable in read_model_description(fmu3("bouncing_ball")).modelVariables}
    assert [dimension.start for dimension in variables["ball.r"].dimensions] == [3]
    assert variables["ball.r"].start == "0.0 0.0 1.001"
    assert variables["ball_floor.state"].type == "Enumeration"
    assert [item.name for item in variables["ball_floor.state"].declaredType.items] == ["open", "stick", "slip"]
    clock = variables["ball_floor.impact"]
    assert (clock.type, clock.causality, clock.intervalVariability) == ("Clock", "output", "triggered")
    for name in ("ball_floor.impact_impulse", "ball_floor.impact_time"):
        assert [clock.name for clock in variables[name].clocks] == ["ball_floor.impact"]


def scalars(result):
    """Columns by their names in FMI 2.0."""
    columns = {}
    for name in result.dtype.names:
        values = result[name]
        body, _, rest = name.partition(".")
        if values.ndim == 1:
            columns[name] = values
        elif values.ndim == 2:
            columns.update({f"{name}[{index + 1}]": values[:, index] for index in range(values.shape[1])})
        else:
            for copy in range(values.shape[1]):
                for index in range(values.shape[2]):
                    columns[f"{body}_{copy + 1}.{rest}[{index + 1}]"] = values[:, copy, index]
    return columns


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_numbers_are_those_of_fmi2(fmu3, fmus, model, kind):
    description = read_model_description(fmus.fmu(model))
    if kind == "ModelExchange" and description.modelExchange is None:
        assert read_model_description(fmu3(model)).modelExchange is None
        return
    experiment = description.defaultExperiment
    step = float(experiment.stepSize)
    options = dict(fmi_type=kind, stop_time=min(100 * step, float(experiment.stopTime)), output_interval=step)
    two = scalars(simulate_fmu(fmus.fmu(model), **options))
    three = scalars(simulate_fmu(fmu3(model), **options))
    assert set(two) <= set(three)
    for name, values in two.items():
        np.testing.assert_allclose(three[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("model", SOME)
def test_simulate_runs_both(fmu3, fmus, model, tmp_path):
    """The command line runs FMUs of both versions, and sets components of arrays."""
    tables = []
    for path in (fmus.fmu(model), fmu3(model)):
        table = tmp_path / f"{len(tables)}.csv"
        contact_fmu("simulate", path, "--stop", "0.05", "--set", "gravity[1]=0.5", "-o", table)
        tables.append(read_csv(table))
    two, three = tables
    assert set(two) <= set(three)
    for name in two:
        np.testing.assert_array_equal(three[name], two[name], err_msg=name)


def test_simulate_takes_inputs_of_arrays(fmu3, tmp_path):
    inputs = tmp_path / "in.csv"
    inputs.write_text("time,ball.f_ext[1],ball.f_ext[3]\n0,2,10\n1,2,10\n")
    table = tmp_path / "out.csv"
    contact_fmu("simulate", fmu3("bouncing_ball"), "--stop", "1", "--input", inputs, "-o", table)
    result = read_csv(table)
    assert np.abs(result["ball.r[3]"] - 1.001).max() < 1e-12
    assert np.abs(result["ball.r[1]"] - result["time"] ** 2).max() < 1e-12


def impact_times(count, height=0.801, g=10.0, e=0.8):
    times = [np.sqrt(2 * height / g)]
    speed = g * times[0]
    while len(times) < count:
        speed *= e
        times.append(times[-1] + 2 * speed / g)
    return np.array(times)


def run_with_events(ball, stop, step, at_event):
    time, steps = 0.0, 0
    while ball.fmu.updateDiscreteStates()[0]:
        pass
    ball.fmu.enterStepMode()
    while time < stop:
        event, _, early, last = ball.fmu.doStep(time, step)
        assert last > time and (early or abs(last - time - step) < 1e-15 + 1e-15 * last)
        time, steps = last, steps + 1
        if event:
            before = ball.get("ball.v")
            ball.fmu.enterEventMode()
            at_event(time, before)
            while ball.fmu.updateDiscreteStates()[0]:
                pass
            assert not ball.ticks("ball_floor.impact")
            ball.fmu.enterStepMode()
    return steps


@pytest.mark.parametrize("step", [1e-2, 1e-3, 3.7e-3])
def test_impacts_end_steps_at_their_exact_times(fmu3, step):
    """Bouncing ball, closed form: the first ten impacts within 1e-12 s; velocities jump in event mode, by the impulse."""
    seen = []
    with slave3(fmu3("bouncing_ball"), events=True, early_return=True) as ball:
        ball.start()

        def at_event(time, before):
            after = ball.get("ball.v")
            assert ball.ticks("ball_floor.impact")
            assert abs(after[2] + 0.8 * before[2]) < 1e-12
            assert abs(ball.get("ball_floor.impact_impulse") - (after[2] - before[2])) < 1e-12
            assert ball.get("ball_floor.impact_time") == time
            seen.append(time)

        run_with_events(ball, 3.2, step, at_event)
    assert np.abs(np.array(seen[:10]) - impact_times(10)).max() < 1e-12


def test_without_early_return_steps_are_those_of_fmi2(fmu3):
    with slave3(fmu3("bouncing_ball"), events=True) as with_events, slave3(fmu3("bouncing_ball")) as without:
        with_events.start()
        without.start()
        with_events.fmu.updateDiscreteStates()
        with_events.fmu.enterStepMode()
        for k in range(100):
            answers = [ball.fmu.doStep(k * 1e-2, 1e-2) for ball in (with_events, without)]
            assert answers[0] == answers[1] == (False, False, False, k * 1e-2 + 1e-2)
            assert with_events.get("ball.r") == without.get("ball.r")
            assert with_events.get("ball.v") == without.get("ball.v")


BLOCK = """
[model]
name = "block"
[engine]
gravity = [0.0, 0.0, -10.0]
[[node]]
name = "ball"
coupling = "owned"
mass = 1.0
velocity = [1.0, 0.0, 0.0]
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
[[contact]]
between = ["ball", "floor"]
restitution = 0.0
friction.cone.mu = 0.3
"""


def test_where_sliding_ends_and_begins_is_an_event(of_text3):
    """A point slides to a stop after v / (mu g) = 1/3 s; a force above mu m g = 3 N, held from 0.6 s on, moves it again."""
    seen = []
    with slave3(of_text3(BLOCK), events=True, early_return=True) as ball:
        ball.start()
        while ball.fmu.updateDiscreteStates()[0]:
            pass
        ball.fmu.enterStepMode()
        time = 0.0
        while time < 0.9:
            ball.set(ball__f_ext=[4.0 if time >= 0.6 - 1e-9 else 0.0, 0.0, 0.0])
            event, _, _, last = ball.fmu.doStep(time, min(1e-2, 0.6 - time) if time < 0.6 - 1e-9 else 1e-2)
            time = last
            if event:
                before = ball.state("ball_floor.state")
                ball.fmu.enterEventMode()
                assert not ball.ticks("ball_floor.impact")
                while ball.fmu.updateDiscreteStates()[0]:
                    pass
                ball.fmu.enterStepMode()
                seen.append((time, before, ball.state("ball_floor.state")))
    (stop, _, stuck), (start, _, slips) = seen
    assert abs(stop - 1 / 3) < 1e-9 and stuck == 1
    # A force that jumps at the start of a step is seen at the end of its first internal step of 1e-3 s.
    assert abs(start - 0.601) < 1e-9 and slips == 2


def test_parts_of_a_step_are_told_and_can_end_it(fmu3):
    """A step of 1e-2 s has ten internal steps of 1e-3 s: outputs can be read after each, and the step ended there."""
    told, wanted = [], [None]
    ball = None

    def update(_, time, set_requested, get_allowed, finished, can_return, requested, until):
        told.append((time, ball.get("ball.r")[2], bool(set_requested), bool(get_allowed), bool(finished)))
        if can_return and wanted[0] is not None and time >= wanted[0]:
            requested[0] = True

    from fmpy.fmi3 import fmi3IntermediateUpdateCallback

    callback = fmi3IntermediateUpdateCallback(update)
    with slave3(fmu3("bouncing_ball"), early_return=True, intermediate=callback) as ball:
        ball.start()
        assert ball.fmu.doStep(0.0, 1e-2)[3] == 1e-2
        times = np.array([entry[0] for entry in told])
        np.testing.assert_allclose(times, 1e-3 * np.arange(1, 11), rtol=0, atol=1e-15)
        heights = np.array([entry[1] for entry in told])
        np.testing.assert_allclose(heights, 1.001 - 5 * times**2, rtol=0, atol=1e-14)
        assert all(entry[2:] == (False, True, True) for entry in told)
        wanted[0] = 1.4e-2
        event, _, early, last = ball.fmu.doStep(1e-2, 1e-2)
        assert early and not event and abs(last - 1.4e-2) < 1e-15
        wanted[0] = None
        assert ball.fmu.doStep(last, 6e-3)[3] == pytest.approx(2e-2)


@pytest.mark.parametrize("model", ["bouncing_ball", "tilted_plane_friction", "coupled_ball"])
def test_derivatives(fmu3, model):
    """Directional ones against central differences, adjoint ones against their transpose to 1e-12."""
    with slave3(fmu3(model)) as slave:
        variables = slave.variables
        outputs = [
            name for name, variable in variables.items()
            if variable.type == "Float64" and variable.causality == "output" and not variable.clocks
            and name.split(".")[-1] in ("r", "v", "f", "contact_r")
        ]
        inputs = [name for name, variable in variables.items() if variable.type == "Float64" and variable.causality == "input"]
        size = lambda names: [3 if variables[name].dimensions else 1 for name in names]
        references = lambda names: [variables[name].valueReference for name in names]
        n, m = sum(size(outputs)), sum(size(inputs))
        slave.start()
        slave.fmu.doStep(0.0, 1e-3)
        state = slave.fmu.getFMUState()

        def step(changes):
            slave.fmu.setFMUState(state)
            values = np.concatenate([np.ravel(slave.get(name)) for name in inputs])
            slave.fmu.setFloat64(references(inputs), list(values + changes))
            slave.fmu.doStep(1e-3, 1e-3)
            return np.concatenate([np.ravel(slave.get(name)) for name in outputs])

        middle = step(np.zeros(m))
        forward = np.array([
            slave.fmu.getDirectionalDerivative(references(outputs), references(inputs), list(row), n)
            for row in np.eye(m)
        ]).T
        adjoint = np.array([
            slave.fmu.getAdjointDerivative(references(outputs), references(inputs), list(row), m)
            for row in np.eye(n)
        ])
        np.testing.assert_allclose(adjoint, forward, rtol=1e-12, atol=1e-12)
        width = 1e-6
        differences = np.array([(step(width * row) - step(-width * row)) / (2 * width) for row in np.eye(m)]).T
        np.testing.assert_allclose(forward, differences, rtol=1e-5, atol=1e-5 * (1 + np.abs(differences).max()))
        assert np.isfinite(middle).all()
        slave.fmu.freeFMUState(state)


def test_derivatives_across_an_impact(fmu3):
    """After an event: what the start velocity does to the velocity before and after the impact."""
    with slave3(fmu3("bouncing_ball"), events=True, early_return=True) as ball:
        ball.start()
        ball.fmu.updateDiscreteStates()
        ball.fmu.enterStepMode()
        reference = {name: ball.variables[name].valueReference for name in ("ball.v", "ball.f_ext")}
        event, _, _, last = ball.fmu.doStep(0.0, 0.5)
        assert event
        slope = lambda: ball.fmu.getDirectionalDerivative([reference["ball.v"]], [reference["ball.f_ext"]], [0.0, 0.0, 1.0], 3)[2]
        # The force acts for `last` on 1 kg; the impact turns the velocity round.
        assert slope() == pytest.approx(last, rel=1e-9)
        ball.fmu.enterEventMode()
        assert slope() == pytest.approx(-0.8 * last, rel=1e-9)


def test_states_are_saved_between_events(fmu3):
    with slave3(fmu3("bouncing_ball"), events=True, early_return=True) as ball:
        ball.start()
        ball.fmu.updateDiscreteStates()
        ball.fmu.enterStepMode()
        assert ball.fmu.doStep(0.0, 0.5)[0]
        state = ball.fmu.getFMUState()
        saved = ball.fmu.serializeFMUState(state)
        results = []
        for restore in (lambda: ball.fmu.setFMUState(state), lambda: ball.fmu.setFMUState(ball.fmu.deserializeFMUState(saved))):
            restore()
            ball.fmu.enterEventMode()
            results.append((ball.ticks("ball_floor.impact"), ball.get("ball.v"), ball.get("ball_floor.impact_impulse")))
        assert results[0] == results[1] and results[0][0]


def test_states_have_the_bytes_of_fmi2(fmu3, fmus, model):
    """After the same steps, and each version takes the bytes of the other."""
    path = fmus.fmu(model)
    description = read_model_description(path)
    step = float(description.defaultExperiment.stepSize)
    two = FMU2Slave(
        guid=description.guid,
        unzipDirectory=extract(path),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName=model,
    )
    two.instantiate()
    two.setupExperiment()
    two.enterInitializationMode()
    two.exitInitializationMode()
    with slave3(fmu3(model)) as three:
        three.start()
        saved = []
        for k in range(6):
            two.doStep(k * step, step)
            three.fmu.doStep(k * step, step)
            saved.append(two.serializeFMUstate(two.getFMUstate()))
            assert three.fmu.serializeFMUState(three.fmu.getFMUState()) == saved[-1]
        two.setFMUstate(two.deSerializeFMUstate(three.fmu.serializeFMUState(three.fmu.getFMUState())))
        three.fmu.setFMUState(three.fmu.deserializeFMUState(saved[2]))
        for k in range(3, 6):
            three.fmu.doStep(k * step, step)
            assert three.fmu.serializeFMUState(three.fmu.getFMUState()) == saved[k]
    two.terminate()
    two.freeInstance()


def test_fmpy_runs_with_events(fmu3):
    """FMPy's own loop records both sides of the impacts, on the exact path."""
    result = simulate_fmu(
        fmu3("bouncing_ball"), stop_time=2.0, output_interval=1e-2, use_event_mode=True, early_return_allowed=True
    )
    assert len(result["time"]) > 204
    assert np.abs(result["ball.r"][:, 2] - 0.2 - ball_height(result["time"])).max() < 1e-10


def test_wrong_calls_are_refused(fmu3):
    ball = read_model_description(fmu3("bouncing_ball"))
    references = {variable.name: variable.valueReference for variable in ball.modelVariables}
    with slave3(fmu3("bouncing_ball")) as slave:
        slave.start()
        position = references["ball.r"]
        for call in (
            lambda: slave.fmu.getFloat64([position], 2),
            lambda: slave.fmu.getFloat64([position], 4),
            lambda: slave.fmu.getFloat64([position + 1], 1),
            lambda: slave.fmu.getFloat64([10**6], 1),
            lambda: slave.fmu.getInt32([position], 1),
            lambda: slave.fmu.getFloat64([references["ball_floor.state"]], 1),
            lambda: slave.fmu.enterEventMode(),
            lambda: slave.fmu.doStep(0.0, -1.0),
        ):
            with pytest.raises(Exception, match="fmi3.*3|status 3|Error|error"):
                call()
        assert slave.fmu.doStep(0.0, 1e-2)[3] == 1e-2


def test_report_and_inspect_take_it(fmu3, tmp_path):
    report = tmp_path / "ball.html"
    contact_fmu("simulate", fmu3("bouncing_ball"), "--stop", "0.5", "--report", report)
    assert "ball.r[3]" in report.read_text()
    text = contact_fmu("inspect", fmu3("bouncing_ball"))
    for line in ("FMI version   3.0", "hasEventMode", "ball.r[3]", "ball_floor.impact "):
        assert line in text


COPIES = """
[model]
name = "copies"
[engine]
gravity = [0.0, 0.0, -10.0]
[[node]]
name = "balls"
coupling = "owned"
mass = 1.0
shape.sphere.radius = 0.1
position = [0.0, 0.0, 1.0]
copies = { count = [2, 2, 1], spacing = [1.0, 1.0, 1.0] }
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
[[contact]]
name = "base"
between = ["balls_*", "floor"]
"""


def test_copies_are_one_array(of_text3, tmp_path):
    """Four balls on a grid: one variable of size [4, 3], whose rows are those of `balls_1` to `balls_4`."""
    path = of_text3(COPIES)
    assert validate_fmu(path) == []
    with slave3(path) as slave:
        position = slave.variables["balls.r"]
        assert [int(dimension.start) for dimension in position.dimensions] == [4, 3]
        assert not any(name.startswith("balls_") for name in slave.variables)
        assert [int(dimension.start) for dimension in slave.variables["balls.mass"].dimensions] == [4]
        slave.start()
        start = np.reshape(slave.get("balls.r"), (4, 3))
        np.testing.assert_array_equal(start, [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
        forces = np.zeros((4, 3))
        forces[2] = (2.0, 0.0, 10.0)
        slave.set(balls__f_ext=list(np.ravel(forces)))
        slave.fmu.doStep(0.0, 0.1)
        moved = np.reshape(slave.get("balls.r"), (4, 3)) - start
        np.testing.assert_allclose(moved, [[0, 0, -0.05]] * 2 + [[0.01, 0, 0]] + [[0, 0, -0.05]], rtol=0, atol=1e-15)
    table = tmp_path / "out.csv"
    contact_fmu("simulate", path, "--stop", "0.1", "--set", "balls.r[3,3]=2", "-o", table)
    assert abs(read_csv(table)["balls.r[3,3]"][-1] - 1.95) < 1e-12


def test_simulate_ends_steps_at_events(fmu3, fmus, tmp_path):
    """With --events an impact has a row before and one after it, at its time; other FMUs are refused."""
    table = tmp_path / "out.csv"
    contact_fmu("simulate", fmu3("bouncing_ball"), "--stop", "2", "--step", "0.01", "--events", "-o", table)
    result = read_csv(table)
    twice = np.flatnonzero(np.diff(result["time"]) == 0.0)
    np.testing.assert_allclose(result["time"][twice], impact_times(4), rtol=0, atol=1e-12)
    np.testing.assert_allclose(result["ball.v[3]"][twice + 1], -0.8 * result["ball.v[3]"][twice], rtol=1e-12)
    assert np.abs(result["ball.r[3]"] - 0.2 - ball_height(result["time"])).max() < 1e-10
    contact_fmu("simulate", ROOT / "models/bouncing_ball/model.toml", "--stop", "1", "--events", "-o", table)
    assert "no event mode" in refused("simulate", fmus.fmu("bouncing_ball"), "--events")


def test_stops_of_joints_are_events(of_text3):
    """A sledge at 1 m/s between stops at 0 and 0.25 m, restitution 0.5: it hits after 0.25 s, then 0.5 s, then 1 s each."""
    text = """
[model]
name = "sledge"
[engine]
gravity = [0.0, 0.0, 0.0]
[[node]]
name = "sledge"
coupling = "owned"
mass = 2.0
inertia = [1.0, 1.0, 1.0]
velocity = [1.0, 0.0, 0.0]
[[joint]]
name = "rail"
between = ["ground", "sledge"]
prismatic = { axis = [1.0, 0.0, 0.0], position = [0.0, 0.0, 0.0] }
limits = { lower = 0.0, upper = 0.25, restitution = 0.5 }
"""
    seen = []
    with slave3(of_text3(text), events=True, early_return=True) as slave:
        slave.start()
        time, in_event_mode = 0.0, True
        while time < 2.0:
            while in_event_mode and slave.fmu.updateDiscreteStates()[0]:
                pass
            if in_event_mode:
                slave.fmu.enterStepMode()
            in_event_mode, _, _, time = slave.fmu.doStep(time, 1e-2)
            if in_event_mode:
                slave.fmu.enterEventMode()
                for which in ("lower", "upper"):
                    if slave.ticks(f"rail.{which}_impact"):
                        seen.append((time, which, abs(slave.get(f"rail.{which}_impact_impulse"))))
    assert [which for _, which, _ in seen] == ["upper", "lower", "upper"]
    np.testing.assert_allclose([time for time, _, _ in seen], [0.25, 0.75, 1.75], rtol=0, atol=1e-9)
    np.testing.assert_allclose([impulse for _, _, impulse in seen], [3.0, 1.5, 0.75], rtol=1e-9)


@pytest.mark.parametrize("scheme", ["midpoint", "multistep", "hht"])
def test_impacts_of_other_schemes_are_events_at_the_end_of_their_internal_step(of_text3, scheme):
    """A ball that falls 0.2 m: sqrt(2 h / g) = 0.2 s, seen within an internal step of 1e-3 s, with the impulse m (1 + e) v."""
    text = BLOCK.replace("[engine]", f'[engine]\nscheme = "{scheme}"').replace("restitution = 0.0", "restitution = 0.5")
    text = text.replace("velocity = [1.0, 0.0, 0.0]", "position = [0.0, 0.0, 0.2]").replace("friction.cone.mu = 0.3", "")
    with slave3(of_text3(text), events=True, early_return=True) as ball:
        ball.start()
        ball.fmu.updateDiscreteStates()
        ball.fmu.enterStepMode()
        event, _, _, time = ball.fmu.doStep(0.0, 1.0)
        assert event and 0.2 - 1e-3 <= time <= 0.2 + 2e-3
        ball.fmu.enterEventMode()
        assert ball.ticks("ball_floor.impact") and ball.get("ball_floor.impact_time") == time
        assert ball.get("ball_floor.impact_impulse") == pytest.approx(3.0, rel=2e-2)
        assert not ball.fmu.updateDiscreteStates()[0] and not ball.ticks("ball_floor.impact")


def test_size_grows_by_less_than_a_third(fmu3, fmus):
    sizes = [Path(path).stat().st_size for path in (fmus.fmu("bouncing_ball"), fmu3("bouncing_ball"))]
    assert sizes[1] < 4 / 3 * sizes[0], sizes


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_commands_take_the_model_out_of_an_fmu(fmu3, fmus, stair, tmp_path):
    """What is made of an FMI 3.0 FMU is what is made of its model file, to the byte; also the FMU of the other version. FMUs of
    other tools are refused."""
    source = ROOT / "models/coupled_ball/model.toml"
    for origin, name in ((source, "file"), (fmu3("coupled_ball"), "fmu")):
        (tmp_path / name).mkdir()
        contact_fmu("modelica", origin, "-o", tmp_path / name / "Ball")
        contact_fmu("ssp", origin, "-o", tmp_path / name / "ball.ssp")
        contact_fmu("build", origin, "-o", tmp_path / name / "ball.fmu")
    assert contents(tmp_path / "file") == contents(tmp_path / "fmu")
    assert (tmp_path / "fmu/ball.fmu").read_bytes() == Path(fmus.fmu("coupled_ball")).read_bytes()
    contact_fmu("build", fmus.fmu("heightfield_rover"), "--fmi", "3", "-o", tmp_path / "rover3.fmu")
    assert (tmp_path / "rover3.fmu").read_bytes() == Path(fmu3("heightfield_rover")).read_bytes()
    assert "there is no model in" in refused("build", stair)


def test_ssp_has_no_arrays(fmu3, stair, tmp_path):
    """FMUs of contact-fmu are put in as FMI 2.0, which is told; those of others with arrays are refused."""
    package = tmp_path / "x.ssp"
    command = ["ssp", ROOT / "models/bouncing_ball/model.toml", "-o", package, "--with"]
    done = subprocess.run([BUILDER, *command, fmu3("coupled_ball")], check=True, capture_output=True, text=True)
    assert "note: " in done.stderr and "the FMI 2.0 FMU of the same model" in done.stderr
    system = read_ssd(package).system
    component = next(element for element in system.elements if element.name == "coupled_ball")
    assert "ball.r[3]" in [connector.name for connector in component.connectors]
    with zipfile.ZipFile(package) as archive:
        (tmp_path / "ball.fmu").write_bytes(archive.read("resources/coupled_ball.fmu"))
    assert read_model_description(tmp_path / "ball.fmu").fmiVersion == "2.0"
    text = refused(*command, stair)
    assert "has arrays of FMI 3.0" in text and "FMI 2.0" in text


STAIR = r"""
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
typedef struct { double time, next; int32_t counter; bool in_event; } Stair;
#define ON(name, ...) int name(Stair *s, ##__VA_ARGS__)
const char *fmi3GetVersion(void) { return "3.0"; }
void *fmi3InstantiateCoSimulation(const char *n, const char *t, const char *r, bool v, bool l, bool events, bool early,
                                  const uint32_t *vr, size_t c, void *e, void *log, void *update) {
    if (!events || !early) return NULL;
    Stair *s = calloc(1, sizeof *s);
    s->next = 0.3;
    return s;
}
void fmi3FreeInstance(Stair *s) { free(s); }
ON(fmi3SetDebugLogging, bool on, size_t n, const char **c) { return 0; }
ON(fmi3EnterInitializationMode, bool d, double tol, double start, bool e, double stop) { s->time = start; return 0; }
ON(fmi3ExitInitializationMode) { s->in_event = true; return 0; }
ON(fmi3EnterEventMode) { s->in_event = true; return 0; }
ON(fmi3EnterStepMode) { s->in_event = false; return 0; }
ON(fmi3Terminate) { return 0; }
ON(fmi3UpdateDiscreteStates, bool *again, bool *end, bool *n, bool *v, bool *defined, double *next) {
    if (!s->in_event) return 3;
    if (s->time >= s->next) { s->counter++; s->next += 0.3; }
    *again = *n = *v = false;
    *end = s->counter == 4;
    *defined = s->counter < 2;  /* later ones are told when they come */
    *next = s->next;
    return 0;
}
ON(fmi3DoStep, double t, double h, bool prior, bool *event, bool *end, bool *early, double *last) {
    if (s->in_event || t != s->time) return 3;
    *event = t + h >= s->next - 1e-12;
    *last = *event ? s->next : t + h;
    *early = *last < t + h;
    *end = false;
    s->time = *last;
    return 0;
}
ON(fmi3GetInt32, const uint32_t *vr, size_t n, int32_t *values, size_t c) { values[0] = s->counter; return 0; }
ON(fmi3GetFloat64, const uint32_t *vr, size_t n, double *values, size_t c) {
    for (size_t k = 0; k < c; k++) values[k] = (k + 1) * s->time;
    return 0;
}
"""
STAIR_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="stair" instantiationToken="{stair}">
  <CoSimulation modelIdentifier="stair" hasEventMode="true" mightReturnEarlyFromDoStep="true" canHandleVariableCommunicationStepSize="true"/>
  <DefaultExperiment stopTime="2" stepSize="0.25"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Int32 name="counter" valueReference="1" causality="output" variability="discrete" initial="calculated"/>
    <Float64 name="ramp" valueReference="2" causality="output" initial="calculated"><Dimension start="2"/></Float64>
  </ModelVariables>
  <ModelStructure><Output valueReference="1"/><Output valueReference="2"/></ModelStructure>
</fmiModelDescription>
"""


@pytest.fixture
def stair(tmp_path):
    """An FMU of another tool."""
    (tmp_path / "stair.c").write_text(STAIR)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "stair.so", tmp_path / "stair.c"], check=True)
    with zipfile.ZipFile(tmp_path / "stair.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", STAIR_DESCRIPTION)
        archive.write(tmp_path / "stair.so", "binaries/x86_64-linux/stair.so")
    return tmp_path / "stair.fmu"


def test_simulate_runs_other_tools_in_event_mode(stair, tmp_path):
    """A stair in C whose counter rises every 0.3 s, at events told ahead and at early returns, and ends the simulation at 4."""
    contact_fmu("simulate", stair, "--events", "-o", tmp_path / "out.csv")
    result = read_csv(tmp_path / "out.csv")
    twice = np.flatnonzero(np.diff(result["time"]) == 0.0)
    np.testing.assert_allclose(result["time"][twice], [0.3, 0.6, 0.9, 1.2], rtol=1e-12)
    np.testing.assert_array_equal(result["counter"], np.floor(result["time"] / 0.3 + 1e-9) - np.isin(np.arange(len(result["time"])), twice))
    np.testing.assert_array_equal(result["ramp[2]"], 2 * result["time"])
    assert result["time"][-1] == pytest.approx(1.2)
