"""The Modelica package: its text in two parsers, its C header and library driven as a Modelica tool would."""

import re
import shutil
import subprocess
from types import SimpleNamespace

import exact
import numpy as np
import pymoca.parser
import pytest
import rumoca
from conftest import ROOT, contact_fmu
from fmpy import read_model_description
from kinetic_cases import impacts

FIXTURES = ROOT / "tests/fixtures/modelica"
HEADER_FOLDER = ROOT / "src/modelica/templates"
G, STEP = 10.0, 1e-3

SPHERE = """
[model]
name = "rolling"
[[node]]
name = "ball"
mass = 1.0
inertia = [0.004, 0.004, 0.004]
shape.sphere.radius = 0.1
position = [0.0, 0.0, 0.1]
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
[[contact]]
between = ["ball", "floor"]
friction.cone.mu = 0.3
"""


CART = """
[model]
name = "cart"
[engine]
gravity = [0.0, 0.0, -9.81]
[[node]]
name = "front"
mechanism = true
mass = 2.0
position = [0.3, 0.0, 0.1]
[[node]]
name = "rear"
mechanism = true
mass = 2.0
position = [-0.3, 0.0, 0.1]
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
[[contact]]
between = ["*", "floor"]
restitution = 0.0
friction.cone.mu = 0.3
"""


