"""The report page in a real browser: Debian's chromium, driven by Playwright. Screenshots go to target/report-pages."""

import os
import shutil
import time

import numpy as np
import pytest
from conftest import ROOT, contact_fmu, read_csv
from other_fmus import other_fmu
from playwright.sync_api import sync_playwright
from test_docs_blocks import cube

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
PICTURES = ROOT / "target" / "report-pages"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: the report page is not looked at (apt install chromium)"),
    pytest.mark.xdist_group("browser"),
]


def launch(playwright):
    """WebGL without a graphics card; no sandbox, as tests may run as root in a container."""
    arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    return playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


class Opened:
    """A page that is ready, with all that it complained about and asked for."""

    def __init__(self, browser, path, **options):
        self.faults, self.requests = [], []
        self.page = browser.new_page(viewport={"width": 1280, "height": 860}, **options)
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.wait("report.ready || report.error !== null")
        assert self.value("String(report.error)") == "null"
        assert self.requests == [path.as_uri()]

    def value(self, expression):
        return self.page.evaluate(expression)

    def wait(self, condition, seconds=30.0):
        """By asking: the page forbids itself to evaluate texts, and so what Playwright has for this."""
        end = time.monotonic() + seconds
        while not self.value(f"!!({condition})"):
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(20)

    def frames(self):
        """Lets the page draw."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, selector="#view"):
        self.frames()
        return self.page.locator(selector).screenshot()

    def keep(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png")

    def close(self):
        assert self.faults == []
        self.page.close()


# Pixels of a chart's canvas in the colour of its curves, curve by curve.
DRAWN = """(index) => {
  const { plot } = report.charts.all()[index];
  const { width, height } = plot.ctx.canvas;
  const pixels = plot.ctx.getImageData(0, 0, width, height).data;
  return plot.series.slice(1).map((series) => {
    const [r, g, b] = series.stroke().match(/[0-9a-f]{2}/g).map((part) => parseInt(part, 16));
    let count = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      count += Math.abs(pixels[i] - r) + Math.abs(pixels[i + 1] - g) + Math.abs(pixels[i + 2] - b) < 60 && pixels[i + 3] > 128;
    }
    return count;
  });
}"""


@pytest.fixture(scope="module")
def boxes(browser, tmp_path_factory):
    """The page of boxes that fall, and its table."""
    folder = tmp_path_factory.mktemp("report")
    model = ROOT / "models/box_drop/model.toml"
    contact_fmu("simulate", model, "--report", folder / "boxes.html", "-o", folder / "boxes.csv")
    opened = Opened(browser, folder / "boxes.html")
    yield opened, read_csv(folder / "boxes.csv")
    opened.close()


def test_curves_are_drawn_with_units(boxes):
    opened, _ = boxes
    titles = opened.value("report.charts.all().map((chart) => chart.box.querySelector('h3').textContent)")
    assert titles[:2] == ["Lengths and positions (m)", "Forces (N)"]
    assert {"Where the energy is (J)", "engine.iterations", "engine.penetration (m)"} <= set(titles)
    for index in range(len(titles)):
        drawn = opened.page.evaluate(DRAWN, index)
        assert drawn and max(drawn) > 100, titles[index]
    facts = opened.page.locator("#solver-facts").inner_text()
    assert "Communication steps\n3000" in facts
    assert "the sum should stay" in opened.page.locator("#energy-note").inner_text()
    opened.keep("boxes")


def test_values_are_under_the_cursor(boxes):
    opened, table = boxes
    over = opened.page.locator("#charts .u-over").first
    shown = set()
    for part in (0.25, 0.5):
        box = over.bounding_box()
        opened.page.mouse.move(box["x"] + part * box["width"], box["y"] + 40)
        opened.frames()
        index = opened.value("report.charts.all()[0].plot.cursor.idx")
        assert abs(index - 3000 * part) < 15
        legend = opened.page.locator("#charts .u-legend").first.inner_text()
        label = opened.value("report.charts.all()[0].labels[0]")
        assert f"{float(f'{table[label][index]:.7g}'):g}"[:6] in legend, legend
        shown.add(legend)
        # The others follow.
        assert opened.value("report.charts.all().every(({ plot }) => plot.cursor.idx === report.charts.all()[0].plot.cursor.idx)")
    assert len(shown) == 2


def test_zoom_is_shared_and_undone(boxes):
    opened, _ = boxes
    box = opened.page.locator("#charts .u-over").nth(1).bounding_box()
    at = lambda part: (box["x"] + part * box["width"], box["y"] + 30)
    before = opened.picture("#charts")
    opened.page.mouse.move(*at(0.1))
    opened.page.mouse.down()
    opened.page.mouse.move(*at(0.2), steps=4)
    opened.page.mouse.up()
    ranges = opened.value("report.charts.all().map(({ plot }) => [plot.scales.x.min, plot.scales.x.max])")
    for low, high in ranges:
        assert abs(low - 0.3) < 0.02 and abs(high - 0.6) < 0.02
    assert opened.picture("#charts") != before
    opened.page.locator("#reset").click()
    ranges = opened.value("report.charts.all().map(({ plot }) => [plot.scales.x.min, plot.scales.x.max])")
    assert all(pair == [0, 3] for pair in ranges)


def test_play_moves_the_scene(boxes):
    opened, table = boxes
    opened.value("report.player.go(0)")
    start, place = opened.picture(), opened.value("report.view.position(0)")
    opened.page.locator("#speed").select_option("0.5")
    opened.page.locator("#play").click()
    opened.wait("report.time > 0.15")
    opened.page.locator("#play").click()
    time_then = opened.value("report.time")
    assert not opened.value("report.player.isPlaying()")
    assert opened.picture() != start
    assert opened.value("report.view.position(0)")[2] < place[2] - 0.05
    opened.page.wait_for_timeout(100)
    assert opened.value("report.time") == time_then
    # Scrubbed to a sample, bodies are where the table has them.
    opened.page.locator("#scrub").evaluate("(bar) => { bar.value = 2000; bar.dispatchEvent(new Event('input')); }")
    assert opened.value("report.time") == 2.0
    for index, name in enumerate(opened.value("report.view.bodies")):
        for axis, value in enumerate(opened.value(f"report.view.position({index})")):
            assert abs(value - table[f"{name}.r[{axis + 1}]"][2000]) < 1e-6
    assert opened.value("report.view.dots()") == 12 and opened.value("report.view.arrows()") == 3
    # A click on a chart goes there, the space bar plays.
    box = opened.page.locator("#charts .u-over").first.bounding_box()
    opened.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 30)
    assert abs(opened.value("report.time") - 1.5) < 0.02
    opened.page.locator("#canvas").focus()
    opened.page.keyboard.press(" ")
    opened.wait("report.time > 1.55")
    opened.page.keyboard.press(" ")


def test_view_is_turned_and_forces_are_hidden(boxes):
    opened, _ = boxes
    opened.value("report.player.go(2)")
    before = opened.picture()
    box = opened.page.locator("#canvas").bounding_box()
    opened.page.mouse.move(box["x"] + 150, box["y"] + 150)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 260, box["y"] + 170, steps=3)
    opened.page.mouse.up()
    turned = opened.picture()
    assert turned != before
    opened.page.locator("#show-forces").uncheck()
    assert opened.value("report.view.arrows()") == 0
    assert opened.picture() != turned
    opened.page.locator("#show-forces").check()
    opened.page.locator("#home").click()


def test_friction_has_arrows_of_its_own(boxes):
    """At the sample with the largest friction: as many as contacts rub, and gone with the forces."""
    opened, table = boxes
    contacts = [name[: -len(".f_n")] for name in table if name.endswith(".f_n")]
    friction = np.array([np.hypot.reduce([table[f"{name}.f_t[{axis}]"] for axis in (1, 2, 3)]) for name in contacts])
    normal = np.array([table[f"{name}.f_n"] for name in contacts])
    sample = int(friction.max(axis=0).argmax())
    # Half a step on, so that rounding does not show the sample before.
    opened.value(f"report.player.go({float(table['time'][sample]) + 5e-4})")
    assert opened.value("report.view.frictionArrows()") == (friction[:, sample] > 0.1 * friction.max()).sum() > 0
    assert opened.value("report.view.arrows()") == (normal[:, sample] > 0).sum()
    opened.page.locator("#show-forces").uncheck()
    assert opened.value("report.view.frictionArrows()") == 0
    opened.page.locator("#show-forces").check()


def test_variables_are_chosen(boxes):
    opened, _ = boxes
    opened.page.locator("#chooser > summary").click()
    opened.page.locator("#filter").fill("corner.w[1")
    opened.page.locator("#variables input").check()
    opened.wait("report.charts.all().some(({ labels }) => labels.includes('corner.w[1]'))")
    opened.page.locator("#clear").click()
    opened.wait("!document.querySelector('#charts .u-wrap')")
    opened.page.locator("#filter").fill("nothing like it")
    assert "No variable" in opened.page.locator("#variables").inner_text()


SHAPES = {
    # Shape of a node, and the box around it at the start.
    "ball": ("sphere.radius = 0.3", [0.6, 0.6, 0.6]),
    "brick": ("box.size = [0.2, 0.4, 0.6]", [0.2, 0.4, 0.6]),
    "pill": ("capsule = { radius = 0.1, length = 0.5, axis = [1.0, 0.0, 0.0] }", [0.7, 0.2, 0.2]),
    "can": ("cylinder = { radius = 0.2, length = 0.5 }", [0.4, 0.4, 0.5]),
    "coin": ("disc = { radius = 0.3, axis = [0.0, 1.0, 0.0] }", [0.6, 0.006, 0.6]),
    "stone": ('hull = { file = "cube.stl", scale = 0.1 }', [0.2, 0.2, 0.2]),
    "frame": ("points = [[-0.2, 0.0, 0.0], [0.2, 0.0, 0.0]]", None),
}
SURFACES = {
    "terrain": ('heightfield = { file = "field.txt", cell = [2.0, 3.0] }', [4.0, 6.0, 1.0]),
    "block": ('mesh = { file = "cube.stl", scale = 0.5 }', [1.0, 1.0, 1.0]),
    "globe": ("sphere.radius = 0.5", [1.0, 1.0, 1.0]),
    "bar": ("cylinder = { radius = 0.1, length = 2.0, axis = [0.0, 1.0, 0.0] }", [0.2, 2.0, 0.2]),
}


def test_every_shape_is_shown_in_its_size(browser, tmp_path):
    (tmp_path / "cube.stl").write_text(cube())
    (tmp_path / "field.txt").write_text("0 0 0\n0 1 0\n0 0 0\n")
    node = '[[node]]\nname = "{}"\ncoupling = "owned"\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nposition = [{}.0, 0.0, 3.0]\nshape.{}\n'
    surface = '[[surface]]\nname = "{}"\nposition = [{}.0, 4.0, 0.0]\nshape.{}\n'
    parts = ["model.name = 'shapes'\n[experiment]\nstop = 0.1\n"]
    parts += [node.format(name, place, shape) for place, (name, (shape, _)) in enumerate(SHAPES.items())]
    parts += [surface.format(name, 3 * place, shape) for place, (name, (shape, _)) in enumerate(SURFACES.items())]
    parts += ['[[surface]]\nname = "lift"\nshape.plane.normal = [0.0, 0.0, 1.0]\nmotion = "input"\n']
    parts += ['[[contact]]\nbetween = ["*", "lift"]\n']
    (tmp_path / "shapes.toml").write_text("".join(parts))
    contact_fmu("simulate", "shapes.toml", "--report", "shapes.html", cwd=tmp_path)
    opened = Opened(browser, tmp_path / "shapes.html")
    opened.frames()
    sizes = opened.value("report.view.sizes()")
    for name, (_, expected) in {**SHAPES, **SURFACES}.items():
        if expected:
            # Round shapes are drawn with many flat faces.
            assert sizes[name] == pytest.approx(expected, rel=0.01), name
    assert sizes["frame"][0] > 0.4 and sizes["lift"][0] > 1.0
    opened.keep("shapes")
    opened.close()


def test_groups_have_points_and_arrows(browser, tmp_path):
    """All pairs of ball_pit's groups are drawn, at balls that its FMU does not show."""
    page = tmp_path / "pit.html"
    contact_fmu("simulate", ROOT / "models/ball_pit/model.toml", "--report", page)
    opened = Opened(browser, page)
    start = opened.value("report.view.bodies.map((_, index) => report.view.position(index))")
    assert opened.value("[report.view.dots(), report.view.arrows()]") == [0, 0]
    opened.value("report.player.go(2)")
    rest = opened.value("report.view.bodies.map((_, index) => report.view.position(index))")
    moved = np.linalg.norm(np.array(rest) - start, axis=1)
    assert len(moved) == 50 and moved.min() > 1e-3
    # 50 balls lie on the bottom or on others, at the walls too.
    dots, arrows, rubbing = opened.value("[report.view.dots(), report.view.arrows(), report.view.frictionArrows()]")
    assert 50 < arrows <= dots and 50 < rubbing <= arrows
    with_forces = opened.picture()
    opened.keep("ball-pit")
    opened.page.locator("#show-forces").uncheck()
    assert opened.value("report.view.arrows()") == 0 and opened.picture() != with_forces
    opened.page.locator("#show-forces").check()
    # While it plays, the strongest force of each pair stays for a moment: of the last 40 samples.
    opened.value("report.view.show(100, 0, 40)")
    lingering = opened.value("report.view.arrows()")
    opened.value("report.view.show(100, 0, 0)")
    assert lingering >= opened.value("report.view.arrows()") > 0
    opened.close()


