//! The report page and the terminal plots of `simulate`: complete, self-contained, harmless, and with the right numbers.

#![cfg(feature = "cli")]

use crate::support::{
    Csv, OTHER_TOOL_DESCRIPTION, OTHER_TOOL_LIBRARY, archive, contact_fmu, fail, library_entry, model_path,
    other_tool, stderr, stdout, succeed,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use tempfile::TempDir;

/// Contact, place and force on its node.
type Force = (usize, [f64; 3], [f64; 3]);

/// A page taken apart by what it says of itself.
struct Page {
    text: String,
    facts: Value,
    chunks: BTreeMap<usize, String>,
}

impl Page {
    fn read(path: &Path) -> Page {
        let text = fs::read_to_string(path).unwrap();
        let between = |start: &str, end: &str| {
            let from = text.find(start).unwrap() + start.len();
            text[from..from + text[from..].find(end).unwrap()].to_owned()
        };
        let facts =
            serde_json::from_str(&between("<script type=\"application/json\" id=\"facts\">", "</script>"));
        let chunks = text
            .split("<script type=\"text/plain\" id=\"chunk")
            .skip(1)
            .map(|part| {
                let (place, rest) = part.split_once("\">").unwrap();
                (place.parse().unwrap(), rest.split_once("</script>").unwrap().0.to_owned())
            })
            .collect();
        Page { facts: facts.unwrap(), chunks, text: text.clone() }
    }

    fn bytes(&self, chunk: &Value, width: usize) -> Vec<Vec<u8>> {
        let packed = STANDARD.decode(&self.chunks[&(chunk.as_u64().unwrap() as usize)]).unwrap();
        let mut sorted = Vec::new();
        DeflateDecoder::new(&packed[..]).read_to_end(&mut sorted).unwrap();
        let count = sorted.len() / width;
        (0..count).map(|k| (0..width).map(|place| sorted[place * count + k]).collect()).collect()
    }

    fn f32(&self, chunk: &Value) -> Vec<f64> {
        let numbers = self.bytes(chunk, 4).into_iter();
        numbers.map(|bytes| f64::from(f32::from_le_bytes(bytes.try_into().unwrap()))).collect()
    }

    fn u32(&self, chunk: &Value) -> Vec<usize> {
        let numbers = self.bytes(chunk, 4).into_iter();
        numbers.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()) as usize).collect()
    }

    fn samples(&self) -> usize {
        self.facts["samples"].as_u64().unwrap() as usize
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let columns = self.facts["columns"].as_array().unwrap();
        let column = columns.iter().find(|column| column["name"] == name).unwrap();
        if let Some(value) = column["constant"].as_f64() {
            return vec![value; self.samples()];
        }
        let base = column["base"].as_f64().unwrap();
        match column["width"].as_u64() {
            Some(4) => self.f32(&column["chunk"]).into_iter().map(|value| base + value).collect(),
            _ => self
                .bytes(&column["chunk"], 8)
                .into_iter()
                .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
                .collect(),
        }
    }

    /// Touching points and forces of a sample, in contacts between two sides.
    fn touching(&self, sample: usize) -> (Vec<[f64; 3]>, Vec<Force>) {
        self.touches(&self.facts["model"]["touching"], self.samples(), sample)
    }

    /// Touching points and forces of a frame of the film: in groups. Of a force it has the number of the pair.
    fn filmed(&self, frame: usize) -> (Vec<[f64; 3]>, Vec<Force>) {
        let film = &self.facts["model"]["film"];
        self.touches(&film["touching"], film["frames"].as_u64().unwrap() as usize, frame)
    }

    fn touches(&self, touching: &Value, samples: usize, sample: usize) -> (Vec<[f64; 3]>, Vec<Force>) {
        let vectors = |name: &str, range: std::ops::Range<usize>| -> Vec<[f64; 3]> {
            let axes = [0, 1, 2].map(|axis| self.f32(&touching[name][axis]));
            range.map(|k| [0, 1, 2].map(|axis| axes[axis][k])).collect()
        };
        let range = |name: &str| {
            let first = self.u32(&touching[name]);
            assert_eq!(first.len(), samples + 1);
            first[sample]..first[sample + 1]
        };
        let forces = range("firstForce");
        let contacts = self.u32(&touching["contact"])[forces.clone()].to_vec();
        let pairs = vectors("origin", forces.clone()).into_iter().zip(vectors("force", forces));
        let forces =
            contacts.into_iter().zip(pairs).map(|(contact, (origin, force))| (contact, origin, force));
        (vectors("point", range("firstPoint")), forces.collect())
    }
}

