"""Messages that the page on troubleshooting quotes are those of the program."""

import re

from conftest import ROOT


def test_messages_are_those_of_the_program():
    quoted = re.findall(r'"([^"]+)"', (ROOT / "docs/troubleshooting.md").read_text())
    sources = [path.read_text() for folder in ("src", "fmu-template/src") for path in (ROOT / folder).rglob("*.rs")]
    assert len(quoted) > 20
    for message in quoted:
        assert any(message in source for source in sources), message
