"""FMUs of all models, built once by the release builder, and their runs by `contact-fmu simulate`."""

import csv
import os
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
MODELS = sorted(folder.parent.name for folder in ROOT.glob("models/*/model.toml"))


def contact_fmu(*arguments, **options):
    """Runs the command line and returns what it wrote to stdout."""
    command = [str(BUILDER), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


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


@pytest.fixture(scope="session")
def fmus(tmp_path_factory):
    return Fmus(tmp_path_factory.mktemp("fmus"))


@pytest.fixture(params=MODELS)
def model(request):
    return request.param