/// Simulates a model of the repository with a report beside its table.
fn report(folder: &Path, model: &str, more: &[&str]) -> (Page, Csv) {
    let path = model_path(model);
    let mut arguments = vec!["simulate", path.to_str().unwrap(), "--report", "out.html", "-o", "out.csv"];
    arguments.extend(more);
    assert_eq!(succeed(folder, &arguments), "");
    let csv = Csv::parse(&fs::read_to_string(folder.join("out.csv")).unwrap());
    (Page::read(&folder.join("out.html")), csv)
}

#[test]
fn every_sample_of_every_output_is_in_the_page() {
    let folder = TempDir::new().unwrap();
    let (page, csv) = report(folder.path(), "box_drop", &["--stop", "0.5"]);
    let times = csv.numbers("time");
    assert_eq!(page.samples(), times.len());
    assert_eq!(times.len(), 501);
    let time = &page.facts["time"];
    let step = time["step"].as_f64().unwrap();
    assert!((0..500).all(|k| k as f64 * step == times[k]));
    assert_eq!(time["last"].as_f64(), times.last().copied());
    for name in &csv.header[1..] {
        for (value, kept) in csv.numbers(name).into_iter().zip(page.column(name)) {
            assert!((value - kept).abs() <= 6e-8 * value.abs(), "{name}: {value} is kept as {kept}");
        }
    }
}

#[test]
fn the_page_is_whole_and_asks_for_nothing_else() {
    let folder = TempDir::new().unwrap();
    let (page, _) = report(folder.path(), "heightfield_rover", &["--stop", "0.02"]);
    assert!(page.text.starts_with("<!DOCTYPE html>") && page.text.ends_with("</html>\n"));
    let places: Vec<usize> = page.chunks.keys().copied().collect();
    assert_eq!(places, (0..places.len()).collect::<Vec<_>>());
    assert!(page.text.contains("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:;"));
    for outside in [" src=", "href=", "@import", "url(", "import(", "integrity="] {
        assert!(!page.text.contains(outside), "{outside}");
    }
    let libraries = page.text.find("/*! https://github.com/leeoniya/uPlot").unwrap();
    let ours = page.text.find("// The facts and arrays that the page holds.").unwrap();
    for part in [&page.text[..libraries], &page.text[ours..]] {
        for reach in ["http://", "https://", "fetch(", "XMLHttpRequest", "WebSocket", "Worker("] {
            let licences = part.replace("https://github.com", "");
            assert!(!licences.contains(reach), "{reach}");
        }
    }
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["out.csv", "out.html"], "no temporary file is left");
}

#[test]
fn the_same_run_gives_the_same_page_and_the_same_table() {
    let folder = TempDir::new().unwrap();
    let path = model_path("double_impact");
    let run = |more: &[&str]| succeed(folder.path(), &[&["simulate", path.to_str().unwrap()], more].concat());
    run(&["--report", "a.html", "-o", "a.csv"]);
    run(&["--report", "b.html"]);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.html") == read("b.html"));
    assert!(run(&[]).as_bytes() == read("a.csv"));
}

/// A box at rest touches with the four corners of its lower face, and the floor carries its weight.
#[test]
fn boxes_at_rest_touch_with_their_corners() {
    let folder = TempDir::new().unwrap();
    let (page, csv) = report(folder.path(), "box_drop", &[]);
    let last = page.samples() - 1;
    let (points, forces) = page.touching(last);
    assert_eq!((points.len(), forces.len()), (12, 3));
    assert!(points.iter().all(|point| point[2].abs() < 1e-6), "{points:?}");
    for (contact, origin, force) in forces {
        let name = ["corner", "edge", "face"][contact];
        for axis in 0..2 {
            let centre = csv.numbers(&format!("{name}.r[{}]", axis + 1))[last];
            assert!((origin[axis] - centre).abs() < 1e-5, "{name}: {origin:?}");
            assert!(force[axis].abs() < 1e-5, "{name}: {force:?}");
        }
        let weight = csv.numbers(&format!("{name}_floor.f_n"))[last];
        assert!(weight > 1.0 && (force[2] - weight).abs() < 1e-6 * weight, "{name}: {force:?}");
    }
    let energy = &page.facts["model"]["energy"];
    assert_eq!(energy["closed"], true);
    assert!(energy["deviation"].as_f64().unwrap() < 1e-6 * energy["start"].as_f64().unwrap());
}