class Package:
    """A package, and what its models give to the external object."""

    def __init__(self, source, folder):
        contact_fmu("modelica", source, "-o", folder)
        self.folder = folder

    def arguments(self, path, period=STEP):
        """Arguments of the external object of the model at `path`, read from its text."""
        text = (self.folder / f"{path}.mo").read_text()
        lists = {
            name: numbers.replace(" ", "")
            for name, numbers in re.findall(r"constant Integer (\w+)References\[:\] = \{(.*?)\}", text)
        }
        declared = r"  parameter [\w.]+ (\w+)(?:\[\d+\])?(?:\([^=]*=[^)]*\))? = (\S.*?) \""
        values = dict(re.findall(declared, text))
        (given,) = re.findall(r"    cat\(1, (.*)\),\n    inputReferences", text)
        parameters = [values[name.strip("{}")].strip("{}").replace(" ", "") for name in given.split(", ")]
        (guid,) = re.findall(r"\"(\{[-0-9a-f]{36}\})\"", text)
        data = self.folder / "Resources/Data" / path.split("/")[-1]
        return [
            str(self.folder / "Resources/Library"),
            str(data),
            guid,
            lists["parameter"],
            ",".join(parameters),
            *(lists[name] for name in ("input", "state", "result", "count")),
            repr(period),
        ]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Packages by name: a ball, a sphere that rolls, two balls, bodies of every kind, a mechanism of the engine's own, two
    points of one body."""
    folder = tmp_path_factory.mktemp("modelica packages")
    (folder / "sphere.toml").write_text(SPHERE)
    (folder / "cart.toml").write_text(CART)
    couplings = (ROOT / "tests/fixtures/couplings.toml").read_text()
    ball = (ROOT / "models/coupled_ball/model.toml").read_text()
    second = ball[ball.index("[[node]]") : ball.index("[[surface]]")].replace('"ball"', '"right"')
    shared = ball.replace('name = "ball"', 'name = "left"').replace('"ball", "floor"', '"*", "floor"')
    (folder / "shared.toml").write_text(shared.replace("[[surface]]", f"{second}[[surface]]"))
    (folder / "couplings.toml").write_text(couplings.replace("iterative = true\n", ""))
    return SimpleNamespace(
        ball=Package(ROOT / "models/coupled_ball/model.toml", folder / "Ball"),
        sphere=Package(folder / "sphere.toml", folder / "Sphere"),
        shared=Package(folder / "shared.toml", folder / "Shared"),
        couplings=Package(folder / "couplings.toml", folder / "Couplings"),
        cart=Package(folder / "cart.toml", folder / "Cart"),
        crank=Package(ROOT / "models/slider_crank/model.toml", folder / "Crank"),
    )


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    program = tmp_path_factory.mktemp("driver") / "drive"
    subprocess.run(compiler("gcc", program, "-pthread", "-ldl", "-lm"), check=True)
    return program


def compiler(name, program, *more):
    flags = ["-std=c99", "-pedantic", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{FIXTURES}", f"-I{HEADER_FOLDER}"]
    return [name, *flags, "-o", str(program), str(FIXTURES / "drive.c"), *more]


def drive(driver, case, arguments, periods=1):
    done = subprocess.run([driver, case, *arguments, str(periods)], capture_output=True, text=True, check=True)
    return done.stdout


def rows(text, name):
    found = [line.split()[1:] for line in text.splitlines() if line.startswith(f"{name} ")]
    return np.array(found, dtype=float)


def test_header_in_the_package_is_the_one_that_is_tested(packages):
    packed = packages.ball.folder / "Resources/Include/ContactFmu.h"
    assert packed.read_text() == (HEADER_FOLDER / "ContactFmu.h").read_text()


def test_header_compiles_as_cpp(tmp_path):
    (tmp_path / "use.cpp").write_text('#include "ContactFmu.h"\nint main() { ContactFmu_close(0); return 0; }\n')
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{FIXTURES}", f"-I{HEADER_FOLDER}"]
    subprocess.run(["g++", *flags, "-fsyntax-only", str(tmp_path / "use.cpp")], check=True)


@pytest.mark.skipif(not shutil.which("x86_64-w64-mingw32-gcc"), reason="mingw is not installed")
def test_header_compiles_for_windows(tmp_path):
    subprocess.run([*compiler("x86_64-w64-mingw32-gcc", tmp_path / "drive.o"), "-c"], check=True)


def test_ball_bounces_exactly(packages, driver):
    found = rows(drive(driver, "ball", packages.ball.arguments("ContactNode"), 5500), "one")
    times, heights, speeds, forces, gaps, latencies = found.T
    result = SimpleNamespace(times=times, position=heights - 0.2, velocity=speeds)
    at, before = exact.ball_impacts(4)
    hits = impacts(result)
    assert np.abs(hits[:3, 0] - at[:3]).max() < 1e-8
    assert np.abs(hits[:4, 2] / hits[:4, 1] - 0.8).max() < 1e-6
    assert np.abs(hits[:4, 1] / before - 1).max() < 1e-8
    assert result.position.min() > -G * STEP**2 / 2
    rests = times > 4.5
    assert np.abs(result.position[rests]).max() < G * STEP**2 / 2
    assert np.abs(forces[rests] - G).max() < 1e-8
    # The file leaves the latency open; the package says what it is.
    assert np.all(latencies == 0)
    # What is a state is that at the exchange, not a period later.
    flies = times < at[0] - STEP
    assert np.abs(gaps[flies] - result.position[flies]).max() < 1e-12


def test_other_period_than_in_the_model(packages, driver):
    found = rows(drive(driver, "ball", packages.ball.arguments("ContactNode", period=2.5e-3), 2200), "one")
    times, heights, speeds = found.T[:3]
    hits = impacts(SimpleNamespace(times=times, position=heights - 0.2, velocity=speeds))
    assert np.abs(hits[:3, 0] - exact.ball_impacts(3)[0]).max() < 1e-8
    assert np.abs(heights[times > 5.0] - 0.2).max() < 1e-12


def test_two_instances_in_two_threads_do_not_know_of_one_another(packages, driver):
    arguments = packages.ball.arguments("ContactNode")
    alone = drive(driver, "ball", arguments, 2000)
    both = drive(driver, "two", arguments, 2000)
    assert [line for line in both.splitlines() if line.startswith("one ")] == alone.splitlines()
    check_heights(*rows(both, "two").T[:2], height=0.5)


def check_heights(times, heights, height):
    """The ball is where it should be, but for the up to three periods over which an impulse is delivered."""
    hits = exact.ball_impacts(12, height=height)[0]
    away = ~np.any([(hit <= times) & (times < hit + 3e-3) for hit in hits], axis=0)
    assert len(times) == 2000 and away.sum() > 1900
    assert np.abs(heights - 0.2 - exact.ball_height(times, height=height))[away].max() < 1e-9


def test_two_nodes_share_an_engine(packages, driver):
    text = (packages.shared.folder / "ContactSystem.mo").read_text()
    inputs = [f"frame_{name}.r_0, {name}_v, {name}_f_ext_in" for name in ("left", "right")]
    assert f"      cat(1, {', '.join(inputs)}),\n" in text
    assert "  left_f = results[1:3]*unitForce;\n" in text and "  right_f = results[7:9]*unitForce;\n" in text
    times, left, right = rows(drive(driver, "shared", packages.shared.arguments("ContactSystem"), 2000), "shared").T
    check_heights(times, left, height=0.801)
    check_heights(times, right, height=0.5)


def test_two_frames_of_one_body(packages, driver):
    """A cart that is dropped while it rolls on: Coulomb's law slows it down at the impact and afterwards, and it stays level."""
    text = (packages.cart.folder / "ContactSystem.mo").read_text()
    assert "  front_f = results[1:3]*unitForce;\n" in text and "  rear_f = results[9:11]*unitForce;\n" in text
    times, x, z, angle = rows(drive(driver, "cart", packages.cart.arguments("ContactSystem"), 600), "cart").T
    mu, g, fall = 0.3, 9.81, np.sqrt(0.2 / 9.81)
    after = times - fall
    slower = 1.0 - mu * g * fall
    end = slower / (mu * g)
    slid = np.where(after < end, slower * after - 0.5 * mu * g * after**2, 0.5 * slower * end)
    exact_x = np.where(after < 0.0, times, fall + slid)
    away = (after < 0.0) | (after > 0.003)
    print("x", np.abs(x - exact_x)[away].max(), "z", np.abs(z[after > 0.003] - 0.2).max(), "angle", np.abs(angle).max())
    assert np.abs(x - exact_x)[away].max() < 1e-4
    assert np.abs(z[after > 0.003] - 0.2).max() < 1e-5
    assert np.abs(angle).max() < 1e-3


