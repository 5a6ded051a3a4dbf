"""The program of the page on friction laws gives the numbers of its table."""

import re

import pytest
from conftest import ROOT
from test_readme import run_page

PAGE = "docs/friction.md"


@pytest.fixture(scope="module")
def stops(tmp_path_factory):
    return run_page(PAGE, tmp_path_factory.mktemp("friction"), {"puck.toml": 0})["stops"]


def test_table_is_what_the_program_finds(stops):
    rows = re.findall(r"^\| `(.*)` \| ([\d.]+) \| ([-\d.]+) \|$", (ROOT / PAGE).read_text(), re.MULTILINE)
    assert [law for law, *_ in rows] == list(stops)
    for law, distance, angle in rows:
        found_distance, found_angle, slip = stops[law]
        assert abs(found_distance - float(distance)) < 6e-5, law
        assert abs(found_angle - float(angle)) < 6e-3, law
        assert slip < 1e-9, law


def test_exact_laws_are_exact(stops):
    for law in ["cone.mu = 0.25", "facets.mu = 0.25"]:
        distance, angle, _ = stops[law]
        assert abs(distance - 0.8) < 1e-12 and abs(angle) < 1e-10


def test_polygons_inside_the_circle_brake_too_little_and_the_others_too_much(stops):
    far = {law: distance > 0.8 for law, (distance, *_) in stops.items() if "aligned" in law or "box" in law}
    assert len(far) == 5
    assert far == {law: not ("outer" in law or "box" in law) for law in far}