/// A ball that has bounced within the step touched below its centre, with a force along the normal of the plane.
#[test]
fn a_bounce_is_shown_where_it_was() {
    let folder = TempDir::new().unwrap();
    let (page, csv) = report(folder.path(), "bouncing_ball", &["--stop", "0.5"]);
    let impulses = csv.numbers("ball_floor.impulse");
    let bounce = impulses.iter().position(|impulse| *impulse > 0.0).unwrap();
    assert!(page.touching(bounce - 1).1.is_empty() && page.touching(bounce + 1).1.is_empty());
    let (points, forces) = page.touching(bounce);
    let height = csv.numbers("ball.r[3]")[bounce];
    assert_eq!((points.len(), forces.len()), (1, 1));
    assert!((points[0][2] - (height - 0.2)).abs() < 1e-6, "{points:?}");
    let (_, origin, force) = forces[0];
    assert_eq!(origin, points[0]);
    let expected = csv.numbers("ball_floor.f_n")[bounce];
    assert!(force[0] == 0.0 && force[1] == 0.0 && (force[2] - expected).abs() < 1e-6 * expected);
}

/// 50 balls of 20 g in a pit: bottom and walls, which are pairs of two groups, carry their weight.
#[test]
fn pairs_of_groups_carry_the_weight() {
    let folder = TempDir::new().unwrap();
    let (page, csv) = report(folder.path(), "ball_pit", &[]);
    let film = &page.facts["model"]["film"];
    assert_eq!((film["stride"].as_u64(), film["frames"].as_u64()), (Some(1), Some(2001)));
    let last = 2000;
    let (points, forces) = page.filmed(last);
    let pairs = [0, 1, 2].map(|side| page.u32(&film["pairs"][side]));
    let contacts: Vec<&str> = page.facts["model"]["contacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    assert_eq!(contacts, ["floor", "balls"]);
    // The surfaces of the file come before those of the balls.
    let (mut floor, mut walls, mut on_balls) = (0.0, 0.0, 0);
    for (pair, _, force) in &forces {
        match (contacts[pairs[0][*pair]], pairs[2][*pair]) {
            ("floor", 0) => floor += force[2],
            ("balls", 1..=4) => walls += force[2],
            ("balls", _) => on_balls += 1,
            other => panic!("{other:?}"),
        }
    }
    let weight = 50.0 * 0.02 * 9.81;
    assert!((floor + walls - weight).abs() < 1e-5 * weight, "{floor} and {walls} carry {weight}");
    assert!((floor - csv.numbers("floor.f_n")[last]).abs() < 1e-6 * weight);
    assert!(on_balls > 20 && points.len() >= forces.len(), "{on_balls} {}", points.len());
    // Balls that the FMU does not show are filmed, and each point is where one of them has its surface.
    let poses = [0, 1, 2].map(|axis| page.f32(&film["poses"][axis]));
    let centre = |ball: usize| [0, 1, 2].map(|axis| poses[axis][ball * 2001 + last]);
    let bodies = page.facts["model"]["scene"]["bodies"].as_array().unwrap();
    let places: Vec<usize> =
        bodies.iter().map(|body| body["motion"]["film"].as_u64().unwrap() as usize).collect();
    assert_eq!(places, (0..50).collect::<Vec<_>>());
    for (axis, position) in centre(0).iter().enumerate() {
        let shown = csv.numbers(&format!("ball_1.r[{}]", axis + 1))[last];
        assert!((position - shown).abs() < 1e-8, "{position} {shown}");
    }
    for point in points {
        let distance = |ball: usize| {
            let centre = centre(ball);
            (0..3).map(|axis| (point[axis] - centre[axis]).powi(2)).sum::<f64>().sqrt()
        };
        assert!((0..50).any(|ball| (distance(ball) - 0.01).abs() < 1e-5), "{point:?}");
    }
}

/// Impacts within a step of many substeps are shown as means over it, as those of contacts between two sides are.
#[test]
fn bounces_in_a_group_are_means_over_the_step() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("model.toml"),
        r#"
        [model]
        name = "drops"
        [experiment]
        stop = 1.0
        step = 0.01
        [engine]
        step = 1e-3
        [[node]]
        name = "drop"
        coupling = "owned"
        mass = 1.0
        shape.sphere.radius = 0.1
        position = [0.0, 0.0, 0.5]
        copies = { count = [2, 2, 1], spacing = [1.0, 1.0, 1.0], scatter = 0.1 }
        [[surface]]
        name = "table"
        shape.plane.normal = [0.0, 0.0, 1.0]
        [[contact]]
        name = "drops"
        between = ["drop_*", "table"]
        restitution = 0.7
        friction.cone.mu = 0.3
        "#,
    )
    .unwrap();
    succeed(folder.path(), &["simulate", "model.toml", "--report", "out.html", "-o", "out.csv"]);
    let csv = Csv::parse(&fs::read_to_string(folder.path().join("out.csv")).unwrap());
    let page = Page::read(&folder.path().join("out.html"));
    let normal = csv.numbers("drops.f_n");
    assert!(normal.iter().filter(|force| **force > 0.0).count() > 4);
    for (sample, expected) in normal.iter().enumerate() {
        let sum: f64 = page.filmed(sample).1.iter().map(|(_, _, force)| force[2]).sum();
        assert!((sum - expected).abs() <= 1e-6 * expected, "{sample}: {sum} {expected}");
    }
    // All poses are outputs here.
    let bodies = page.facts["model"]["scene"]["bodies"].as_array().unwrap();
    assert!(bodies.iter().all(|body| body["motion"]["film"].is_null()));
}

