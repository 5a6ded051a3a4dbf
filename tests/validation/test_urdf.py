"""`contact-fmu import`: robots against an independent reader, and dropped on a floor as FMUs."""

import json
import re
import shutil
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from conftest import BUILDER, ROOT, contact_fmu, long_only, read_csv, refused
from test_readme import blocks, run_shell
from urdf_reader import Robot, rotation

FIXTURES = ROOT / "tests/fixtures/urdf"
# File, options, coordinates at the start that are not 0 (the nearest to 0 within limits), number of joints that move.
ROBOTS = {
    "arm": ("arm.urdf", [], {"elbow": 0.3}, 6),
    "quadruped": ("quadruped.urdf", ["--floor", "-0.6"],
                  {f"{leg}_calf_joint": -0.9 for leg in ("front_left", "front_right", "rear_left", "rear_right")}, 12),
    "rover": ("rover.urdf", ["--floor", "-0.3"], {}, 6),
    "gripper": ("gripper.urdf", ["--fixed-base"], {}, 2),
    "hand": ("hand_description/hand.urdf", ["--floor", "-0.2"],
             {f"{finger}_bend": 0.1 for finger in ("index", "middle", "ring")}, 6),
}


def imported(name, folder, *more):
    file, options, _, _ = ROBOTS[name]
    path = folder / f"{name}.toml"
    command = [BUILDER, "import", FIXTURES / file, "-o", path, *options, *more]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(path)
    return path, done.stderr


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request, tmp_path_factory):
    path, told = imported(request.param, tmp_path_factory.mktemp("urdf"))
    file, _, starts, moving = ROBOTS[request.param]
    return request.param, path, told, tomllib.loads(path.read_text()), Robot(FIXTURES / file, starts), moving


def matrix(wxyz):
    w, *v = wxyz
    turn = 2 * np.arctan2(np.linalg.norm(v), w)
    return rotation(np.array(v) / max(np.linalg.norm(v), 1e-300), turn)


def plain(name):
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def together(nodes):
    """Mass, centre and tensor of nodes that are fixed to one another, by definition."""
    mass = sum(node["mass"] for node in nodes)
    centre = sum(node["mass"] * np.array(node["position"]) for node in nodes) / mass
    tensor = np.zeros((3, 3))
    for node in nodes:
        axes = matrix(node.get("orientation", [1.0, 0.0, 0.0, 0.0]))
        d = np.array(node["position"]) - centre
        tensor += axes @ np.diag(node["inertia"]) @ axes.T + node["mass"] * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, centre, tensor


def groups(model):
    """Nodes by the name of the link that they stand for: those that fixed joints hold to it too."""
    found = {node["name"]: [node] for node in model["node"]}
    nodes = {node["name"]: node for node in model["node"]}
    for joint in model["joint"]:
        if "fixed" in joint:
            carrier, part = joint["between"]
            found[carrier].append(nodes[part])
            del found[part]
    return found


def test_mass_centre_and_inertia(robot):
    name, _, _, model, exact, _ = robot
    found = groups(model)
    bodies = {plain(body.links[0]): body for body in exact.bodies}
    ground = {plain(exact.root)} if name in ("arm", "gripper") else set()
    assert set(found) == set(bodies) - ground
    for link, nodes in found.items():
        mass, centre, tensor = together(nodes)
        body = bodies[link]
        assert abs(mass - body.mass) < 1e-12 * body.mass
        assert np.abs(centre - body.centre).max() < 1e-12
        assert np.abs(tensor - body.tensor).max() < 1e-12 * np.abs(body.tensor).max()


def test_places_and_axes_of_joints(robot):
    name, _, _, model, exact, moving = robot
    joints = [joint for joint in model["joint"] if "fixed" not in joint]
    assert len(joints) == moving == len(exact.joints)
    by_name = {plain(joint): place for joint, place in exact.joints.items()}
    file, _, starts, _ = ROBOTS[name]
    for joint in joints:
        position, axis, parent, child = by_name[joint["name"]]
        motion = joint.get("revolute") or joint.get("prismatic")
        assert np.abs(np.array(motion["position"]) - position).max() < 1e-12
        assert np.abs(np.array(motion["axis"]) - axis).max() < 1e-12
        first = "ground" if parent is exact.bodies[0] and name in ("arm", "gripper") else plain(parent.links[0])
        assert joint["between"] == [first, plain(child.links[0])]