def test_an_event_that_is_evaluated_twice_counts_once(packages, driver):
    arguments = packages.ball.arguments("ContactNode")
    once, twice = (rows(drive(driver, case, arguments, 2000), "one") for case in ("ball", "repeat"))
    assert len(once) == 2000
    assert np.array_equal(once, twice)


def test_errors_reach_the_tool(packages, driver):
    text = drive(driver, "errors", packages.ball.arguments("ContactNode"))
    lines = dict(line.split(": error: broken: ") for line in text.splitlines())
    assert "cannot load the contact engine for the platform linux64 from no/such/folder" in lines["missing library"]
    assert "fmuGUID is {00000000-0000-0000-0000-000000000000} but the model" in lines["wrong guid"]
    assert "cannot read no/such/folder/model.bin" in lines["missing model"]
    assert "ball.mass" in lines["negative mass"] and "above 0" in lines["negative mass"]
    assert "ball.r[3]" in lines["not a number"] and "NaN" in lines["not a number"]
    assert "ball_floor.gap is -1.2" in lines["inside the floor"]
    assert "currentCommunicationPoint is 0.005 but this instance is at 0.001" in lines["time that jumps"]
    assert lines["wrong sizes"] == "the number of inputs or outputs is not that of the model"
    assert len(lines) == 8


def test_quaternions_are_those_of_multibody_frames(packages, driver):
    """T turns a frame by an angle about a unit vector e, as Frames.axesRotations has it; Q = cos(a/2), e sin(a/2)."""
    assert float(drive(driver, "quaternion", packages.ball.arguments("ContactNode")).split()[1]) < 1e-15


def test_sphere_slides_until_it_rolls(packages, driver):
    """Friction 0.3 g slows the centre and spins the sphere up about y until v = w r = 5/7 of the first speed."""
    found = rows(drive(driver, "sphere", packages.sphere.arguments("ContactNode"), 1000), "sphere")
    times, x, z, v, spin, other = found.T
    rolls = 2.0 / (7.0 * 0.3 * 9.81)
    slid = np.minimum(times, rolls)
    assert np.abs(z - 0.1).max() < 1e-9
    away = np.abs(times - rolls) > 3e-3
    assert np.abs(v - (1.0 - 0.3 * 9.81 * slid))[away].max() < 1e-9
    assert np.abs(0.1 * spin - 2.5 * 0.3 * 9.81 * slid)[away].max() < 1e-9
    assert np.abs(other).max() < 1e-12
    assert abs(v[-1] - 5.0 / 7.0) < 1e-9


