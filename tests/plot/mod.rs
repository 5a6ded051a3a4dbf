//! Figures of the documentation as SVG: line plots in panels that share a horizontal axis, below one legend.
//!
//! The same numbers give the same text on every machine: no font is looked up. Colours follow the theme of the reader;
//! the background is filled, so that a viewer without themes shows the light one.

#![allow(dead_code, reason = "each figure uses its own part")]

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use quick_xml::events::Event;
use quick_xml::reader::Reader;
use std::fmt::Write;
use std::ops::Range;

/// A colour in the light and in the dark theme.
#[derive(Clone, Copy)]
pub struct Tint {
    light: RGBColor,
    dark: RGBColor,
}

const fn tint(light: (u8, u8, u8), dark: (u8, u8, u8)) -> Tint {
    Tint { light: RGBColor(light.0, light.1, light.2), dark: RGBColor(dark.0, dark.1, dark.2) }
}

const PAPER: Tint = tint((255, 255, 255), (13, 17, 23));
const INK: Tint = tint((31, 35, 40), (230, 237, 243));
const MESH: Tint = tint((225, 228, 232), (48, 54, 61));

// Told apart by readers who do not see all colours. [Okabe and Ito, 2008]
pub const GREY: Tint = tint((176, 182, 190), (110, 118, 129));
pub const BLUE: Tint = tint((0, 114, 178), (86, 180, 233));
pub const GREEN: Tint = tint((0, 158, 115), (46, 204, 155));
pub const ORANGE: Tint = tint((213, 94, 0), (255, 140, 66));
pub const PURPLE: Tint = tint((170, 68, 140), (224, 145, 200));

const TINTS: [Tint; 8] = [PAPER, INK, MESH, GREY, BLUE, GREEN, ORANGE, PURPLE];

/// How values are laid out on an axis.
#[derive(Clone, Copy)]
pub enum Scale {
    Linear,
    Logarithmic,
}

/// An axis; the label names the unit.
pub struct Axis {
    pub label: &'static str,
    pub range: Range<f64>,
    pub scale: Scale,
}

impl Axis {
    /// Part of the way between two values, as drawn, at which a third one lies.
    pub fn part(&self, from: f64, to: f64, at: f64) -> f64 {
        match self.scale {
            Scale::Linear => (at - from) / (to - from),
            Scale::Logarithmic => (at / from).ln() / (to / from).ln(),
        }
    }
}

/// How a line looks and what the legend calls it.
#[derive(Clone, Copy)]
pub struct Line {
    pub name: &'static str,
    pub tint: Tint,
    /// In pixels.
    pub width: f64,
}

/// Lines over one vertical axis.
pub struct Panel {
    pub y: Axis,
    /// Points in the order in which they are joined.
    pub lines: Vec<(Line, Vec<(f64, f64)>)>,
}

/// Panels below one another, with a linear horizontal axis.
pub struct Figure {
    /// In pixels.
    pub width: u32,
    /// In pixels, of one panel.
    pub panel_height: u32,
    pub x_label: &'static str,
    pub x: Range<f64>,
    pub legend: Vec<Line>,
    pub panels: Vec<Panel>,
}

// The backend rounds to whole units: a unit is a quarter of a pixel.
const UNITS: u32 = 4;
const LEGEND_HEIGHT: u32 = 34;
const LABEL_HEIGHT: u32 = 18;
const FONT: f64 = 13.0;

type Drawing<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Outcome = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The text of an SVG file.
pub fn svg(figure: &Figure) -> String {
    let panels = u32::try_from(figure.panels.len()).expect("a few panels");
    let (width, height) = (figure.width, LEGEND_HEIGHT + panels * figure.panel_height + LABEL_HEIGHT);
    let mut drawn = String::new();
    let area = SVGBackend::with_string(&mut drawn, (units(width), units(height))).into_drawing_area();
    draw(&area, figure).expect("writing to a string does not fail");
    drop(area);
    let (_, content) = drawn.split_once(">\n").expect("an opening tag");
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" xmlns=\"http://www.w3.org/2000/svg\">\n{}{content}",
        units(width),
        units(height),
        style(),
    )
}

const fn units(pixels: u32) -> u32 {
    UNITS * pixels
}

fn style() -> String {
    let mut style = String::from(
        "<style>\npolyline { stroke-linejoin: round; }\n@media (prefers-color-scheme: dark) {\n",
    );
    for Tint { light, dark } in TINTS {
        for property in ["fill", "stroke"] {
            writeln!(style, "[{property}=\"{}\"] {{ {property}: {}; }}", hex(light), hex(dark))
                .expect("writing to a string does not fail");
        }
    }
    style + "}\n</style>\n"
}

/// As the backend writes it.
fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

fn stroke(tint: Tint, pixels: f64) -> ShapeStyle {
    tint.light.stroke_width((f64::from(UNITS) * pixels).round() as u32)
}

fn font<'a>() -> TextStyle<'a> {
    // The backend divides the size by this.
    ("sans-serif", f64::from(UNITS) * FONT * 1.24).into_font().color(&INK.light)
}