def test_a_thousand_balls_open_fast(browser, tmp_path, capsys):
    """Thousands of touching points at a time."""
    text = (ROOT / "models/ball_pit/model.toml").read_text()
    many = text.replace("count = [5, 5, 2]", "count = [25, 25, 2]").replace("0.057", "0.28").replace("position = [-0.044, -0.044", "position = [-0.264, -0.264")
    assert many.count("0.28") == 4 and "25, 25" in many and "-0.264" in many
    (tmp_path / "many.toml").write_text(many)
    contact_fmu("simulate", "many.toml", "--stop", "0.1", "--report", "many.html", cwd=tmp_path)
    opened = Opened(browser, tmp_path / "many.html")
    seconds = opened.value("report.readyAfter") / 1000
    opened.value("report.player.go(0.1)")
    dots, arrows = opened.value("[report.view.dots(), report.view.arrows()]")
    # What the page computes for a picture; drawing is left to the graphics card.
    took = opened.value("(() => { const start = performance.now(); for (let k = 80; k < 100; k++) report.view.show(k, 0.5, 80); return (performance.now() - start) / 20; })()")
    with capsys.disabled():
        size = (tmp_path / "many.html").stat().st_size / 1e6
        print(f"\nreport of 1250 balls, 101 samples: {size:.1f} MB, ready after {seconds:.2f} s, {dots} points, {took:.0f} ms a picture")
    assert dots > 1250 and arrows > 1000
    assert seconds < 15.0 and took < 100.0
    opened.keep("many-balls")
    opened.close()