def integral(function, low, high, count=20001):
    """By the midpoint rule after t^2 from `low`, where the function may be that of a square root below the line."""
    edges = np.linspace(0.0, np.sqrt(high - low), count)
    middles = 0.5 * (edges[1:] + edges[:-1])
    return np.sum(function(low + middles**2) * 2 * middles) * (edges[1] - edges[0])


def test_pendulum_of_the_example(packages, driver):
    """phi'' = g cos(phi), a stop at 30 degrees, restitution 0.5: energy and times of the highest points between impacts
    are those of the pendulum."""
    arguments = packages.ball.arguments("Examples/PendulumTip")
    times, phi, w, force = rows(drive(driver, "pendulum", arguments, 5000), "pendulum").T
    g, stop = 9.81, np.pi / 6
    first = integral(lambda x: 1 / np.sqrt(2 * g * np.sin(x)), 0.0, stop)
    impact, energy = first, w**2 / 2 - g * np.sin(phi)
    for count in range(1, 5):
        level = -g / 2 * (1 - 0.25**count)
        top = np.arcsin(-level / g)
        rise = integral(lambda x: 1 / np.sqrt(2 * (level + g * np.sin(x))), top, stop)
        flies = (times > impact + 4e-3) & (times < impact + 2 * rise - 2e-3)
        assert flies.sum() > 10
        # The circle on which the rod holds the tip is not foretold, only learnt.
        assert np.abs(energy[flies] - level).max() < 5e-3 * g / 2 * 0.25**count
        turn = np.flatnonzero(flies & (w <= 0))[-1]
        assert abs(times[turn] - w[turn] / (g * np.cos(phi[turn])) - impact - rise) < 2e-4
        impact += 2 * rise
    assert np.abs(phi[times > 4.5] - stop).max() < 1e-12
    assert np.abs(force[times > 4.5] - g).max() < 1e-9
    assert phi.max() - stop < g * STEP**2


def classes_of(package):
    """Every class of the package by its file, as pymoca reads it."""
    found = {}
    for path in sorted(package.folder.rglob("*.mo")):
        scope = pymoca.parser.parse(path.read_text())
        names = path.relative_to(package.folder).with_suffix("").parts
        for name in [package.folder.name, *(name for name in names if name != "package")]:
            scope = scope.classes[name]
        found["/".join(names)] = scope
    return found


def type_of(symbol):
    return str(symbol.type)


def modifier(symbol, name):
    """Value of `name = value` in a declaration."""
    for argument in symbol.class_modification.arguments:
        if argument.value.component.name == name:
            (value,) = argument.value.modifications
            return getattr(value, "value", value)


def compile_fault(package, text, model):
    """Why rumoca does not compile a model that uses the package, with names of the Modelica Standard Library."""
    session = rumoca.Session(roots=[str(FIXTURES / "Modelica.mo"), str(package)])
    with pytest.raises(rumoca.CompileError) as error:
        session.loads(text, model=model)
    return str(error.value)


# Beyond the names: this compiler knows no external objects.
NO_EXTERNAL_OBJECTS = "Internal.Engine.engine` has unsupported type `Engine`"
# It looks for a package where the text names it.
USE = "model Use {} used; Modelica.Units.SI.Time other; end Use;"


def test_every_name_means_something(packages, tmp_path):
    for package in vars(packages).values():
        folder = package.folder
        kind = "ContactNode" if (folder / "ContactNode.mo").exists() else "ContactSystem"
        for used in [kind, "Examples.PendulumOnFloor"]:
            fault = compile_fault(folder, USE.format(f"{folder.name}.{used}"), "Use")
            assert NO_EXTERNAL_OBJECTS in fault
    broken = shutil.copytree(packages.ball.folder, tmp_path / "Ball")
    for right, wrong in [("frame_a.R, ball_f)", "frame_a.R, ball_g)"), ("frame_a.r_0, ball_v", "frame_a.r, ball_v")]:
        text = (packages.ball.folder / "ContactNode.mo").read_text()
        assert right in text
        (broken / "ContactNode.mo").write_text(text.replace(right, wrong))
        fault = compile_fault(broken, USE.format("Ball.ContactNode"), "Use")
        assert "unresolved component reference" in fault


def errors_in(text):
    return [entry for entry in rumoca.validate_source(text) if entry.level == "error"]


