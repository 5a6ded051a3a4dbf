"""FMUs of another tool, compiled from `tests/fixtures`."""

import subprocess
import zipfile

from conftest import ROOT


def other_fmu(fixture, source, path, identifier=None, edit=lambda xml: xml, defines=()):
    """Makes the FMU of a fixture at `path`, with its description changed by `edit` and `defines` for the compiler."""
    folder = ROOT / "tests/fixtures" / fixture
    identifier = identifier or source
    library = path.with_suffix(".so")
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", *(f"-D{define}" for define in defines)]
    subprocess.run(["cc", *flags, "-o", library, folder / f"{source}.c", "-lm"], check=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", edit((folder / "modelDescription.xml").read_text()))
        archive.write(library, f"binaries/linux64/{identifier}.so")
    return path