def test_a_hundred_thousand_samples_open_fast(browser, tmp_path, capsys):
    page = tmp_path / "long.html"
    contact_fmu("simulate", ROOT / "models/bouncing_ball/model.toml", "--step", "5e-5", "--report", page)
    opened = Opened(browser, page, color_scheme="dark")
    assert opened.value("report.facts.samples") == 100_001
    assert opened.value("report.charts.all()[0].plot.data[1].length") == 100_001
    seconds = opened.value("report.readyAfter") / 1000
    with capsys.disabled():
        print(f"\nreport of 100001 samples: {page.stat().st_size / 1e6:.1f} MB, ready after {seconds:.2f} s")
    assert seconds < 10.0
    assert max(opened.page.evaluate(DRAWN, 0)) > 100
    assert opened.value("document.documentElement.dataset.theme") == "dark"
    opened.page.locator("#theme").click()
    opened.wait("document.documentElement.dataset.theme === 'light' && report.charts.all().length > 3")
    opened.keep("hundred-thousand-samples")
    opened.close()


def test_an_fmu_of_another_tool_has_plots_only(browser, tmp_path):
    hostile = "<img src=x onerror=alert(1)>"
    escaped = hostile.replace("<", "&lt;").replace(">", "&gt;")
    other_fmu("smooth_ball", "smooth_ball", tmp_path / "other.fmu", edit=lambda xml: xml.replace('"ball.r[3]"', f'"{escaped}"'))
    contact_fmu("simulate", tmp_path / "other.fmu", "--stop", "1", "--step", "0.01", "--report", tmp_path / "other.html")
    opened = Opened(browser, tmp_path / "other.html")
    assert "not one of contact-fmu" in opened.page.locator("#no-model").inner_text()
    assert not opened.page.locator("#motion").is_visible()
    assert max(opened.page.evaluate(DRAWN, 0)) > 100
    assert hostile in opened.page.locator("#charts").inner_text()
    assert opened.page.locator("img").count() == 0
    opened.keep("other-tool")
    opened.close()