def test_limits_are_counted_from_the_start(robot):
    name, path, _, model, _, _ = robot
    file, _, starts, _ = ROBOTS[name]
    text = (FIXTURES / file).read_text()
    for joint in model["joint"]:
        if "fixed" in joint:
            continue
        entry = re.search(rf'<joint name="{joint["name"]}" type="(\w+)">(.*?)</joint>', text, re.S)
        if entry[1] == "continuous":
            assert "limits" not in joint
            continue
        start = starts.get(joint["name"], 0.0)
        limits = re.search(r'lower="(\S+)" upper="(\S+)"', entry[2])
        assert joint["limits"]["lower"] == pytest.approx(float(limits[1]) - start, abs=1e-15)
        assert joint["limits"]["upper"] == pytest.approx(float(limits[2]) - start, abs=1e-15)


def test_check_build_and_drop(robot, tmp_path):
    """For half a second: joints stay closed and within their limits, nothing sinks into the floor, and energy falls by
    what impacts, friction and damping take."""
    name, path, _, model, _, _ = robot
    contact_fmu("check", path)
    fmu = tmp_path / f"{name}.fmu"
    contact_fmu("build", path, "-o", fmu)
    out = tmp_path / "out.csv"
    # Fingers of a gripper that lies on its side slide to their stops.
    lying = ["--set", "gravity[2]=-9.81", "--set", "gravity[3]=0.0"] if name == "gripper" else []
    contact_fmu("simulate", fmu, "--stop", 0.5, "--step", 2e-3, *lying, "-o", out)
    rows = read_csv(out)
    for joint in model["joint"]:
        if "limits" in joint:
            value = rows[f"{joint['name']}.{'angle' if 'revolute' in joint else 'distance'}"]
            assert value.min() > joint["limits"]["lower"] - 1e-9
            assert value.max() < joint["limits"]["upper"] + 1e-9
    assert rows["engine.residual"].max() < 1e-8
    gaps = [column for column in rows if column.endswith(".gap")]
    for gap in gaps:
        assert rows[gap].min() > -1e-6, gap
    touched = sum(rows[column].max() > 0 for column in rows if column.endswith(".f_n"))
    assert touched >= {"quadruped": 4, "rover": 4, "hand": 1}.get(name, 0)
    if name == "gripper":
        assert (rows["left.limit_state"][-1], rows["right.limit_state"][-1]) == (-1, 1)
    energy = rows["engine.energy"] + rows["engine.dissipated"]
    assert np.abs(energy - energy[0]).max() < 0.02 * np.ptp(rows["engine.potential"])


def test_what_is_not_in_the_model_is_told(robot):
    name, path, told, _, _, _ = robot
    wanted = {
        "arm": ["limits of effort: pan (50.0)", "limits of velocity: pan (3.0)", "damping of revolute joints: roll (0.1)",
                "friction of joints, which needs mu_static, mu_kinetic and the bearing here: roll (0.02)",
                "joint elbow starts at 0.3", "collision shapes of world, which is the ground"],
        "quadruped": ["limits of effort", "starts at -0.9"],
        "rover": ["<gazebo> (1)", "damping of revolute joints: front_left_axle (0.05)"],
        "gripper": ["<transmission>: drive", "mimic joints, each of which moves on its own here: right (= 1.0 left + 0.0)"],
        "hand": ["what only is to be seen (<visual>): palm", "index_bend (= 0.9 index_knuckle + 0.1)"],
    }[name]
    text = path.read_text()
    for line in wanted:
        assert line in told
        assert any(line in comment for comment in text.splitlines() if comment.startswith("#"))
    listed = [line for line in told.splitlines() if line]
    assert len(listed) == sum(line.startswith("# - ") for line in text.split("# One node")[0].splitlines())


def test_damping_of_prismatic_joints(tmp_path):
    """Without gravity a finger of mass m on a damper d slows down by exp(-d t / m), and the other keeps its speed."""
    path, told = imported("gripper", tmp_path)
    assert "damping" not in told
    text = path.read_text().replace("step = 1e-3", "step = 1e-4")
    path.write_text(text)
    start = ["--set", "gravity[3]=0", "--set", "finger_left.v[2]=0.5", "--set", "finger_right.v[2]=-0.5"]
    contact_fmu("simulate", path, "--stop", 0.1, *start, "-o", tmp_path / "slow.csv")
    rows = read_csv(tmp_path / "slow.csv")
    rate = 3 / 0.1
    left = 0.5 * -np.expm1(-rate * rows["time"]) / rate
    # Second order in the step: (rate h)^2 / 12 of the motion.
    assert np.abs(rows["left.distance"] - left).max() < (rate * 1e-4) ** 2 * 0.5 / rate
    assert np.abs(rows["right.distance"] - 0.5 * rows["time"]).max() < 1e-12
    lost = 0.5 * 0.1 * 0.5**2 * -np.expm1(-2 * rate * rows["time"][-1])
    assert rows["engine.dissipated"][-1] == pytest.approx(lost, rel=1e-4)


