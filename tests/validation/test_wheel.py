"""The wheel: built, installed where there is no Rust, and used as README, the page on Python and the notebooks say."""

import fcntl
import json
import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from conftest import LONG, ROOT, contact_fmu, long_only
from exact import ball_height
from test_readme import blocks

# One worker builds it.
pytestmark = pytest.mark.xdist_group("wheel")

NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """CONTACT_FMU_WHEEL, or one with libraries for this machine only, from what the test command has compiled."""
    if given := os.environ.get("CONTACT_FMU_WHEEL"):
        return Path(given).resolve()
    folder = tmp_path_factory.mktemp("wheel")
    environment = {name: value for name, value in os.environ.items() if name != "FMU_RUNTIME_DIR"}
    command = [Path(sys.executable).parent / "maturin", "build", "--quiet", "--release", "--locked", "--out", folder]
    # maturin moves what cargo has made: two at once would take it from one another.
    with (ROOT / "target/wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(command, check=True, cwd=ROOT, env=environment)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A virtual environment with the wheel in it, and NumPy and pandas of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "tests.pth").write_text(str(Path(np.__file__).parents[1]) + "\n")
    return folder


@pytest.fixture(scope="module")
def package(environment):
    """The package, imported from there."""
    (packages,) = environment.glob("lib/python*/site-packages")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(str(packages))
        import contact_fmu

        assert Path(contact_fmu.__file__).parents[1] == packages
        yield contact_fmu


@pytest.fixture
def model(package):
    return package.load(blocks("README.md", "toml")[0])


def run(environment, *command, cwd):
    """With the programs of the environment only."""
    clean = {"PATH": str(environment / "bin"), "HOME": str(cwd)}
    assert shutil.which("cargo", path=clean["PATH"]) is None
    return subprocess.run(command, check=True, cwd=cwd, env=clean, capture_output=True, text=True)


def check_first_steps(environment, folder):
    """README from its first command on, and the command line, without Rust."""
    pip, new = blocks("README.md", "sh")[0].splitlines()
    assert re.fullmatch(r"pip install contact_fmu-[\d.]+-cp39-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", pip)
    run(environment, *shlex.split(new, comments=True), cwd=folder)
    program = blocks("README.md", "python")[0]
    assert len([line for line in program.splitlines() if line]) == 4
    done = run(environment, "python", "-c", program, cwd=folder)
    assert 0.1 <= float(done.stdout) < 0.1001
    run(environment, "contact-fmu", "build", "drop.toml", cwd=folder)
    run(environment, "contact-fmu", "simulate", "drop.fmu", "-o", "drop.csv", "--report", "drop.html", cwd=folder)
    assert (folder / "drop.html").stat().st_size > 5e5
    other = fmpy.simulate_fmu(str(folder / "drop.fmu"), output_interval=1e-3)["ball.r[3]"].min()
    assert abs(other - float(done.stdout)) < 1e-9
    wrong = subprocess.run([environment / "bin/contact-fmu", "build"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "Usage" in wrong.stderr
    wrong = subprocess.run([environment / "bin/contact-fmu", "check", "none.toml"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "cannot read the model file" in wrong.stderr


def test_first_steps_without_rust(environment, tmp_path):
    check_first_steps(environment, tmp_path)


def test_the_command_line_is_the_same(environment, tmp_path):
    """Byte by byte, but for libraries of other platforms."""
    ours = contact_fmu("build", ROOT / "models/bouncing_ball/model.toml", "-o", tmp_path / "ours.fmu")
    theirs = run(environment, "contact-fmu", "build", ROOT / "models/bouncing_ball/model.toml", "-o", "theirs.fmu", cwd=tmp_path)
    assert ours and theirs.stdout == "theirs.fmu\n"
    files = lambda name: {entry.filename: entry.CRC for entry in zipfile.ZipFile(tmp_path / name).infolist()}
    assert files("ours.fmu") == files("theirs.fmu")
    module = run(environment, "python", "-m", "contact_fmu", "--version", cwd=tmp_path)
    assert module.stdout == contact_fmu("--version")


def test_pages_run(package, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    contact_fmu("new", "drop", cwd=tmp_path)
    names = {}
    for program in blocks("docs/python.md", "python"):
        exec(compile(program, "docs/python.md", "exec"), names)
    assert 0.1 <= names["height"].min() < 0.1001
    assert names["steeper"].data["surface"][0]["shape"]["plane"]["normal"] == [0.0, 1.0, 1.0]
    printed = capsys.readouterr().out
    assert "unknown key `mas`" in printed and "did you mean" in printed
    # 3 N for half a second on 1 kg; the ball touches, so that friction may act, at 0.43 s only.
    assert abs(names["pushed"]["ball.v[1]"][-1] - 1.5) < 1e-9
    assert list(names["frame"].columns) == list(names["pushed"])[1:]
    assert (tmp_path / "pushed.html").read_text() == names["pushed"].report()
    table = names["table"]
    assert len(table) == 20 and (table["error"] == "").all()
    assert (table.groupby("ball_floor.restitution")["highest"].max().diff().dropna() > 0).all()
    (program,) = blocks("python/README.md", "python")
    exec(compile(program, "python/README.md", "exec"), {})
    assert 0.1 <= float(capsys.readouterr().out) < 0.11 and (tmp_path / "drop.fmu").exists()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_of_notebooks_run(package, notebook, tmp_path, monkeypatch):
    """One after the other; a kernel executes them with CONTACT_FMU_LONG=1."""
    monkeypatch.chdir(tmp_path)
    cells = json.loads(notebook.read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells)
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), notebook.name, "exec"), names)
    result = names.get("result") or names["study"]
    if notebook.stem == "quick_start":
        assert 0.1 <= result["ball.r[3]"].min() < 0.11
        # It rolls: v = r w.
        assert abs(result["ball.v[1]"][-1] - 0.1 * result["ball.w[2]"][-1]) < 1e-9
    else:
        assert np.abs(result["distance"][result["ball_floor.mu"] == 0.0] - 4.0).max() < 1e-9


def test_results_are_those_of_the_command_line(package, fmus):
    """To the last bit, from a file, its text and a dictionary of it."""
    expected = fmus.simulated("bouncing_ball")
    path = ROOT / "models/bouncing_ball/model.toml"
    file = package.load(path)
    for model in (file, package.load(str(path)), package.load(path.read_text()), package.load(file.data)):
        result = model.simulate()
        assert list(result)[: len(expected)] == list(expected)
        for name, column in expected.items():
            assert result[name].dtype == np.float64 and np.array_equal(result[name], column), name
    flying = result["time"] < 3.4
    assert np.abs(result["ball.r[3]"] - 0.2 - ball_height(result["time"]))[flying].max() < 1e-9
    assert result.unit("ball.r[3]") == "m" and "osition" in result.description("ball.r[3]")
    assert len(result) == len(list(result)) and result["time"] is result["time"]
    with pytest.raises(KeyError, match=re.escape("did you mean ball.r[3]?")):
        result["ball.r[33]"]


def test_inputs_and_start_values(package, model, tmp_path):
    """A table as dictionary, data frame or file pushes the ball the same way."""
    import pandas

    steps = {"time": [0.0, 0.2, 0.2], "ball.f_ext[1]": np.array([0.0, 0.0, 3.0])}
    (tmp_path / "push.csv").write_text("time,ball.f_ext[1]\n0,0\n0.2,0\n0.2,3\n")
    for table in (steps, pandas.DataFrame(steps), tmp_path / "push.csv", str(tmp_path / "push.csv")):
        pushed = model.simulate(stop=0.4, step=0.1, input=table, set={"ball.mass": np.float64(2.0), "gravity[3]": -5})
        # It falls 0.9 m in 0.6 s.
        assert np.abs(pushed["ball.v[1]"] - [0.0, 0.0, 0.0, 0.15, 0.3]).max() < 1e-12
        assert np.abs(pushed["ball.v[3]"] + 5.0 * pushed["time"]).max() < 1e-12
        assert np.array_equal(pushed["ball.f_ext[1]"], [0.0, 0.0, 3.0, 3.0, 3.0])


def test_diagnostics_are_data(package, model):
    assert model.check() == [] and model.name == "drop"
    text = model.text.replace("restitution", "restituton").replace("mass = 1.0", "mass = -1.0")
    for wrong in (package.load(text), package.load(package.load(text).data)):
        first, second = sorted(wrong.check(), key=lambda found: found.message)
        lines = wrong.text.splitlines()
        for found in (first, second):
            assert lines[found.line - 1][found.column - 1 :].startswith(("restituton", "-1.0"))
        assert any("did you mean `restitution`" in found.hint for found in (first, second) if found.hint)
        assert str(first) == first.text and "^" in first.text and wrong.name is None
    assert first.file == "<dict>"
    (syntax,) = package.load("model = {\n").check()
    assert syntax.line and syntax.column
    with pytest.raises(package.ModelError):
        package.load("model = {\n").data
    nan = model.changed({"node.ball.position": [0.0, float("nan"), 0.0]})
    assert nan.check() and nan.check()[0].line


def test_bad_input_raises_and_writes_nothing(package, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = model.changed({"contact.0.restitution": 2.0})
    for use in (wrong.build, wrong.simulate, lambda: package.sweep(wrong, {}, "time")):
        with pytest.raises(package.ModelError) as caught:
            use()
        (found,) = caught.value.diagnostics
        assert found.line and found.hint is not None or found.message
        assert str(caught.value) == "error: " + str(found).removeprefix("error: ")
        copied = pickle.loads(pickle.dumps(caught.value))
        assert copied.diagnostics == caught.value.diagnostics and str(copied) == str(caught.value)
    with pytest.raises(package.ModelError, match="cannot read the model file") as caught:
        package.load("none.toml")
    assert caught.value.diagnostics[0].line is None and caught.value.diagnostics[0].file == "none.toml"
    with pytest.raises(package.ModelError, match="no library for platform `amiga`"):
        model.build(platforms=["amiga"])
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.build("none/drop.fmu")
    with pytest.raises(TypeError, match=re.escape("node[0].mass: None (<class 'NoneType'>): leave the key out")):
        package.load({"node": [{"mass": None}]})
    with pytest.raises(TypeError, match="64 bits"):
        package.load({"engine": {"max_iterations": 2**70}})
    endless = {"node": []}
    endless["node"].append(endless)
    with pytest.raises(TypeError, match="not nested that deeply"):
        package.load(endless)
    for wrong in (3, None, b"drop.toml"):
        with pytest.raises(TypeError, match="the path of a file, the text of one or a dictionary, not"):
            package.load(wrong)
    with pytest.raises(ValueError, match="fmi is 2 or 3, not -1"):
        model.build(fmi=-1)
    with pytest.raises(TypeError, match="`changes` is a dictionary"):
        model.changed([1])
    with pytest.raises(TypeError, match="a key is text"):
        model.changed({1: 1})
    for place in ("²", "-1", "7"):
        with pytest.raises(KeyError, match=f"there is no `{place}`, only ball"):
            model.changed({f"node.{place}.mass": 1.0})
    with pytest.raises(OSError, match="cannot write /dev/full"):
        model.simulate(stop=0.01).report("/dev/full")
    with pytest.raises(KeyError, match="there is no `bal`, only ball"):
        model.changed({"node.bal.mass": 1.0})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"set": {"ball.mas": 1.0}}, "did you mean `ball.mass`"),
        ({"set": {"ball.mass": "heavy"}}, "`heavy` is not a number"),
        ({"set": {"ball.v[3]": 1.0, "ball_floor.gap": 1.0}}, "it is computed by the FMU"),
        ({"stop": -1.0}, "before the start"),
        ({"step": 0.0}, "must be above 0"),
        ({"step": float("nan")}, "must be above 0"),
        ({"stop": float("inf")}, "not a finite number"),
        ({"input": {"ball.f_ext[1]": [1.0]}}, "no column `time`"),
        ({"input": {"time": [0.0, 1.0], "ball.f_ext[1]": ["1", "much"]}}, "input, row 1: `ball.f_ext[1]`: `much`"),
        ({"input": {"time": [0.0], "ball.mass": [1.0]}}, "set it with `set`"),
        ({"set": {"ball_floor.restitution": 2.0}}, "hint: run again with `log=True`"),
        ({"set": {"ball_floor.restitution": 2.0}}, "ball_floor.restitution"),
        ({"set": {"ball.mass": float("nan")}}, "cannot be NaN"),
        ({"set": {"ball.mass": 10**400}}, "cannot be inf"),
        ({"stop": 1e300, "step": 1.0}, "are too many"),
        ({"step": 1e-17}, "are too many"),
        ({"input": {"time": [0.0, float("nan")], "ball.f_ext[1]": [0.0, 1.0]}}, "input, row 1: time `nan`"),
        ({"input": {"time": [1.0, 0.0], "ball.f_ext[1]": [0.0, 1.0]}}, "sort the rows by time"),
    ],
)
def test_bad_arguments_raise(package, model, arguments, message):
    with pytest.raises(package.SimulationError, match=re.escape(message)) as caught:
        model.simulate(**arguments)
    assert caught.value.diagnostics[0].line is None and isinstance(caught.value, package.ModelError)
    assert caught.value.result is None


