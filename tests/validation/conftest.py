"""FMUs of all models, built once by the release builder, and their runs by `contact-fmu simulate`."""

import csv
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fmpy import extract, read_model_description

# Cargo looks at everything in `models`, where some programs are that tests import.
sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parents[2]
BUILDER = Path(os.environ.get("CONTACT_FMU", ROOT / "target" / "release" / "contact-fmu"))
# What takes minutes or hours.
LONG = bool(os.environ.get("CONTACT_FMU_LONG"))
long_only = pytest.mark.skipif(not LONG, reason="takes long: CONTACT_FMU_LONG=1")
MODELS = sorted(folder.parent.name for folder in ROOT.glob("models/*/model.toml"))


# Where tests write what they ran and what they skipped, for the end of the test command.
RECORD = Path(os.environ.get("CONTACT_FMU_RECORD", ROOT / "target/record"))


def record(file, line):
    RECORD.mkdir(parents=True, exist_ok=True)
    with open(RECORD / file, "a") as lines:
        lines.write(f"{line}\n")


def ran(command):
    """Tells that a command of the documentation has been run and has succeeded."""
    record("ran.txt", command)


def contact_fmu(*arguments, **options):
    """Runs the command line and returns what it wrote to stdout."""
    command = [str(BUILDER), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def refused(*arguments, **options):
    """Runs the command line on what is at fault, and returns what it wrote to stderr."""
    command = [str(BUILDER), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 1, f"{command}: {done.returncode}, {done.stderr}"
    return done.stderr


def read_csv(path):
    """Columns by name."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, np.array(rows, dtype=float).T))


class Fmus:
    """Builds each FMU and its simulation once."""

    def __init__(self, folder):
        self.folder = folder
        self.unpacked = {}

    def fmu(self, model):
        path = self.folder / f"{model}.fmu"
        if not path.exists():
            contact_fmu("build", ROOT / "models" / model / "model.toml", "-o", path)
        return str(path)

    def simulated(self, model):
        path = self.folder / f"{model}.csv"
        if not path.exists():
            contact_fmu("simulate", self.fmu(model), "-o", path)
        return read_csv(path)

    def of_text(self, text):
        """FMU of a model given by its text, unpacked: its description and folder."""
        if text not in self.unpacked:
            source = self.folder / f"text_{len(self.unpacked)}.toml"
            source.write_text(text)
            path = source.with_suffix(".fmu")
            contact_fmu("build", source, "-o", path)
            self.unpacked[text] = read_model_description(path), extract(path, source.with_suffix(""))
        return self.unpacked[text]

    def variant(self, model, name, replace):
        """FMU of a model whose text is changed by (old, new) pairs."""
        text = (ROOT / "models" / model / "model.toml").read_text()
        for old, new in replace:
            assert old in text
            text = text.replace(old, new)
        source = self.folder / f"{name}.toml"
        source.write_text(text)
        path = self.folder / f"{name}.fmu"
        contact_fmu("build", source, "-o", path)
        return str(path)


# Cases that fail today. A line is: case | reached | wanted | why. Rust tests read their lines in tests/common.
KNOWN_FAILURES = {
    line.split(" | ")[0]: line
    for line in (ROOT / "tests/known_failures.txt").read_text().splitlines()
    if line and not line.startswith("#")
}


def case_of(nodeid):
    return nodeid.rpartition("/")[2]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A case of the list must fail, and any other must not."""
    report = yield
    case = case_of(item.nodeid)
    if case in KNOWN_FAILURES and (report.when == "call" or report.failed):
        report.known_failure = report.failed
        if report.failed:
            report.outcome = "passed"
        elif report.passed:
            report.outcome = "failed"
            report.longrepr = f"{case} passes: delete its line in tests/known_failures.txt"
    return report


def pytest_report_teststatus(report):
    if getattr(report, "known_failure", False):
        return "known failures", "k", "KNOWN FAILURE"
    return None


def is_whole(config):
    """Whether all tests of the folder are run."""
    chosen = config.option.keyword or config.option.markexpr or config.option.lf
    return not chosen and [Path(argument).resolve() for argument in config.args] == [ROOT / "tests/validation"]


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput") and "CONTACT_FMU_RECORD" not in os.environ:
        shutil.rmtree(RECORD, ignore_errors=True)


def not_run():
    """Commands of the documentation that nothing has run, and how many were left out."""
    from test_commands import ONLY_LONG, documented

    lines = lambda file: set(file.read_text().splitlines()) if file.exists() else set()
    commands, without_tool = lines(RECORD / "ran.txt"), lines(RECORD / "without_tool.txt")
    left_out = without_tool | (set() if LONG else ONLY_LONG)
    return documented() - commands - left_out, len(left_out)


def pytest_sessionfinish(session, exitstatus):
    """In the test command every documented command counts, as far as it was run."""
    if hasattr(session.config, "workerinput"):
        return
    for report in session.config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if "CONTACT_FMU_LONG" not in reason:
            record("skipped.txt", reason)
    if is_whole(session.config) and "CONTACT_FMU_RECORD" in os.environ and not_run()[0] and exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter):
    known = [case for case in KNOWN_FAILURES if ".py::" in case]
    seen = {case_of(report.nodeid) for report in terminalreporter.stats.get("known failures", [])}
    terminalreporter.write_line(f"{len(seen)} of {len(known)} cases in tests/known_failures.txt were run and fail")
    if is_whole(terminalreporter.config):
        missing, left_out = not_run()
        terminalreporter.write_line(
            f"documented commands that nothing has run: {len(missing)} {sorted(missing) or ''}; left out, because they take"
            f" long (CONTACT_FMU_LONG=1) or need a tool that is missing: {left_out}")


@pytest.fixture(scope="session")
def fmus(tmp_path_factory):
    return Fmus(tmp_path_factory.mktemp("fmus"))


@pytest.fixture(params=MODELS)
def model(request):
    return request.param


@pytest.fixture(scope="session")
def tools():
    """Programs that look at wheels, types, notebooks and model files, in an environment of their own."""
    folder = ROOT / "target/tools/python"
    requirements = ROOT / "tests/release/requirements.txt"
    folder.parent.mkdir(parents=True, exist_ok=True)
    # One worker sets it up.
    with (folder.parent / "python.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        set_up(folder, requirements)
    return folder / "bin"


def set_up(folder, requirements):
    """A virtual environment with what a file of requirements names, unless it is there."""
    if not (folder / "installed.txt").exists() or (folder / "installed.txt").read_text() != requirements.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements]
        subprocess.run(pip, check=True)
        shutil.copy(requirements, folder / "installed.txt")
