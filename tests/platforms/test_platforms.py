"""The libraries of `scripts/all-platforms`: what they need of a system, and the same bits in every run.

Run by `scripts/all-platforms --check`, which sets RUNTIMES (the folder of libraries), CONTACT_FMU (a builder that
embeds them), MACHINE_PATHS (folders of the build machine, one a line) and QUICK (true without optimisation).
"""

import hashlib
import os
import re
import shutil
import struct
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import lief
import pytest
from fmpy import extract, read_model_description
from fmpy.validation import validate_fmu

ROOT = Path(__file__).resolve().parents[2]
RUNTIMES = Path(os.environ["RUNTIMES"])
BUILDER = os.environ["CONTACT_FMU"]
EXTENSIONS = {"linux64": "so", "aarch64-linux": "so", "win64": "dll", "darwin64": "dylib"}
BUILT = [platform for platform in EXTENSIONS if (RUNTIMES / platform).is_dir()]
FLAGS = "-std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror".split()

# Model, communication step, steps.
RUNS = [
    ("bouncing_ball", 1e-2, 500),
    ("coupled_ball", 1e-3, 2000),
    ("wheel", 1e-2, 300),
    ("friction_pendulum", 1e-2, 200),
    ("slider_crank", 1e-3, 40),
    ("chain", 1e-3, 50),
    ("oscillator", 1e-3, 500),
    ("tilted_plane_friction", 1e-2, 500),
    ("bouncing_ball_compliant", 1e-3, 1000),
]


# Versions of FMI, each with its library.
both_versions = pytest.mark.parametrize("version", ["fmi2", "fmi3"])


def library(platform, version="fmi2"):
    return RUNTIMES / platform / f"contact_fmu_{version}.{EXTENSIONS[platform]}"


@cache
def parsed(platform, version="fmi2"):
    """The library, parsed once and kept, since its parts do not outlive it; for macOS a list."""
    path = str(library(platform, version))
    return lief.MachO.parse(path) if platform == "darwin64" else lief.parse(path)


def of_platform(*platforms):
    """Parameters of a test on these platforms, as far as they were built."""
    built = [platform for platform in platforms if platform in BUILT]
    return pytest.mark.parametrize("platform", built)


def fmi_functions(version):
    """Those that the library for this machine exports, tested against the standard elsewhere."""
    names = {symbol.name for symbol in parsed("linux64", version).exported_symbols}
    assert {f"{version}FreeInstance", f"{version}DoStep"} <= names
    return names


@both_versions
@of_platform("linux64", "aarch64-linux")
def test_linux_needs_glibc_2_17_and_nothing_else(platform, version):
    binary = parsed(platform, version)
    allowed = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
    loader = {"linux64": "ld-linux-x86-64.so.2", "aarch64-linux": "ld-linux-aarch64.so.1"}[platform]
    assert set(binary.libraries) <= allowed | {loader}
    versions = {
        tuple(map(int, auxiliary.name.removeprefix("GLIBC_").split(".")))
        for needed in binary.symbols_version_requirement
        for auxiliary in needed.get_auxiliary_symbols()
    }
    assert versions and max(versions) <= (2, 17)
    # What has no version is newer; the library runs without it.
    for symbol in binary.imported_symbols:
        if not (symbol.has_version and symbol.symbol_version.has_auxiliary_version):
            assert symbol.binding == lief.ELF.Symbol.BINDING.WEAK, symbol.name


@both_versions
@of_platform("win64")
def test_windows_needs_system_libraries_only(platform, version):
    binary = parsed(platform, version)
    names = {entry.name.lower() for entry in binary.imports}
    assert names <= {"kernel32.dll", "advapi32.dll", "msvcrt.dll", "ntdll.dll", "userenv.dll", "ws2_32.dll"}
    assert binary.header.time_date_stamps == 0
    assert {entry.name for entry in binary.get_export().entries} == fmi_functions(version)


@both_versions
@of_platform("linux64", "aarch64-linux")
def test_linux_exports_the_fmi_functions_only(platform, version):
    binary = parsed(platform, version)
    names = {symbol.name for symbol in binary.exported_symbols}
    assert all(name.startswith(version) for name in names), names
    assert names == fmi_functions(version)


@both_versions
@of_platform("darwin64")
def test_macos_library_is_universal_and_runs_on_old_systems(platform, version):
    oldest = {"X86_64": (10, 13, 0), "ARM64": (11, 0, 0)}
    binaries = {binary.header.cpu_type.name: binary for binary in parsed(platform, version)}
    assert set(binaries) == set(oldest)
    for name, binary in binaries.items():
        assert binary.header.file_type.name == "DYLIB"
        commands = [command for command in binary.commands if command.command.name == "ID_DYLIB"]
        assert [command.name for command in commands] == [f"@rpath/contact_fmu_{version}.dylib"]
        needed = [command.name for command in binary.commands if command.command.name == "LOAD_DYLIB"]
        assert needed == ["/usr/lib/libSystem.B.dylib"]
        least = binary.build_version.minos if binary.has_build_version else binary.version_min.version
        assert tuple(least) == oldest[name]
        assert not binary.has_rpath
        # Zig hides nothing that Rust keeps; macOS looks names up by library, so the few others clash with nothing.
        names = {export.symbol.name.removeprefix("_") for export in binary.dyld_info.exports}
        assert {name for name in names if name.startswith(version)} == fmi_functions(version)
        assert len(names - fmi_functions(version)) < 10, names - fmi_functions(version)


