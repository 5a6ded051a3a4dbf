//! STL, text and binary. Corners of the same place are one corner; the normals in the file are not looked at, because
//! the order of the corners says the same.

use super::{FileFault, MAX_TRIANGLES, Raw, number, shortened, too_many};
use std::collections::HashMap;

const HEADER: usize = 84;
const FACET: usize = 50;

/// The triangles of an STL file.
pub fn read(bytes: &[u8]) -> Result<Raw, FileFault> {
    let is_text = bytes.trim_ascii_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"solid"));
    match claimed(bytes) {
        // Binary files may start with the same word.
        Some(count) if length(count) == bytes.len() as u64 => binary(bytes),
        _ if is_text => text(bytes),
        Some(count) => Err(FileFault::new(
            format!(
                "is damaged: it says that it has {count} triangles, for which it would be {} bytes long, and has {}",
                length(count),
                bytes.len()
            ),
            "export or copy the shape again",
        )),
        None => Err(FileFault::new("is no STL file", "export the shape as .stl (text or binary) or .obj")),
    }
}

/// The number of triangles in the header of a binary file.
fn claimed(bytes: &[u8]) -> Option<u32> {
    let count = bytes.get(HEADER - 4..HEADER)?;
    Some(u32::from_le_bytes(count.try_into().ok()?))
}

/// Bytes of a binary file with so many triangles.
fn length(count: u32) -> u64 {
    HEADER as u64 + FACET as u64 * u64::from(count)
}

/// Gives each place one number.
#[derive(Default)]
struct Welder {
    mesh: Raw,
    numbers: HashMap<[u64; 3], u32>,
}

impl Welder {
    fn triangle(&mut self, corners: [[f64; 3]; 3]) -> Result<(), FileFault> {
        let numbers = corners.map(|corner| {
            // Zero of either sign is the same place.
            let key = corner.map(|x| (x + 0.0).to_bits());
            *self.numbers.entry(key).or_insert_with(|| {
                self.mesh.corners.push(corner);
                self.mesh.corners.len() as u32 - 1
            })
        });
        self.mesh.push(numbers)
    }
}

fn binary(bytes: &[u8]) -> Result<Raw, FileFault> {
    let facets = bytes[HEADER..].chunks_exact(FACET);
    if facets.len() > MAX_TRIANGLES {
        return Err(too_many());
    }
    let mut welder = Welder::default();
    for (index, facet) in facets.enumerate() {
        let mut corners = [[0.0; 3]; 3];
        for (place, bytes) in facet[12..48].chunks_exact(4).enumerate() {
            let value = f32::from_le_bytes(bytes.try_into().expect("four bytes"));
            if !value.is_finite() {
                return Err(FileFault::new(
                    format!("has a number that is not finite in triangle {}", index + 1),
                    "export the shape again",
                ));
            }
            corners[place / 3][place % 3] = f64::from(value);
        }
        welder.triangle(corners)?;
    }
    Ok(welder.mesh)
}

fn text(bytes: &[u8]) -> Result<Raw, FileFault> {
    let text = String::from_utf8_lossy(bytes);
    let mut welder = Welder::default();
    let mut corners = Vec::with_capacity(3);
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let mut words = line.split_whitespace();
        let Some(word) = words.next() else { continue };
        match word.to_ascii_lowercase().as_str() {
            "vertex" => {
                let mut corner = [0.0; 3];
                for place in &mut corner {
                    *place = number(words.next().unwrap_or_default(), line_number)?;
                }
                corners.push(corner);
            }
            "endfacet" => {
                let triangle = <[_; 3]>::try_from(&corners[..]).map_err(|_| {
                    let count = corners.len();
                    FileFault::new(
                        format!("has a facet with {count} corners on line {line_number}"),
                        "facets of STL are triangles: export the shape again",
                    )
                })?;
                welder.triangle(triangle)?;
                corners.clear();
            }
            "solid" | "endsolid" | "facet" | "outer" | "endloop" => {}
            _ => {
                return Err(FileFault::new(
                    format!("is no STL file: line {line_number} starts with {}", shortened(word)),
                    "export the shape as .stl (text or binary) or .obj",
                ));
            }
        }
    }
    if !corners.is_empty() {
        return Err(FileFault::new("ends within a facet", "export or copy the shape again"));
    }
    Ok(welder.mesh)
}