def test_hulls_are_where_the_meshes_are(tmp_path):
    """Corners of the palm and of a scaled, mirrored and turned phalanx, in the world."""
    path, _ = imported("hand", tmp_path)
    model = tomllib.loads(path.read_text())
    exact = Robot(FIXTURES / "hand_description/hand.urdf", ROBOTS["hand"][2])
    nodes = {node["name"]: node for node in model["node"]}

    def corners(node):
        lines = (tmp_path / node["shape"]["hull"]["file"]).read_text().splitlines()
        own = np.array([[float(word) for word in line.split()[1:]] for line in lines if line.startswith("v ")])
        return own @ matrix(node.get("orientation", [1, 0, 0, 0])).T + node["position"]

    def same(found, wanted):
        assert len(found) == len(wanted)
        assert np.abs(found[:, None] - wanted[None]).max(2).min(1).max() < 1e-12

    meshes = FIXTURES / "hand_description/meshes"
    palm = re.findall(r"vertex (\S+) (\S+) (\S+)", (meshes / "palm.stl").read_text())
    same(corners(nodes["palm"]), np.unique(np.array(palm, float) * 1e-3, axis=0))
    lines = (meshes / "phalanx.obj").read_text().splitlines()
    phalanx = np.array([line.split()[1:] for line in lines if line.startswith("v ")], float)
    at = exact.frames["ring_distal"]
    wanted = phalanx * [0.8, 0.8, -0.7] @ rotation((0, 0, 1), 0.5).T + [0, 0, 0.014]
    same(corners(nodes["ring_distal"]), wanted @ at[:3, :3].T + at[:3, 3])


def test_floor_below_the_lowest_point(tmp_path):
    path, _ = imported("rover", tmp_path)
    contact_fmu("import", FIXTURES / "rover.urdf", "-o", tmp_path / "low.toml", "--floor")
    (floor,) = tomllib.loads((tmp_path / "low.toml").read_text())["surface"]
    assert floor["position"][2] == pytest.approx(0.02 - 0.1, abs=1e-12)
    contact_fmu("import", FIXTURES / "rover.urdf", "-o", tmp_path / "none.toml")
    text = (tmp_path / "none.toml").read_text()
    assert "surface" not in tomllib.loads(text)
    # The floor of the comments is one.
    block = text.split("# A floor to stand on")[1].splitlines()[1:]
    (tmp_path / "uncommented.toml").write_text(
        text + "\n" + "\n".join(line.removeprefix("#").strip() for line in block).replace("0.0, 0.0, 0.0]", "0.0, 0.0, -0.2]"))
    contact_fmu("check", tmp_path / "uncommented.toml")


# Frames of the links of a robot at given coordinates, as yourdfpy finds them, which knows no capsules.
YOURDFPY = """
import io, json, re, sys, yourdfpy
path, starts = sys.argv[1], json.loads(sys.argv[2])
text = re.sub("<capsule[^>]*>", '<sphere radius="1"/>', open(path).read())
robot = yourdfpy.URDF.load(io.BytesIO(text.encode()), load_meshes=False, load_collision_meshes=False)
robot.update_cfg({joint: starts.get(joint, 0.0) for joint in robot.actuated_joint_names})
print(json.dumps({link: robot.get_transform(link, robot.base_link).tolist() for link in robot.link_map}))
"""


