"""The JSON Schema accepts what the builder accepts."""

import json
import subprocess
import textwrap
import tomllib

import jsonschema
import pytest
from conftest import MODELS, ROOT, contact_fmu, long_only


@pytest.fixture(scope="module")
def schema():
    return json.loads(contact_fmu("schema"))


def test_schema_is_itself_valid(schema):
    jsonschema.Draft202012Validator.check_schema(schema)


def test_models_are_accepted(schema, model):
    document = tomllib.loads((ROOT / "models" / model / "model.toml").read_text())
    jsonschema.validate(document, schema)


def test_unknown_keys_are_refused(schema):
    document = tomllib.loads((ROOT / "models/bouncing_ball/model.toml").read_text())
    document["node"][0]["masss"] = 1.0
    with pytest.raises(jsonschema.ValidationError, match="masss"):
        jsonschema.validate(document, schema)


def taplo(tools, folder, *files):
    """What Taplo, which is behind most editors, finds wrong."""
    done = subprocess.run([tools / "taplo", "check", *files], cwd=folder, capture_output=True, text=True)
    assert (done.returncode == 0) == ("error" not in done.stderr), done.stderr
    return done.stderr


@long_only
def test_taplo_follows_the_first_line(tools, tmp_path):
    """Every model passes, and what the schema excludes is told where it stands."""
    contact_fmu("new", "drop", cwd=tmp_path)
    text = (tmp_path / "drop.toml").read_text()
    for model in MODELS:
        source = (ROOT / "models" / model / "model.toml").read_text()
        (tmp_path / f"{model}.toml").write_text(text.splitlines()[0] + "\n" + source)
    told = taplo(tools, tmp_path, "drop.toml", *(f"{model}.toml" for model in MODELS))
    assert "error" not in told and f"total={len(MODELS) + 1}" in told
    for right, wrong, message in [
        ("mass = 1.0", "masss = 1.0", "'masss' was unexpected"),
        ("mass = 1.0", "mass = -1.0", "less than or equal to the minimum"),
        ("mass = 1.0", 'mass = "heavy"', 'not of type "number"'),
        ('scheme = "moreau-jean"', 'scheme = "euler"', "not valid"),
        ("shape.sphere.radius", "shape.ball.radius", "not valid"),
    ]:
        assert right in text
        (tmp_path / "wrong.toml").write_text(text.replace(right, wrong))
        told = taplo(tools, tmp_path, "wrong.toml")
        line = next(number for number, line in enumerate(text.splitlines(), 1) if right in line)
        assert message in told and f"wrong.toml:{line}:" in told, told


@long_only
def test_taplo_knows_files_by_their_name(tools, tmp_path):
    """By the rule that the help of `schema` gives."""
    rule = contact_fmu("schema", "--help").split("called *.contact.toml:\n")[1]
    (tmp_path / ".taplo.toml").write_text(textwrap.dedent(rule))
    (tmp_path / "contact-fmu.schema.json").write_text(contact_fmu("schema"))
    contact_fmu("new", "drop.contact.toml", cwd=tmp_path)
    _, text = (tmp_path / "drop.contact.toml").read_text().split("\n", 1)
    (tmp_path / "wrong.contact.toml").write_text(text.replace("mass = 1.0", "mass = -1.0"))
    (tmp_path / "other.toml").write_text("mass = -1.0\n")
    told = taplo(tools, tmp_path)
    assert "wrong.contact.toml" in told and "drop.contact.toml" not in told and "other.toml" not in told
