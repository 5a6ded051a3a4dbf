"""No program on any page goes without a test: what no other test runs is run here."""

import os
import re
import shutil

import pytest
import yaml
from conftest import ROOT, contact_fmu
from test_readme import blocks, run_python, run_shell

# Page, and the file that runs it.
RUN_BY = {
    "README.md": "test_readme.py",
    "docs/coupling.md": "test_readme.py",
    "docs/fmi3.md": "test_fmi3_page.py",
    "docs/friction.md": "test_friction_docs.py",
    "docs/getting-started.md": "test_getting_started.py",
    "docs/masters.md": "test_masters_page.py",
    "docs/model-exchange.md": "test_readme.py",
    "docs/model-file.md": "test_model_file_docs.py",
    "docs/modelica.md": "test_readme.py",
    "docs/platforms.md": "test_docs_blocks.py",
    "docs/python.md": "test_wheel.py",
    "docs/report.md": "test_readme.py",
    "docs/robustness.md": "test_docs_blocks.py",
    "docs/shapes.md": "test_docs_blocks.py",
    "docs/ssp.md": "test_readme.py",
    "docs/sweeps.md": "test_sweep.py",
    "docs/theory.md": "test_theory_docs.py",
    "docs/urdf.md": "test_urdf.py",
    "models/billiards/README.md": "test_docs_blocks.py",
    "models/chain/README.md": "test_docs_blocks.py",
    "models/heightfield_rover/README.md": "test_docs_blocks.py",
    "models/friction_pendulum/README.md": "test_pendulum_and_crank.py",
    "models/hexapod/README.md": "test_hexapod.py",
    "models/jansen_walker/README.md": "test_jansen_walker.py",
    "models/manipulator/README.md": "test_manipulator.py",
    "models/rotor_droop_stop/README.md": "test_rotor_droop_stop.py",
    "models/slider_crank/README.md": "test_pendulum_and_crank.py",
}


def languages_of(text):
    """Languages of the blocks of a page."""
    return set(re.findall(r"^```(.*)$", text, re.MULTILINE)[::2])


def test_every_page_with_a_program_is_run():
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("models/*/README.md")]
    languages = {str(page.relative_to(ROOT)): languages_of(page.read_text()) for page in pages}
    assert {page for page, names in languages.items() if names - {"text"}} == set(RUN_BY)
    assert not any("" in names for names in languages.values()), "blocks tell what they hold"
    commands = re.compile(r"^(\w+=\S+ )*(cargo|contact-fmu|python|pip|scripts/\S+) ", re.MULTILINE)
    for page in languages:
        assert not any(commands.search(block) for block in blocks(page, "text")), page
    for page, runner in RUN_BY.items():
        assert f'"{page}"' in (ROOT / "tests/validation" / runner).read_text(), page


@pytest.mark.parametrize("page", ["models/billiards/README.md", "models/heightfield_rover/README.md"])
def test_commands_of_models_run(page, tmp_path):
    shutil.copytree(ROOT / "models", tmp_path / "models")
    for script in blocks(page, "sh"):
        run_shell(script, tmp_path)
        for written in re.findall(r"-o (\S+)", script):
            assert (tmp_path / written).stat().st_size > 1000


def test_program_of_the_chain_writes_its_model(capsys):
    run_python("models/chain/README.md")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 199
    assert set(lines) <= set((ROOT / "models/chain/model.toml").read_text().splitlines())


def cube():
    """Text STL of a cube with edges of 2."""
    lines = []
    for axis in range(3):
        for side in (-1, 1):
            around = [[-1, -1], [1, -1], [1, 1], [-1, 1]][::side]
            corners = [[*pair[:axis], side, *pair[axis:]] if axis != 1 else [pair[1], side, pair[0]] for pair in around]
            for triangle in ([0, 1, 2], [0, 2, 3]):
                points = "".join("vertex {} {} {}\n".format(*corners[k]) for k in triangle)
                lines.append(f"facet normal 0 0 0\nouter loop\n{points}endloop\nendfacet\n")
    return f"solid cube\n{''.join(lines)}endsolid cube\n"