# Mass, centre of mass, inertia about it and place of what each joint carries, in the world, as Pinocchio finds them.
PINOCCHIO = """
import json, sys, pinocchio
path, starts, is_fixed = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
if is_fixed:
    model = pinocchio.buildModelFromUrdf(path)
else:
    model = pinocchio.buildModelFromUrdf(path, pinocchio.JointModelFreeFlyer())
data, q = model.createData(), pinocchio.neutral(model)
for name, value in starts.items():
    q[model.joints[model.getJointId(name)].idx_q] = value
pinocchio.forwardKinematics(model, data, q)
found = {}
for joint in range(1, model.njoints):
    at, body = data.oMi[joint], model.inertias[joint]
    tensor = at.rotation @ body.inertia @ at.rotation.T
    found[model.names[joint]] = body.mass, at.act(body.lever).tolist(), tensor.tolist(), at.translation.tolist()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def other_readers(tmp_path_factory):
    """An environment of their own, since they bring more packages than all other tests."""
    folder = tmp_path_factory.mktemp("readers")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    packages = ["yourdfpy==0.0.60", "pin==4.1.0"]
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", *packages], check=True)

    def read(program, *arguments):
        command = [folder / "bin/python", "-c", program, *arguments]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return read


@long_only
@pytest.mark.parametrize("name", ROBOTS)
def test_the_reader_agrees_with_yourdfpy(name, other_readers):
    """On the frames of all links."""
    file, _, starts, _ = ROBOTS[name]
    theirs = other_readers(YOURDFPY, FIXTURES / file, json.dumps(starts))
    exact = Robot(FIXTURES / file, starts)
    assert set(theirs) == set(exact.frames)
    for link, frame in exact.frames.items():
        assert np.abs(np.array(theirs[link]) - frame).max() < 1e-9, link


@long_only
@pytest.mark.parametrize("name", ROBOTS)
def test_the_reader_agrees_with_pinocchio(name, other_readers):
    """On mass, centre and inertia of what every joint carries, fixed links with it, and on the places of the joints."""
    file, _, starts, _ = ROBOTS[name]
    is_fixed = name in ("arm", "gripper")
    theirs = other_readers(PINOCCHIO, FIXTURES / file, json.dumps(starts), json.dumps(is_fixed))
    exact = Robot(FIXTURES / file, starts)
    bodies = {joint: (child, place) for joint, (place, _, _, child) in exact.joints.items()}
    if not is_fixed:
        bodies["root_joint"] = exact.bodies[0], np.zeros(3)
    assert set(theirs) == set(bodies)
    for joint, (mass, centre, tensor, place) in theirs.items():
        body, at = bodies[joint]
        assert abs(mass - body.mass) < 1e-9
        assert np.abs(np.array(place) - at).max() < 1e-9
        assert np.abs(np.array(centre) - body.centre).max() < 1e-9
        assert np.abs(np.array(tensor) - body.tensor).max() < 1e-9 * np.abs(body.tensor).max()


TINY = """<robot name="tiny">
  <link name="a">{inertial}{collision}</link>
  {more}
</robot>
"""
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


@pytest.mark.parametrize("text, message, line", [
    ("<robot name='x'><link name='a'", "not well-formed XML", 1),
    ("<sdf/>", "expected <robot>", 1),
    (TINY.format(inertial=INERTIAL, collision="", more='<xacro:macro name="m"/>'), "xacro", 3),
    (TINY.format(inertial=INERTIAL, collision="", more='<link name="${b}"/>'), "xacro", 3),
    (TINY.format(inertial='<inertial><mass value="one"/></inertial>', collision="", more=""), 'value="one", expected a number', 2),
    (TINY.format(inertial='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="9"/></inertial>', collision="", more=""),
     "no body has the moments of inertia", 2),
    (TINY.format(inertial=INERTIAL, collision='<collision><geometry><cone/></geometry></collision>', more=""), "no shape <cone>", 2),
    (TINY.format(inertial=INERTIAL, collision='<collision><geometry><mesh filename="no.stl"/></geometry></collision>', more=""),
     "cannot be found", 2),
    (TINY.format(inertial=INERTIAL, collision="", more='<link name="a"/>'), "two links called `a`", 3),
    (TINY.format(inertial=INERTIAL, collision="", more='<link name="b"/>'), "more than one root", 3),
    (TINY.format(inertial=INERTIAL, collision="", more='<link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>'),
     "has no <limit>", 3),
    (TINY.format(inertial=INERTIAL, collision="", more='<link name="b"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'),
     "moves and has no mass", 3),
    (TINY.format(inertial=INERTIAL, collision="", more='<joint name="j" type="fixed"><parent link="a"/><child link="c"/></joint>'),
     "no link `c`", 3),
    (TINY.format(inertial=INERTIAL, collision="", more='<link name="b"/><joint name="j" type="screw"><parent link="a"/><child link="b"/></joint>'),
     "has the type `screw`", 3),
    (TINY.format(inertial="", collision="", more=""), "nothing of the robot moves", 2),
])
def test_faults_are_told_with_their_line(text, message, line, tmp_path):
    (tmp_path / "robot.urdf").write_text(text)
    told = refused("import", tmp_path / "robot.urdf", "-o", tmp_path / "out.toml")
    assert message in told
    assert f"robot.urdf:{line}:" in told
    assert not (tmp_path / "out.toml").exists()


def test_page_runs(tmp_path):
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    (script,) = blocks("docs/urdf.md", "sh")
    run_shell(script, tmp_path)
    assert read_csv(tmp_path / "dog.csv")["time"][-1] == 0.5


def test_files_are_not_replaced(tmp_path):
    path, _ = imported("hand", tmp_path)
    before = path.read_text()
    assert "already exists" in refused("import", FIXTURES / "hand_description/hand.urdf", "-o", path)
    assert path.read_text() == before
    (tmp_path / "robot.urdf.xacro").write_text("<robot/>")
    assert "xacro robot.xacro > robot.urdf" in refused("import", tmp_path / "robot.urdf.xacro")