fn draw(area: &Drawing, figure: &Figure) -> Outcome {
    area.fill(&PAPER.light)?;
    let tops: Vec<u32> = (0..u32::try_from(figure.panels.len()).expect("a few panels"))
        .map(|index| units(LEGEND_HEIGHT + index * figure.panel_height))
        .collect();
    let areas = area.split_by_breakpoints(&[] as &[u32], &tops);
    let (legend, panels) = areas.split_first().expect("a legend");
    draw_legend(legend, &figure.legend)?;
    for (index, (here, panel)) in panels.iter().zip(&figure.panels).enumerate() {
        let is_last = index + 1 == figure.panels.len();
        match panel.y.scale {
            Scale::Linear => {
                draw_panel(here, figure, panel, panel.y.range.clone(), &plain, is_last)?;
            }
            Scale::Logarithmic => {
                // Wider by less than a unit, or rounding takes the ticks at the ends.
                let range = panel.y.range.start * (1.0 - 1e-9)..panel.y.range.end * (1.0 + 1e-9);
                draw_panel(here, figure, panel, range.log_scale(), &power_of_ten, is_last)?;
            }
        }
    }
    area.present()
}

fn draw_legend(area: &Drawing, lines: &[Line]) -> Outcome {
    let unit = |pixels: f64| (f64::from(UNITS) * pixels).round() as i32;
    let middle = unit(0.5 * f64::from(LEGEND_HEIGHT));
    let mut left = 62.0;
    for line in lines {
        let ends = [(unit(left), middle), (unit(left + 28.0), middle)];
        area.draw(&PathElement::new(ends, stroke(line.tint, line.width)))?;
        let text = font().pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(line.name, (unit(left + 34.0), middle), text))?;
        left += 58.0 + 0.52 * FONT * line.name.chars().count() as f64;
    }
    let (width, _) = area.dim_in_pixel();
    assert!(left * f64::from(UNITS) <= f64::from(width), "the legend is wider than the figure");
    Ok(())
}

fn draw_panel<Y>(
    area: &Drawing,
    figure: &Figure,
    panel: &Panel,
    y: Y,
    label: &dyn Fn(&f64) -> String,
    is_last: bool,
) -> Outcome
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    let mut chart = ChartBuilder::on(area)
        .margin_top(units(10))
        .margin_right(units(16))
        .margin_left(units(6))
        .x_label_area_size(units(if is_last { 22 + LABEL_HEIGHT } else { 22 }))
        .y_label_area_size(units(54))
        .build_cartesian_2d(figure.x.clone(), y)?;
    let mut mesh = chart.configure_mesh();
    mesh.axis_style(stroke(INK, 1.0))
        .bold_line_style(stroke(MESH, 1.0))
        .light_line_style(TRANSPARENT)
        .label_style(font())
        .axis_desc_style(font())
        .x_label_formatter(&plain)
        .y_label_formatter(label)
        .y_labels(10)
        .y_desc(panel.y.label);
    if is_last {
        mesh.x_desc(figure.x_label);
    }
    mesh.draw()?;
    for (line, points) in &panel.lines {
        for (x, y) in points {
            let is_inside = figure.x.start <= *x && *x <= figure.x.end;
            let is_inside = is_inside && panel.y.range.start <= *y && *y <= panel.y.range.end;
            assert!(is_inside, "{} leaves the panel of {} at ({x}, {y})", line.name, panel.y.label);
        }
        chart.draw_series(LineSeries::new(points.iter().copied(), stroke(line.tint, line.width)))?;
    }
    Ok(())
}

/// A tick of a linear axis, without the rounding errors of the place it was computed for.
fn plain(value: &f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    format!("{}", rounded + 0.0).replace('-', "\u{2212}")
}

fn power_of_ten(value: &f64) -> String {
    let raised = |character: char| match character.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    let exponent = value.log10().round() as i32;
    format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
}

/// What an SVG file consists of, in order.
#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    Points(Vec<i64>),
}

fn parts(svg: &str) -> Vec<Part> {
    let mut reader = Reader::from_str(svg);
    let mut parts = Vec::new();
    let mut open = 0;
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("not well-formed: {error}"));
        match &event {
            Event::Start(_) => open += 1,
            Event::End(_) => open -= 1,
            Event::Eof => break,
            _ => {}
        }
        let (Event::Start(tag) | Event::Empty(tag)) = &event else {
            parts.push(Part::Text(format!("{event:?}")));
            continue;
        };
        parts.push(Part::Text(format!("{:?}", tag.name())));
        for attribute in tag.attributes() {
            let attribute = attribute.unwrap_or_else(|error| panic!("not well-formed: {error}"));
            let value = &attribute.value;
            parts.push(if attribute.key.as_ref() == "points" {
                let numbers = value.split([' ', ',']).filter(|number| !number.is_empty());
                Part::Points(numbers.map(|number| number.parse().expect("a whole number")).collect())
            } else {
                Part::Text(format!("{:?} {value}", attribute.key))
            });
        }
    }
    assert_eq!(open, 0, "not well-formed: elements left open");
    parts
}

/// Panics with `advice` unless both are well-formed and the same drawing. Points of lines may differ by one unit,
/// because another machine rounds sines and cosines differently.
pub fn assert_same_drawing(kept: &str, drawn: &str, advice: &str) {
    let (kept, drawn) = (parts(kept), parts(drawn));
    assert_eq!(kept.len(), drawn.len(), "another number of elements and attributes: {advice}");
    for pair in kept.iter().zip(&drawn) {
        match pair {
            (Part::Points(kept), Part::Points(drawn)) if kept.len() == drawn.len() => {
                let largest = kept.iter().zip(drawn).map(|(kept, drawn)| kept.abs_diff(*drawn)).max();
                assert!(largest <= Some(1), "a line is {largest:?} units away: {advice}");
            }
            (kept, drawn) => assert_eq!(kept, drawn, "{advice}"),
        }
    }
}