def test_shapes_of_the_page_are_accepted(tmp_path):
    cylinder, disc, hull, mesh, field = blocks("docs/shapes.md", "toml")
    nodes = {"can": cylinder, "coin": disc, "stone": hull}
    (tmp_path / "stone.stl").write_text(cube())
    corners = re.findall(r"vertex (.*)", cube())
    distinct = sorted(set(corners))
    places = [distinct.index(corner) + 1 for corner in corners]
    faces = "".join("f {} {} {}\n".format(*places[k : k + 3]) for k in range(0, len(places), 3))
    (tmp_path / "ramp.obj").write_text("".join(f"v {corner}\n" for corner in distinct) + faces)
    (tmp_path / "terrain.txt").write_text("0 0 0\n0 1 0\n0 0 0\n")
    node = """
        [[node]]
        name = "{}"
        coupling = "owned"
        mass = 1.0
        inertia = [1.0, 1.0, 1.0]
        position = [0.0, 0.0, {}.0]
        {}
        """
    (tmp_path / "model.toml").write_text(
        f"""
        model.name = "shapes"
        {"".join(node.format(name, 9 + 3 * place, shape) for place, (name, shape) in enumerate(nodes.items()))}
        [[surface]]
        name = "ramp"
        {mesh}
        [[surface]]
        name = "terrain"
        {field}
        [[contact]]
        between = ["*", "*"]
        """
    )
    contact_fmu("build", "model.toml", cwd=tmp_path)
    assert (tmp_path / "shapes.fmu").exists()


def test_commands_of_the_page_on_platforms_are_there(tmp_path):
    """Building for all platforms takes long: test_commands.py does it with CONTACT_FMU_LONG=1."""
    build, check = blocks("docs/platforms.md", "sh")
    scripts = [line.split("#")[0].split() for line in (build + check).splitlines() if "scripts/" in line]
    text = (ROOT / "scripts/all-platforms").read_text()
    assert os.access(ROOT / "scripts/all-platforms", os.X_OK)
    assert all(option in text for line in scripts for option in line[1:])
    shutil.copytree(ROOT / "models", tmp_path / "models")
    for line in build.splitlines():
        if line.startswith("target/release/contact-fmu ") and "win64" not in line:
            run_shell(line.removeprefix("target/release/"), tmp_path)
    assert (tmp_path / "bouncing_ball.fmu").exists()


def test_hosted_integration_runs_the_same_commands():
    """Besides what sets a machine up, the workflow has nothing but the commands that are run here."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    runs = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in workflow["jobs"].items()}
    set_up = ("apt-get update && apt-get install ", "curl ")
    ours = {name: [line for line in lines if not line.startswith(set_up)] for name, lines in runs.items()}
    assert ours == {"test": ["scripts/test"], "release": ["scripts/release --check"]}
    for (command,) in ours.values():
        assert os.access(ROOT / command.split()[0], os.X_OK)
    assert workflow["jobs"]["release"]["needs"] == "test"


def test_commands_of_the_page_on_robustness_run(tmp_path):
    """With few cases; of the sanitizers, which test_commands.py runs with CONTACT_FMU_LONG=1, what they name is there."""
    program = "cargo run --release -p robustness -- "
    (sanitizer,) = [script for script in blocks("docs/robustness.md", "sh") if "cargo fuzz" in script]
    (tmp_path / "robustness").mkdir()
    commands = [line for script in blocks("docs/robustness.md", "sh") for line in script.splitlines() if line.startswith(program)]
    assert len(commands) == 7
    for command in commands:
        few = re.sub(r"\b\d{4,}\b", "3", command.removeprefix(program))
        run_shell(f"{ROOT / 'target/release/robustness'} {few}", tmp_path)
    table = "robustness/trajectories.txt"
    assert (tmp_path / table).read_text() == (ROOT / table).read_text()
    (target,) = re.findall(r"cargo fuzz run (\w+)", sanitizer)
    assert f'name = "{target}"' in (ROOT / "fuzz/Cargo.toml").read_text()
    (suppressions,) = re.findall(r"suppressions=\$PWD/(\S+)", sanitizer)
    assert (ROOT / suppressions).exists()
    package, test = re.findall(r"-p (\S+) --test (\w+)", sanitizer)[0]
    assert (ROOT / package / "tests" / f"{test}.rs").exists()