def test_tables_of_bad_shape_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="different lengths"):
        model.simulate(input={"time": [0.0, 1.0], "ball.f_ext[1]": [0.0]})
    (tmp_path / "wrong.csv").write_text("time,ball.f_ext[1]\n1\n")
    with pytest.raises(ValueError, match="wrong.csv: line 2"):
        model.simulate(input=tmp_path / "wrong.csv")
    with pytest.raises(TypeError, match="ball.mass: None is neither a number"):
        model.simulate(set={"ball.mass": None})
    with pytest.raises(TypeError, match="`set` is a dictionary of names and values, not list"):
        model.simulate(set=[("ball.mass", 1.0)])
    with pytest.raises(TypeError, match="time: 1.0 is not a list of values"):
        model.simulate(input={"time": 1.0})
    for wrong in (np.zeros((3, 2)), True):
        with pytest.raises(TypeError, match="`input` is columns by name or the path of a CSV file"):
            model.simulate(input=wrong)


ODD = [None, True, 0, -1, 1.5, float("nan"), float("inf"), 2**70, "", "\0", "\ud800", "a" * 10**5, "../..", b"x", [], [None], {}, {1: 2},
       {"time": [0.0]}, object(), np.zeros(2), np.float32(0.5), np.array("x"), Path("none.toml"), lambda: None]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_odd_arguments_raise_exceptions_or_work(package, model, odd, tmp_path, monkeypatch):
    """A panic of the native module is no `Exception`, and would end this test."""
    monkeypatch.chdir(tmp_path)
    result = model.simulate(stop=0.01)
    calls = [
        lambda: package.load(odd),
        lambda: package.load({"model": odd, "node": [odd]}).check(),
        lambda: package.load({odd: odd}).check(),
        lambda: package.load(model.text, folder=odd).check(),
        lambda: model.build(odd),
        lambda: model.build(platforms=odd),
        lambda: model.build(fmi=odd),
        lambda: model.simulate(stop=odd, step=0.1),
        lambda: model.simulate(stop=0.01, step=odd),
        lambda: model.simulate(stop=0.01, set=odd),
        lambda: model.simulate(stop=0.01, set={"ball.mass": odd}),
        lambda: model.simulate(stop=0.01, set={odd: 1.0}),
        lambda: model.simulate(stop=0.01, input=odd),
        lambda: model.simulate(stop=0.01, input={"time": [0.0, 1.0], "ball.f_ext[1]": odd}),
        lambda: model.simulate(stop=0.01, input={"time": [odd], "ball.f_ext[1]": [odd]}),
        lambda: model.simulate(stop=0.01, log=odd),
        lambda: model.changed(odd),
        lambda: model.changed({"node.ball.mass": odd}).check(),
        lambda: result[odd],
        lambda: result.unit(odd),
        lambda: result.report(odd),
        lambda: package.grid(odd),
        lambda: package.sweep(model, odd, "time", stop=0.01),
        lambda: package.sweep(model, [{}], odd, stop=0.01),
        lambda: package.sweep(model, [{}], "time", stop=0.01, threads=odd),
        lambda: package.sweep(odd, [{}], "time"),
    ]
    for call in calls:
        try:
            call()
        except Exception as error:
            assert str(error), "an exception says what is wrong"


