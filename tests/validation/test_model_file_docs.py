"""The page on the model file has every key as the schema has it, and its commands run."""

import json

from conftest import ROOT, contact_fmu
from model_file_page import PAGE, written
from test_readme import blocks, run_shell


def test_every_key_is_as_in_the_schema():
    page = PAGE.read_text()
    assert page == written(page, json.loads(contact_fmu("schema")))


def test_commands_run(tmp_path):
    source = (ROOT / "models/bouncing_ball/model.toml").read_text()
    (tmp_path / "model.toml").write_text(source)
    (script,) = blocks("docs/model-file.md", "sh")
    run_shell(script, tmp_path)
    assert (tmp_path / "with_schema.toml").read_text() == f"#:schema ./contact-fmu.schema.json\n{source}"