def test_text_is_modelica(packages):
    node = (packages.ball.folder / "ContactNode.mo").read_text()
    assert errors_in(node.replace("end when;", "end if;")) != []
    for package in vars(packages).values():
        paths = sorted(package.folder.rglob("*.mo"))
        assert len(paths) == 9
        for path in paths:
            assert errors_in(path.read_text()) == [], path
        for name, entry in classes_of(package).items():
            kind = {"package": "package", "Engine": "class", "step": "impurefunction", "quaternion": "purefunction"}
            assert entry.type == kind.get(name.split("/")[-1], "model"), name


def test_every_class_is_in_the_order_of_its_package(packages):
    for order in packages.ball.folder.rglob("package.order"):
        files = {path.stem for path in order.parent.glob("*.mo")} | {
            path.parent.name for path in order.parent.glob("*/package.mo")
        }
        listed = order.read_text().split()
        assert set(listed) == files - {"package"} and len(set(listed)) == len(listed)


def test_parameters_and_frame_of_the_ball(packages):
    symbols = classes_of(packages.ball)["ContactNode"].symbols
    frame = "Modelica.Mechanics.MultiBody.Interfaces.Frame_a"
    assert [name for name, symbol in symbols.items() if type_of(symbol) == frame] == ["frame_a"]
    for name, type_name, value in [
        ("samplePeriod", "SI.Time", 1e-3),
        ("ball_mass", "SI.Mass", 1.0),
        ("ball_floor_restitution", "Real", 0.8),
        ("ball_floor_mu", "Real", 0.0),
        ("engine_step", "SI.Time", 1e-3),
    ]:
        symbol = symbols[name]
        assert "parameter" in symbol.prefixes and symbol.comment, name
        assert (type_of(symbol), modifier(symbol, "value")) == (type_name, value)
    assert type_of(symbols["gravity"]) == "SI.Acceleration"
    assert modifier(symbols["ball_floor_restitution"], "unit") == "1"
    assert modifier(symbols["ball_floor_restitution"], "max") == 1.0


def test_names_and_units_are_those_of_the_fmu(packages):
    """Each variable of the FMU is in the model, with the type of Modelica.Units.SI whose unit it has."""
    si = {"s": "Time", "m": "Length", "m/s": "Velocity", "m/s2": "Acceleration", "kg": "Mass", "N": "Force"}
    si |= {"N.m": "Torque", "N.s": "Impulse", "J": "Energy", "rad": "Angle", "rad/s": "AngularVelocity"}
    si |= {"N/m": "TranslationalSpringConstant", "N.s/m": "TranslationalDampingConstant"}
    for package in [packages.ball, packages.couplings, packages.crank]:
        name = "ContactNode" if package is packages.ball else "ContactSystem"
        source = package.folder / "Resources/Data" / name / "model.toml"
        fmu = package.folder.parent / f"{package.folder.name}.fmu"
        contact_fmu("build", source, "-o", fmu)
        symbols = classes_of(package)[name].symbols
        seen = 0
        for variable in read_model_description(fmu).modelVariables:
            base = variable.name.split("[")[0].replace(".", "_")
            from_frame = variable.causality == "input" and base.endswith(("_r", "_q", "_w"))
            if from_frame:
                continue
            if variable.name == "engine.sample":
                assert "samplePeriod" in symbols
                continue
            symbol = symbols[base]
            assert symbol.comment, base
            if type_of(symbol) == "Modelica.Blocks.Interfaces.RealInput":
                assert modifier(symbol, "unit") == variable.unit
            elif variable.type == "Integer":
                assert type_of(symbol) == "Integer"
            elif variable.unit == "1":
                assert type_of(symbol) == "Real" and modifier(symbol, "unit") == "1"
            else:
                assert type_of(symbol) == f"SI.{si[variable.unit]}", base
            assert ("parameter" in symbol.prefixes) == (variable.causality == "parameter")
            seen += 1
        assert seen > 20