/// Nothing is filmed where the FMU shows all.
#[test]
fn models_without_groups_have_no_film() {
    let folder = TempDir::new().unwrap();
    let (page, _) = report(folder.path(), "double_impact", &["--stop", "0.01"]);
    assert!(page.facts["model"].as_object().unwrap().get("film").is_none());
}

/// What a master gives is shown at the time for which it is given.
#[test]
fn inputs_are_recorded_at_their_time() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("in.csv"), "time,ball.r[3],ball.v[3]\n0,1,-1\n0.1,0.9,-1\n").unwrap();
    let (page, csv) = report(folder.path(), "coupled_ball", &["--input", "in.csv", "--stop", "0.1"]);
    let times = csv.numbers("time");
    assert!(!csv.header.contains(&"ball.r[3]".to_owned()), "the table has outputs only");
    for (time, height) in times.iter().zip(page.column("ball.r[3]")) {
        assert!((height - (1.0 - time)).abs() < 1e-7, "{time}: {height}");
    }
    let motion = &page.facts["model"]["scene"]["bodies"][0]["motion"];
    let place = motion["r"][2].as_u64().unwrap() as usize;
    assert_eq!(page.facts["columns"][place]["name"], "ball.r[3]");
    let plain = succeed(
        folder.path(),
        &["simulate", model_path("coupled_ball").to_str().unwrap(), "--input", "in.csv", "--stop", "0.1"],
    );
    assert!(plain == fs::read_to_string(folder.path().join("out.csv")).unwrap(), "a report changes nothing");
}