@both_versions
@of_platform("darwin64")
def test_macos_code_signature_holds_the_hashes_of_the_code(platform, version):
    """An ad-hoc signature: the arm64 system loads nothing unsigned. Format as in Apple's cs_blobs.h."""
    checked = []
    for binary in parsed(platform, version):
        name = binary.header.cpu_type.name
        content = library(platform, version).read_bytes()[binary.fat_offset :][: binary.original_size]
        if not binary.has_code_signature:
            assert name == "X86_64"
            continue
        signature = content[binary.code_signature.data_offset :]
        magic, _, count = struct.unpack_from(">3I", signature)
        assert magic == 0xFADE0CC0
        blobs = dict(struct.unpack_from(">2I", signature, 12 + 8 * index) for index in range(count))
        directory = signature[blobs[0] :]
        magic, _, _, flags, hashes, _, _, slots, limit = struct.unpack_from(">9I", directory)
        size, kind, _, page = struct.unpack_from(">4B", directory, 36)
        adhoc, sha256 = 0x2, 2
        assert (magic, flags & adhoc, size, kind) == (0xFADE0C02, adhoc, 32, sha256)
        assert limit == binary.code_signature.data_offset
        page = 1 << page
        assert slots == -(-limit // page)
        for slot in range(slots):
            found = hashlib.sha256(content[slot * page : min((slot + 1) * page, limit)]).digest()
            assert found == directory[hashes + size * slot :][:size], f"{name}: page {slot}"
        checked.append(name)
    assert "ARM64" in checked


@both_versions
def test_no_library_holds_a_path_of_the_build_machine(version):
    paths = [path.encode() for path in os.environ["MACHINE_PATHS"].splitlines()]
    assert str(ROOT).encode() in paths
    for platform in BUILT:
        content = library(platform, version).read_bytes()
        for path in [*paths, b"/.cargo/", b"/usr/src/", b"/home/", b"\\Users\\"]:
            at = content.find(path)
            assert at < 0, f"{platform}: {content[at - 40 : at + 80]}"


@both_versions
@pytest.mark.parametrize("processor", ["x86-64", "aarch64"])
def test_no_code_fuses_multiplication_and_addition(processor, version):
    """Where a processor fuses them, another rounds twice."""
    fused = {"x86-64": {"vfmadd", "vfmsub", "vfnmadd", "vfnmsub"}, "aarch64": {"fmadd", "fmsub", "fmla", "fmls"}}
    platforms = {"x86-64": ["linux64", "win64"], "aarch64": ["aarch64-linux"]}[processor]
    disassembler = {"x86-64": "objdump", "aarch64": "aarch64-linux-gnu-objdump"}[processor]
    for platform in filter(BUILT.__contains__, platforms):
        listing = subprocess.run(
            [disassembler, "--disassemble", "--no-show-raw-insn", library(platform, version)],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        assert listing.count("\n") > 10_000
        found = Counter(
            name
            for line in listing.splitlines()
            for name in fused[processor]
            if f"\t{name}" in line
        )
        assert not found, f"{platform}: {found}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("platforms")


@pytest.fixture(scope="module")
def programs(folder):
    """The test program for every platform that can run here."""
    source = ROOT / "tests" / "platforms" / "step.c"
    compilers = {
        "linux64": (["gcc"], ["-ldl"]),
        "aarch64-linux": (["aarch64-linux-gnu-gcc"], ["-ldl"]),
        "win64": (["x86_64-w64-mingw32-gcc"], []),
    }
    built = {}
    for platform in filter(compilers.__contains__, BUILT):
        compiler, libraries = compilers[platform]
        built[platform] = folder / f"step-{platform}.exe"
        subprocess.run([*compiler, *FLAGS, source, "-o", built[platform], *libraries], check=True)
    return built


@pytest.fixture(scope="module")
def fmus(folder):
    """FMUs with all platforms, unpacked."""
    found = {}

    def fmu(model):
        if model not in found:
            path = folder / f"{model}.fmu"
            command = [BUILDER, "build", ROOT / "models" / model / "model.toml", "-o", path]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            found[model] = path, Path(extract(str(path), folder / model))
        return found[model]

    return fmu


def run(platform, program, unpacked, step, steps, folder):
    """The bits of all real outputs after every step."""
    description = read_model_description(unpacked)
    references = {variable.name: variable.valueReference for variable in description.modelVariables}
    outputs = [
        variable.valueReference
        for variable in description.modelVariables
        if variable.type == "Real" and variable.causality == "output"
    ]
    ball = []
    if "ball.r[1]" in references and "input" in {
        variable.causality for variable in description.modelVariables if variable.name == "ball.r[1]"
    }:
        for name in "rvf":
            first = references[f"ball.{name}[1]"]
            assert [references[f"ball.{name}[{axis}]"] for axis in (2, 3)] == [first + 1, first + 2]
            ball.append(first)
        ball.insert(0, "--ball")
    name = description.coSimulation.modelIdentifier
    runner = {
        "linux64": [],
        "aarch64-linux": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
        "win64": [shutil.which("wine64") or "/usr/lib/wine/wine64"],
    }[platform]
    binary = f"binaries/{platform}/{name}.{EXTENSIONS[platform]}"
    drive = "/Z:" if platform == "win64" else ""
    arguments = [binary, description.guid, f"file://{drive}{unpacked}/resources", step, steps, *ball, *outputs]
    environment = dict(os.environ, WINEPREFIX=str(folder / "wine"), WINEDEBUG="-all", DISPLAY="")
    done = subprocess.run(
        [*runner, str(program), *map(str, arguments)],
        cwd=unpacked, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len(rows) == steps and all(len(row) == len(outputs) for row in rows)
    return rows


@pytest.mark.parametrize("model, step, steps", RUNS, ids=[run[0] for run in RUNS])
def test_every_platform_gives_the_same_bits(model, step, steps, programs, fmus, folder):
    _, unpacked = fmus(model)
    expected = run("linux64", programs["linux64"], unpacked, step, steps, folder)
    assert expected[0] != expected[-1], "something moves"
    for platform in programs:
        found = run(platform, programs[platform], unpacked, step, steps, folder)
        wrong = [at for at in range(steps) if found[at] != expected[at]]
        assert not wrong, f"{platform}: from step {wrong[0] + 1} of {steps} on"


def test_an_fmu_with_all_platforms_is_valid(fmus):
    path, unpacked = fmus("bouncing_ball")
    assert validate_fmu(str(path)) == []
    for platform in BUILT:
        packed = unpacked / "binaries" / platform / f"bouncing_ball.{EXTENSIONS[platform]}"
        assert packed.read_bytes() == library(platform).read_bytes()
    text = subprocess.run([BUILDER, "inspect", path], check=True, capture_output=True, text=True).stdout
    assert f"platforms     {', '.join(sorted(BUILT))}\n" in text
    print(f"{path.stat().st_size} bytes with {', '.join(BUILT)}")


def test_fmus_of_fmi3_are_less_than_a_third_larger(fmus, folder):
    second, _ = fmus("bouncing_ball")
    third = folder / "bouncing_ball3.fmu"
    model = ROOT / "models" / "bouncing_ball" / "model.toml"
    subprocess.run([BUILDER, "build", model, "--fmi", "3", "-o", third], check=True)
    assert validate_fmu(str(third)) == []
    sizes = [path.stat().st_size for path in (second, third)]
    assert sizes[1] < 4 / 3 * sizes[0], sizes
    print(f"FMI 2.0: {sizes[0]} bytes, FMI 3.0: {sizes[1]} bytes with {', '.join(BUILT)}")
    for platform in BUILT:
        print(platform, *(library(platform, version).stat().st_size for version in ("fmi2", "fmi3")))


def test_chosen_platforms_are_packed(folder):
    path = folder / "chosen.fmu"
    chosen = BUILT[:2]
    options = [word for platform in chosen for word in ("--platform", platform)]
    model = ROOT / "models" / "bouncing_ball" / "model.toml"
    subprocess.run([BUILDER, "build", model, "-o", path, *options], check=True)
    unpacked = Path(extract(str(path)))
    assert sorted(found.name for found in (unpacked / "binaries").iterdir()) == sorted(chosen)
    shutil.rmtree(unpacked)


@of_platform(*EXTENSIONS)
def test_fmi3_is_less_than_a_third_larger(folder, platform):
    model = ROOT / "models" / "bouncing_ball" / "model.toml"
    sizes = []
    for version in ("2", "3"):
        path = folder / f"{platform}{version}.fmu"
        subprocess.run([BUILDER, "build", model, "-o", path, "--fmi", version, "--platform", platform], check=True)
        sizes.append(path.stat().st_size)
    assert 3 * sizes[1] < 4 * sizes[0], sizes


@pytest.mark.skipif(os.environ.get("QUICK") == "true", reason="the page is about optimised libraries")
@pytest.mark.parametrize("platforms, words", [
    (list(EXTENSIONS), r"all platforms has (\S+) MB for FMI 2.0 and (\S+) MB"),
    (["linux64"], r"x86_64, alone has (\S+) and (\S+) MB"),
])
def test_sizes_are_those_of_the_page(folder, platforms, words):
    if not set(platforms) <= set(BUILT):
        pytest.skip(f"{', '.join(BUILT)} were built only")
    written = re.search(words, (ROOT / "docs/platforms.md").read_text())
    for version, size in zip("23", written.groups()):
        path = folder / f"page{version}.fmu"
        options = [word for platform in platforms for word in ("--platform", platform)]
        model = ROOT / "models" / "bouncing_ball" / "model.toml"
        subprocess.run([BUILDER, "build", model, "-o", path, "--fmi", version, *options], check=True)
        assert abs(path.stat().st_size / (1e6 * float(size)) - 1) < 0.1, (version, path.stat().st_size, size)
