"""Commands that pages name in their text, and those that take long: each has a test.

Most run with CONTACT_FMU_LONG=1 only, since they compile the project in other ways, install peers or measure.
"""

import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from conftest import ROOT, contact_fmu, long_only, ran, record
from test_readme import blocks, run_shell

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("models/*/README.md"))]
# Tools from outside that the commands need, each compiled once.
TOOLS = ROOT / "target/tools"

# Names of tools, not commands. So are commands of ours without arguments, or with places for them.
NAMES = {"cargo fuzz", "cargo-web", "cargo-zigbuild"}
OUR_NAMES = re.compile(r"contact-fmu [a-z]+( (--[a-z]+ )?[A-Z]+)*")
# Commands that something else runs, which tells so: the test command itself, and tests of their own.
RUN_ELSEWHERE = {
    "CONTACT_FMU_LONG=1 scripts/test",
    "cargo test --release -p robustness --test memory",
    "cargo test --release -p fmu-template --test instances",
    "scripts/sweep.py",
}
FEW_CASES = {
    "cargo run --release -p robustness -- long-run 100000000",
    "cargo run --release -p robustness -- instances 10000",
    "cargo run --release -p robustness -- restores 100000",
    "valgrind --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=9 target/release/robustness run calls 1000 --limit 600",
}
# In a folder with the models and an FMU, and for how long where that is long.
QUICK = {
    "contact-fmu inspect drop.fmu": "",
    "contact-fmu new --help": "",
    "contact-fmu new wall --like double_impact": "",
    "contact-fmu simulate models/domino_row/model.toml --report dominoes.html": " --stop 0.05",
}
# What is run of a command, where it is not the command itself.
RUN_LONG = {
    "benches/large_model": None,
    "benches/peers/ball_pit": None,
    "benches/peers/beside/run": None,
    "benches/peers/siconos/models": None,
    "benches/peers/siconos/run": "benches/peers/siconos/run --rounds 1 --seconds 0.01 tests/data/problems/*_n4_*.txt",
    "cargo bench --bench do_step": None,
    "cargo deny --offline --workspace check licenses bans sources": None,
    # The advisories of `cargo deny --workspace check` come from the network.
    "cargo deny --workspace check": "cargo deny --offline --workspace check licenses bans sources",
    "cargo install --locked --path .": "cargo install --locked --path . --root target/tools",
    "cargo install cargo-fuzz": "cargo fuzz --version",
    "cargo run --release --example compliance_figures": None,
    "cargo run --release --example coupling_figures": None,
    "cargo run --release --example wheel_report": None,
    "cargo run -- build": "cargo run -- build models/bouncing_ball/model.toml -o target/tmp/debug.fmu",
    "cargo test -p robustness --test trajectories": None,
    "python models/jansen_walker/walker.py slow": None,
    "scripts/all-platforms linux64 win64": None,
    "scripts/release": "scripts/release --check",
}


# What is run with CONTACT_FMU_LONG=1 only.
ONLY_LONG = RUN_LONG.keys() | {"CONTACT_FMU_LONG=1 scripts/test"}


def commands_in_text():
    pattern = re.compile(r"`((?:[A-Z_]+=\S+ )*(?:cargo|scripts/|benches/|valgrind |python |pytest |contact-fmu )[^`]*)`")
    block = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
    return {command for page in PAGES for command in pattern.findall(block.sub("", page.read_text()))}


def documented():
    """Commands of the pages that a reader can run."""
    return {command for command in commands_in_text() if not OUR_NAMES.fullmatch(command)} - NAMES


def test_every_command_in_text_has_a_test():
    """That it has run is checked at the end of the session, by what the tests have told: conftest.py."""
    assert documented() == RUN_ELSEWHERE | FEW_CASES | QUICK.keys() | RUN_LONG.keys()