def test_temporary_folder_that_cannot_be_made(model, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/proc")
    with pytest.raises(Exception, match="no temporary folder to extract to: .*\n.*hint: let the environment variable TMPDIR"):
        model.simulate(stop=0.01)


def test_what_came_before_a_failure_is_kept(package, model):
    """An input that is not finite is refused by the FMU."""
    push = {"time": [0.0, 0.5, 0.5], "ball.f_ext[1]": [0.0, 0.0, float("nan")]}
    with pytest.raises(package.SimulationError) as caught:
        model.simulate(stop=1.0, step=0.1, input=push)
    result = caught.value.result
    assert abs(result["time"][-1] - 0.4) < 1e-12 and "cannot be NaN" in result.messages[-1].text
    assert "fmi2" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).result is None


def test_notebooks_show_models_and_results(package, model):
    wrong = model.changed({"node.ball.mass": -1.0})
    assert "1 node, 1 surface, 1 contact" in model._repr_html_() and "1 node" in repr(model)
    assert "mass" in wrong._repr_html_() and "1 faults" in repr(wrong)
    hostile = package.load(model.text.replace('name = "drop"', 'name = "drop"\ndescription = "<script>alert(1)</script>"'))
    assert "<script>" not in hostile._repr_html_()
    result = model.simulate(stop=0.1)
    page = result._repr_html_()
    assert page.startswith("<iframe srcdoc=") and page.count('"') == 6 and len(page) > 0.6e6
    assert "columns" in repr(result)