#[test]
fn an_fmu_of_another_tool_has_plots_only_and_the_page_says_so() {
    let folder = other_tool();
    succeed(
        folder.path(),
        &["simulate", "lag.fmu", "--step", "0.1", "--set", "u=1.5", "--report", "lag.html"],
    );
    let page = Page::read(&folder.path().join("lag.html"));
    assert!(page.facts["model"].is_null());
    assert_eq!(page.facts["noModel"], "the FMU is not one of contact-fmu, so its shapes are not known");
    assert_eq!(page.facts["settings"][0], serde_json::json!(["u", "1.5"]));
    for (k, x) in page.column("x").into_iter().enumerate() {
        assert!((x - 3.0 * (1.0 - (-0.2 * k as f64).exp())).abs() < 1e-6);
    }
    assert_eq!(page.column("positive")[..2], [0.0, 1.0]);
    let names: Vec<&Value> = page.facts["columns"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
    assert!(names.iter().any(|name| *name == "u") && !names.iter().any(|name| *name == "label_out"));
}

/// Names and texts of a model are data: none of them becomes markup or program.
#[test]
fn hostile_names_are_harmless() {
    const HOSTILE: &str = "x</script><script>alert('1')</script><!-- \" & {{facts}}";
    let escaped = quick_xml::escape::escape(HOSTILE).replace('"', "&quot;");
    let description = OTHER_TOOL_DESCRIPTION.replace("y, alias of x", &escaped).replacen(
        "modelName=\"",
        &format!("modelName=\"{escaped}"),
        1,
    );
    let folder = TempDir::new().unwrap();
    let library = library_entry("lag");
    let entries =
        [("modelDescription.xml", description.as_bytes()), (library.as_str(), &OTHER_TOOL_LIBRARY[..])];
    fs::write(folder.path().join("evil.fmu"), archive(&entries)).unwrap();
    succeed(folder.path(), &["simulate", "evil.fmu", "--step", "0.1", "--report", "evil.html"]);
    let page = Page::read(&folder.path().join("evil.html"));
    assert!(!page.text.contains("<script>alert") && !page.text.contains("x</script>"));
    assert!(page.facts["name"].as_str().unwrap().starts_with(HOSTILE));
    assert!(page.facts["columns"].as_array().unwrap().iter().any(|column| column["name"] == HOSTILE));
    // Each script that the page begins is one of its own.
    let programs = page.text.matches("<script>").count();
    assert_eq!(programs, 9);
    assert_eq!(page.text.matches("<script").count(), programs + page.chunks.len() + 1);
    assert_eq!(page.text.matches("</script>").count(), programs + page.chunks.len() + 1);
}

#[test]
fn a_run_that_fails_has_a_report_of_what_came_before() {
    let folder = other_tool();
    let message = fail(
        folder.path(),
        &["simulate", "lag.fmu", "--step", "0.1", "--set", "discard_at=0.35", "--report", "lag.html"],
    );
    assert!(message.contains("report: lag.html"), "{message}");
    let page = Page::read(&folder.path().join("lag.html"));
    assert!(page.facts["failure"].as_str().unwrap().starts_with("the FMU failed at t = 0.3"));
    assert!((4..=5).contains(&page.samples()), "{}", page.samples());
    // Nothing simulated, no page.
    fail(folder.path(), &["simulate", "lag.fmu", "--set", "nothing=1", "--report", "none.html"]);
    assert!(!folder.path().join("none.html").exists());
}

#[test]
fn warnings_are_in_the_page() {
    let folder = other_tool();
    let arguments =
        ["simulate", "lag.fmu", "--step", "0.25", "--set", "warn=true", "--log", "--report", "lag.html"];
    let output = contact_fmu(folder.path(), &arguments);
    assert!(output.status.success());
    let page = Page::read(&folder.path().join("lag.html"));
    let messages = page.facts["messages"].as_array().unwrap();
    for line in stderr(&output).lines().filter(|line| !line.starts_with("report:")) {
        let (_, text) = line.split_once(": ").unwrap();
        let told = |message: &Value| text.ends_with(message[2].as_str().unwrap());
        assert!(messages.iter().any(told), "{line} is not among {messages:?}");
    }
    let note = serde_json::json!([0.0, "note", "the FMU warned (fmi2Warning) at t = 0.0 s"]);
    assert!(messages.contains(&note), "{messages:?}");
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_the_run() {
    let folder = other_tool();
    let message = fail(folder.path(), &["simulate", "lag.fmu", "--report", "nowhere/x.html"]);
    assert_eq!(message, "error: cannot write nowhere/x.html: there is no folder nowhere\n");
}

#[test]
fn plots_are_drawn_in_the_terminal() {
    let folder = other_tool();
    let text = succeed(folder.path(), &["simulate", "lag.fmu", "--set", "u=1.5", "--plot", "x", "u"]);
    assert_eq!(text.matches('└').count(), 2, "{text}");
    assert!(text.contains("   x (degC)\n") && text.contains("2.594"), "{text}");
    assert!(!text.contains("time,"), "the table is not written too");
    let output = contact_fmu(folder.path(), &["simulate", "lag.fmu", "--plot", "x", "-o", "lag.csv"]);
    assert!(stdout(&output).contains('└') && folder.path().join("lag.csv").exists());
    assert!(!stderr(&output).contains('%'), "no progress where there is no terminal");
}

#[test]
fn plots_of_unknown_names_are_refused_before_the_run() {
    let folder = other_tool();
    for (name, fault) in [
        ("stps", "the FMU has no such variable, did you mean `steps`?"),
        ("quite_else", "the FMU has no such variable"),
        ("gain", "it is neither an output nor an input (parameter)"),
        ("label_out", "it is text"),
    ] {
        let message = fail(folder.path(), &["simulate", "lag.fmu", "--plot", "x", name]);
        assert_eq!(message, format!("error: cannot plot `{name}`: {fault}\n"));
    }
}