@pytest.mark.parametrize("command", sorted(QUICK))
def test_command_of_ours(command, tmp_path):
    shutil.copytree(ROOT / "models", tmp_path / "models")
    contact_fmu("new", "drop", cwd=tmp_path)
    contact_fmu("build", "drop.toml", cwd=tmp_path)
    run_shell(command + QUICK[command], tmp_path)
    ran(command)
    for written in re.findall(r"--report (\S+)|new (\w+) ", command):
        assert any((tmp_path / (name + end)).exists() for name in written if name for end in ("", ".toml"))


@pytest.mark.parametrize("command", sorted(FEW_CASES))
def test_command_with_few_cases(command):
    few = re.sub(r"\b\d{4,}\b", "2", command)
    if command.startswith("valgrind") and not shutil.which("valgrind"):
        record("without_tool.txt", command)
        pytest.skip("valgrind is not installed")
    run_shell(few.replace("cargo run --release -p robustness --", "target/release/robustness"), ROOT)
    ran(command)


def run(script):
    """In the top folder, as a reader would, with what the tests have installed on the path."""
    # What the test command sets for its own crates is not for others.
    ours = ("CARGO_", "RUST", "CONTACT_FMU_LONG", "BINDGEN_", "LIBCLANG_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours) or name == "CARGO_HOME"}
    environment |= {name: os.environ[name] for name in ("RUSTUP_HOME", "RUSTUP_TOOLCHAIN") if name in os.environ}
    environment["PATH"] = f"{TOOLS / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(["bash", "-eu", "-c", script], check=True, cwd=ROOT, env=environment)


def install(tool):
    if not (TOOLS / "bin" / tool).exists():
        run(f"cargo install --quiet --locked --root {TOOLS} --target-dir target/tools/target {tool}")


@long_only
@pytest.mark.xdist_group("long commands")
@pytest.mark.parametrize("command", sorted(RUN_LONG))
def test_command(command):
    script = RUN_LONG[command] or command
    for tool in ("cargo-deny", "cargo-fuzz"):
        if script.startswith(tool.replace("-", " ")):
            install(tool)
    (ROOT / "target/tmp").mkdir(parents=True, exist_ok=True)
    before = changes()
    run(script)
    assert changes() == before, "the command draws the figures and writes the tables that are there"
    ran(command)


def changes():
    """What differs from the last commit; nothing is known where there is none."""
    return subprocess.run(["git", "diff", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout


@long_only
@pytest.mark.xdist_group("long commands")
def test_sanitizers():
    """The block of the page: a fuzzing target for seconds, the tests of threads as they are."""
    (sanitizers,) = [script for script in blocks("docs/robustness.md", "sh") if "cargo fuzz" in script]
    install("cargo-fuzz")
    assert "-max_total_time=600" in sanitizers
    run(sanitizers.replace("-max_total_time=600", "-max_total_time=20"))


@long_only
@pytest.mark.xdist_group("long commands")
def test_libraries_for_all_platforms():
    build, check = blocks("docs/platforms.md", "sh")
    fmu = ROOT / "target/tmp/all_platforms.fmu"
    run(build)
    run(f"target/release/contact-fmu build models/bouncing_ball/model.toml -o {fmu}")
    run(check)
    text = (ROOT / "docs/platforms.md").read_text()
    told = re.search(r"has (\S+) MB for FMI 2.0 and (\S+) MB for FMI 3.0, of which compression in the FMU leaves (\S+) and (\S+) MB", text)
    libraries = [ROOT / f"target/platforms/runtimes/linux64/contact_fmu_fmi{version}.so" for version in (2, 3)]
    sizes = [library.stat().st_size for library in libraries] + [len(zlib.compress(library.read_bytes(), 9)) for library in libraries]
    assert all(abs(size / 1e6 / float(page) - 1) < 0.1 for size, page in zip(sizes, told.groups()))
    # Of four platforms and two versions of FMI.
    assert len(list(ROOT.glob("target/platforms/runtimes/*/*"))) == 8
    print(f"{fmu.stat().st_size} bytes with all platforms")
    # The builder as the other tests know it.
    run("cargo build --release --locked")