def test_models_survive_pickling_and_threads(package, model):
    copied = pickle.loads(pickle.dumps(model))
    assert copied.text == model.text
    heights = {}

    def simulate(restitution):
        heights[restitution] = model.simulate(stop=1.0, set={"ball_floor.restitution": restitution})["ball.r[3]"]

    threads = [threading.Thread(target=simulate, args=(0.1 * k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for restitution, height in heights.items():
        again = copied.simulate(stop=1.0, set={"ball_floor.restitution": restitution})
        assert np.array_equal(height, again["ball.r[3]"])
    with pytest.raises(TypeError, match="to_pandas"):
        pickle.dumps(again)


def test_other_threads_go_on_during_a_simulation(package):
    """The interpreter is theirs meanwhile."""
    model = package.load(ROOT / "models/tilted_plane_friction/model.toml")
    thread = threading.Thread(target=model.simulate, kwargs={"stop": 100.0})
    times = [time.perf_counter()]
    thread.start()
    while thread.is_alive():
        time.sleep(1e-3)
        times.append(time.perf_counter())
    assert np.diff(times).max() < 0.5 * (times[-1] - times[0])


def rate_on_free_processors(package, model, points, threads):
    """Simulations in a second, and the ways of the ball, if nothing else ran on the machine.

    Linux counts for each thread how long it was ready to run and had no processor (`schedstat`). The rest of its time, in
    which it computed or was kept waiting by the other thread, is what remains on free processors.
    """
    done = {}

    def way(result):
        thread = threading.get_native_id()
        waited = 1e-9 * int(Path(f"/proc/self/task/{thread}/schedstat").read_text().split()[1])
        done[thread] = done.get(thread, (0, 0.0))[0] + 1, time.perf_counter() - start - waited
        return result["ball.r[1]"][-1]

    start = time.perf_counter()
    ways = package.sweep(model, points, way, threads=threads)["way"]
    return sum(count / seconds for count, seconds in done.values()), ways


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the kernel does not tell how long threads wait")
def test_two_threads_are_nearly_twice_as_fast(package):
    """The engine runs without the interpreter's lock. In short studies, of which the fastest counts: a thread that loses its
    processor while it has the lock keeps the other one waiting too."""
    model = package.load(ROOT / "models/tilted_plane_friction/model.toml")
    rates = {1: [], 2: []}
    for study in range(100 if LONG else 25):
        points = [{"ball_plane.mu": 1e-4 * (10 * study + k)} for k in range(10)]
        (one, ways), (two, same_ways) = (rate_on_free_processors(package, model, points, threads) for threads in (1, 2))
        assert np.array_equal(ways, same_ways)
        rates[1].append(one)
        rates[2].append(two)
    fastest = {threads: max(found) for threads, found in rates.items()}
    print(f"simulations in a second: {fastest[1]:.0f} in one thread, {fastest[2]:.0f} in two")
    assert fastest[2] / fastest[1] > 1.8


def test_sweep_measures_and_keeps_failures(package, model, tmp_path):
    told = []
    axes = {"ball_floor.restitution": [0.5, 2.0], "ball.v[1]": [1.0, 3.0]}
    measure = {"way": "ball.r[1]", "samples": lambda result: len(result["time"])}
    study = package.sweep(model, axes, measure, stop=0.4, step=0.1, progress=lambda done, all: told.append((done, all)))
    assert study.points == package.grid(axes) and sorted(told) == [(k, 4) for k in range(1, 5)]
    assert [error is None for error in study.errors] == [True, True, False, False]
    # In the air.
    assert np.abs(study["way"][:2] - [0.4, 1.2]).max() < 1e-12 and np.isnan(study["way"][2:]).all()
    assert study["samples"][0] == 5 and study["ball.v[1]"].tolist() == [1.0, 3.0, 1.0, 3.0]
    table = study.to_pandas()
    assert list(table) == ["ball_floor.restitution", "ball.v[1]", "way", "samples", "error"]
    one = package.sweep(model, [{"ball.v[1]": 1.0}], "ball.r[1]", stop=0.4, threads=1)
    assert abs(one["ball.r[1]"][0] - 0.4) < 1e-12
    with pytest.raises(KeyError, match="the study has ball.v"):
        one["none"]
    with pytest.raises(KeyError, match="no such column"):
        package.sweep(model, axes, "ball.r[4]", stop=0.4)
    for wrong, message in [
        ((model, {"ball.mass": 1.0}, "time"), "ball.mass: 1.0 is not a list of values"),
        ((model, "points", "time"), "points are a list of dictionaries"),
        ((model, [{}], 3), "neither the name of a column nor a function"),
        ((model, [{"ball.mass": None}], "time"), "ball.mass: None is neither"),
        (("drop.toml", [{}], "time"), "the first argument is a model"),
    ]:
        with pytest.raises(TypeError, match=message):
            package.sweep(*wrong)
    for threads in (0, -1, 1.5, "2"):
        with pytest.raises(ValueError, match="threads is a whole number from 1 up"):
            package.sweep(model, [{}], "time", threads=threads)
    none = package.sweep(model, [{"ball.mass": -1.0}], "ball.r[1]")
    assert np.isnan(none["ball.r[1]"]).all() and np.isnan(none.to_pandas()["ball.r[1]"][0])
    assert package.sweep(model, [], "ball.r[1]")["ball.r[1]"].size == 0
    begun = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        # The long ones do not go on.
        package.sweep(model, [{}] * 3 + [{"ball.mass": -1.0}], "ball.r[1]", stop=1e4, threads=4, progress=lambda done, all: 1 / 0)
    assert time.monotonic() - begun < 30.0
    (tmp_path / "push.csv").write_text("time,ball.f_ext[1]\n0,2\n")
    pushed = package.sweep(model, [{}], {"v": "ball.v[1]"}, stop=0.4, input=tmp_path / "push.csv", set={"ball.mass": 4.0})
    assert abs(pushed["v"][0] - 0.2) < 1e-12


LONG_RUN = """
import contact_fmu
model = contact_fmu.load({model!r})
print("begins", flush=True)
{program}
"""


@pytest.mark.parametrize("program", [
    "model.simulate(stop=1e5, step=1e-3)",
    "contact_fmu.sweep(model, [{}] * 4, 'time', stop=1e4, step=1e-3, threads=2)",
])
def test_ctrl_c_ends_simulations_and_nothing_stays(environment, model, tmp_path, program):
    """Temporary folders go away: at the end of the process, and with the model."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    surroundings = dict(os.environ, TMPDIR=str(folder))
    program = LONG_RUN.format(model=model.text, program=program)
    process = subprocess.Popen(
        [environment / "bin/python", "-c", program], env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # A command in the background of a script ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "begins\n"
    until = time.monotonic() + 30.0
    while not os.listdir(folder) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.5)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30.0)
    assert "KeyboardInterrupt" in errors and time.monotonic() - asked < 10.0
    assert os.listdir(folder) == []


def test_folder_goes_with_the_model(package, model, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    mine = package.load(model.text)
    mine.simulate(stop=0.01)
    assert len(os.listdir(tmp_path)) == 1
    child = os.fork()
    if child == 0:
        mine._native.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert len(os.listdir(tmp_path)) == 1
    del mine
    assert os.listdir(tmp_path) == []


def test_contents_of_the_wheel(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    inside = {name.removeprefix("contact_fmu/") for name in names if name.startswith("contact_fmu/")}
    sources = {path.name for path in (ROOT / "python/contact_fmu").iterdir() if path.suffix in (".py", ".pyi", ".typed")}
    assert inside == sources | {"py.typed", "_native.abi3.so"}
    licenses = {Path(name).name for name in names if "/licenses/" in name}
    assert {"LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "third-party.txt"} <= licenses


# What follows takes minutes, or packages from an index.


@long_only
def test_clean_environment(wheel, tmp_path):
    """As a user does it: what the wheel depends on comes from the index."""
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
    (tmp_path / "work").mkdir()
    check_first_steps(folder, tmp_path / "work")


@long_only
def test_types_are_right(environment, tools, tmp_path):
    """By mypy --strict: the package, programs that use it; and the stub is what the module has."""
    (packages,) = environment.glob("lib/python*/site-packages")
    surroundings = dict(os.environ, MYPYPATH=str(packages), PYTHONPATH=str(packages))
    options = [tools / "mypy", "--strict", "--python-version", "3.10", "--cache-dir", tmp_path / "cache"]
    program = tmp_path / "program.py"
    program.write_text("\n".join(blocks("README.md", "python")[:1] + blocks("docs/python.md", "python")))
    for target in (["--package", "contact_fmu"], [program]):
        done = subprocess.run([*options, *target], env=surroundings, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
    done = subprocess.run([tools / "stubtest", "contact_fmu._native"], env=surroundings, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    program.write_text('import contact_fmu\ncontact_fmu.load("a.toml").simulate(stop="long")\n')
    done = subprocess.run([*options, program], env=surroundings, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "arg-type" in done.stdout


@long_only
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_in_a_kernel(environment, tools, notebook, tmp_path):
    """By nbclient; the page of the quick start shows curves and the motion in 3D, looked at in chromium."""
    (packages,) = environment.glob("lib/python*/site-packages")
    surroundings = dict(os.environ, PYTHONPATH=str(packages), HOME=str(tmp_path))
    shutil.copy(notebook, tmp_path)
    command = [tools / "jupyter-nbconvert", "--to", "html", "--execute", notebook.name]
    subprocess.run(command, check=True, env=surroundings, cwd=tmp_path)
    page = (tmp_path / notebook.name).with_suffix(".html")
    if notebook.stem != "quick_start":
        assert "Traceback" not in page.read_text()
        return
    from playwright.sync_api import sync_playwright
    from test_report_page import CHROMIUM, launch

    if CHROMIUM is None:
        pytest.skip("no chromium: the report in the notebook is not looked at (apt install chromium)")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        tab = browser.new_page(viewport={"width": 1280, "height": 3000})
        faults = []
        tab.on("pageerror", lambda error: faults.append(str(error)))
        # Its scripts from the network are not needed.
        tab.route("http*://**", lambda route: route.abort())
        tab.goto(page.as_uri())
        (report,) = [frame for frame in tab.frames if frame.parent_frame is not None]
        until = time.monotonic() + 60.0
        while not report.evaluate("report.ready || report.error !== null"):
            assert time.monotonic() < until
            tab.wait_for_timeout(50)
        assert report.evaluate("String(report.error)") == "null"
        curves = report.evaluate("document.querySelectorAll('.uplot canvas').length")
        canvases = report.evaluate("[...document.querySelectorAll('canvas')].filter(c => c.getContext('webgl2')).length")
        tab.screenshot(path=ROOT / "target/report-pages/notebook.png", full_page=True)
        browser.close()
    assert curves >= 1 and canvases >= 1
    assert not [fault for fault in faults if "report" in fault.lower()]


@long_only
def test_wheel_is_as_indexes_want_it(wheel, tools):
    subprocess.run([tools / "twine", "check", "--strict", wheel], check=True)
    done = subprocess.run([tools / "abi3audit", "--strict", wheel], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "cp39-abi3" in wheel.name
