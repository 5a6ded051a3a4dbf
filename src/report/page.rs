//! The page: libraries, programs and data put into one file.

use super::Report;
use super::film::FilmFacts;
use super::packing::{Chunks, Packed};
use super::recording::{Column, Recording};
use super::scene::{self, Scene};
use super::summary::{self, Energy, Solver};
use super::touching::{self, Touching};
use crate::model::Model;
use crate::variables::{self, Slot};
use quick_xml::escape::escape;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};

const PAGE: &str = include_str!("assets/page.html");
const STYLES: [&str; 2] = [include_str!("assets/uplot/uPlot.min.css"), include_str!("assets/report.css")];
const PROGRAMS: [&str; 9] = [
    include_str!("assets/uplot/uPlot.iife.min.js"),
    include_str!("assets/three/three.min.js"),
    include_str!("assets/data.js"),
    include_str!("assets/charts.js"),
    include_str!("assets/shapes.js"),
    include_str!("assets/scene.js"),
    include_str!("assets/player.js"),
    include_str!("assets/chooser.js"),
    include_str!("assets/main.js"),
];

const LICENCES: [&str; 2] = [include_str!("assets/uplot/LICENSE"), include_str!("assets/three/LICENSE")];

/// All that the page is told, besides packed arrays.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts<'a> {
    name: &'a str,
    description: &'a str,
    source: &'a str,
    tool: &'static str,
    settings: &'a [(String, String)],
    failure: Option<&'a str>,
    samples: usize,
    time: Times,
    columns: Vec<ColumnFacts<'a>>,
    first_choice: Vec<usize>,
    messages: Vec<(f64, &'a str, &'a str)>,
    lost_messages: usize,
    model: Option<ModelFacts<'a>>,
    no_model: Option<&'a str>,
}

/// Times of the samples: equally spaced, or packed.
#[derive(Serialize)]
struct Times {
    first: f64,
    last: f64,
    step: Option<f64>,
    chunk: Option<usize>,
}

#[derive(Serialize)]
struct ColumnFacts<'a> {
    name: &'a str,
    unit: &'a str,
    description: &'a str,
    input: bool,
    real: bool,
    range: (f64, f64),
    #[serde(flatten)]
    packed: Packed,
}

/// What is known because the model is.
#[derive(Serialize)]
struct ModelFacts<'a> {
    scene: Scene<'a>,
    touching: Touching,
    #[serde(skip_serializing_if = "Option::is_none")]
    film: Option<FilmFacts>,
    contacts: Vec<&'a str>,
    energy: Option<Energy>,
    solver: Option<Solver>,
}

/// Writes the page.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let recording = report.recording;
    let mut chunks = Chunks::default();
    let (model, first_choice) = match &report.model {
        Ok(model) => {
            let (facts, first_choice) = model_facts(model, recording, &mut chunks);
            (Some(facts), first_choice)
        }
        Err(_) => (None, summary::first_choice(&HashMap::new(), recording)),
    };
    let facts = Facts {
        name: report.name,
        description: report.description,
        source: report.source,
        tool: concat!("contact-fmu ", env!("CARGO_PKG_VERSION")),
        settings: report.settings,
        failure: report.failure.as_deref(),
        samples: recording.times.len(),
        time: times(&recording.times, &mut chunks),
        columns: recording.columns.iter().map(|column| column_facts(column, &mut chunks)).collect(),
        first_choice,
        messages: recording
            .messages
            .iter()
            .map(|message| (message.time, message.kind.as_str(), message.text.as_str()))
            .collect(),
        lost_messages: recording.lost_messages,
        model,
        no_model: report.model.as_ref().err().map(String::as_str),
    };
    assemble(report.name, &facts, &chunks, out)
}

/// Fills the marks of the page.
fn assemble(name: &str, facts: &Facts, chunks: &Chunks, out: &mut impl Write) -> io::Result<()> {
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (mark, after) = after.split_once("}}").expect("marks of the page are closed");
        out.write_all(before.as_bytes())?;
        match mark {
            "title" => out.write_all(escape(name).as_bytes())?,
            "styles" => STYLES.iter().try_for_each(|style| out.write_all(style.as_bytes()))?,
            "programs" => {
                PROGRAMS.iter().try_for_each(|program| write!(out, "<script>\n{program}</script>\n"))?
            }
            "licences" => {
                LICENCES.iter().try_for_each(|licence| out.write_all(escape(*licence).as_bytes()))?;
            }
            // Within a script no text may look like markup.
            "facts" => out.write_all(serde_json::to_string(facts)?.replace('<', "\\u003c").as_bytes())?,
            "chunks" => chunks.texts.iter().enumerate().try_for_each(|(place, text)| {
                writeln!(out, "<script type=\"text/plain\" id=\"chunk{place}\">{text}</script>")
            })?,
            other => unreachable!("the page has an unknown mark {other}"),
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

fn model_facts<'a>(
    model: &'a Model,
    recording: &Recording,
    chunks: &mut Chunks,
) -> (ModelFacts<'a>, Vec<usize>) {
    let variables = variables::table(model);
    let (system, _) = model.assemble();
    let columns: HashMap<Slot, usize> = scene::columns_by_slot(&variables, recording);
    let mut tracks = scene::tracks(model, &system, &variables, &columns);
    if let Some(film) = &recording.film {
        film.mark(&mut tracks);
    }
    let touches = touching::touching(&system, &tracks, &columns, recording);
    let facts = ModelFacts {
        touching: touching::pack(touches.iter(), |force| force.contact as u32, chunks),
        film: recording.film.as_ref().map(|film| film.pack(chunks)),
        scene: scene::scene(model, &tracks, chunks),
        contacts: model.contacts.iter().map(|contact| contact.name.as_str()).collect(),
        energy: summary::energy(model, &columns, recording),
        solver: summary::solver(model, &columns, recording),
    };
    (facts, summary::first_choice(&columns, recording))
}

/// Times that are `first + k step`, bit by bit up to the last one, need not be stored.
fn times(times: &[f64], chunks: &mut Chunks) -> Times {
    let (first, last) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
    let inner = &times[..times.len().saturating_sub(1)];
    let equally = |step: &f64| inner.iter().enumerate().all(|(k, time)| *time == first + k as f64 * step);
    let step = times.get(1).map(|second| second - first).filter(equally);
    let chunk = step.is_none().then(|| chunks.push_f64(times.iter().copied()));
    Times { first, last, step, chunk }
}

fn column_facts<'a>(column: &'a Column, chunks: &mut Chunks) -> ColumnFacts<'a> {
    ColumnFacts {
        name: &column.name,
        unit: &column.unit,
        description: &column.description,
        input: column.is_input,
        real: column.is_real,
        range: column.range(),
        packed: chunks.push_column(column),
    }
}
