"""The JSON Schema accepts what the builder accepts."""

import json
import tomllib

import jsonschema
import pytest
from conftest import ROOT, contact_fmu


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