def test_units_of_both_sides_agree(packages):
    """Outputs come in arrays of unit 1, because a checker may keep one unit for an array, as OpenModelica's does: each is
    multiplied by a constant that is one of its unit."""
    for package in vars(packages).values():
        for name, entry in classes_of(package).items():
            if name not in ("ContactNode", "ContactSystem", "Examples/PendulumTip"):
                continue
            text = (package.folder / f"{name}.mo").read_text()
            for array in ("states", "results"):
                assert modifier(entry.symbols[array], "unit") == "1"
            found = re.findall(r"^  (\w+) = (?:states|results)\[[\d:]+\](?:\*(\w+))?;$", text, re.MULTILINE)
            assert len(found) == len(re.findall(r" = (?:states|results)\[", text)) > 5
            for left, unit in found:
                symbol = entry.symbols[left]
                if unit:
                    constant = entry.symbols[unit]
                    assert "constant" in constant.prefixes and modifier(constant, "value") == 1
                    assert type_of(constant) == type_of(symbol) != "Real"
                else:
                    assert (type_of(symbol), modifier(symbol, "unit")) == ("Real", "1"), left


def test_frames_have_the_names_that_are_promised(tmp_path):
    """Whatever the names of nodes: `a`, which is that of the only frame of other models, and `f`, whose frame has the name
    that the force of `frame` would have."""
    ball = (ROOT / "models/coupled_ball/model.toml").read_text()
    node = ball[ball.index("[[node]]") : ball.index("[[surface]]")]
    others = "".join(node.replace('"ball"', f'"{name}"') for name in ("f", "frame"))
    text = ball.replace('name = "ball"', 'name = "a"').replace('"ball", "floor"', '"*", "floor"')
    (tmp_path / "named.toml").write_text(text.replace("[[surface]]", f"{others}[[surface]]"))
    package = Package(tmp_path / "named.toml", tmp_path / "Named")
    symbols = classes_of(package)["ContactSystem"].symbols
    frames = [name for name, symbol in symbols.items() if type_of(symbol).endswith("Frame_a")]
    assert frames == ["frame_a", "frame_f", "frame_frame"]
    assert type_of(symbols["frame_f_"]) == "SI.Force" and type_of(symbols["a_f"]) == "SI.Force"
    assert NO_EXTERNAL_OBJECTS in compile_fault(package.folder, USE.format("Named.ContactSystem"), "Use")


def test_every_variable_has_one_equation(packages):
    """What is declared and neither parameter nor input is on the left of exactly one equation."""
    for package in vars(packages).values():
        for name, entry in classes_of(package).items():
            if name not in ("ContactNode", "ContactSystem", "Examples/PendulumTip"):
                continue
            text = (package.folder / f"{name}.mo").read_text()
            body = text[text.index("\nequation\n") : text.index("  annotation(\n")]
            left = re.findall(r"^  ([\w.]+) = ", body, re.MULTILINE)
            for symbol in entry.symbols.values():
                kind = type_of(symbol)
                if kind == "Modelica.Mechanics.MultiBody.Interfaces.Frame_a":
                    assert left.count(f"{symbol.name}.f") == left.count(f"{symbol.name}.t") == 1
                elif symbol.name in ("states", "results", "counts"):
                    assert len(re.findall(rf"\b{symbol.name}\b[,)]", body)) == 1
                elif kind.endswith(("RealInput", "Engine")) or {"parameter", "constant"} & set(symbol.prefixes):
                    assert left.count(symbol.name) == 0
                else:
                    assert left.count(symbol.name) == 1, symbol.name


def test_frames_of_nodes_and_surfaces_that_move(packages):
    text = (packages.couplings.folder / "ContactSystem.mo").read_text()
    symbols = classes_of(packages.couplings)["ContactSystem"].symbols
    frames = [name for name, symbol in symbols.items() if type_of(symbol).endswith("Frame_a")]
    assert frames == [f"frame_{name}" for name in ("ball", "top", "again", "tip", "table", "wall")]
    for frame, body in [("frame_ball", "ball"), ("frame_top", "top"), ("frame_table", "table")]:
        assert f"  {frame}.f = -Frames.resolve2({frame}.R, {body}_f);\n" in text
    assert "  frame_ball.t = zeros(3);\n" in text
    assert "  frame_top.t = -Frames.resolve2(frame_top.R, top_t);\n" in text
    turned = "Couplings.Internal.quaternion(frame_top.R.T), Frames.angularVelocity1(frame_top.R)"
    assert f"frame_top.r_0, top_v, {turned}, top_f_ext_in, top_t_ext_in" in text
    assert type_of(symbols["owned_r"]) == "SI.Length" and "parameter" in symbols["owned_r_start"].prefixes

