//! OBJ: corners (`v`) and faces (`f`), which are cut into triangles from their first corner. What else there is, such as
//! normals, textures and groups, says nothing about contact.

use super::{FileFault, Raw, number, shortened};

/// The triangles of an OBJ file.
pub fn read(bytes: &[u8]) -> Result<Raw, FileFault> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| FileFault::new("is no OBJ file: it is not text", "export the shape as .stl or .obj"))?;
    let mut mesh = Raw::default();
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut corner = [0.0; 3];
                for place in &mut corner {
                    *place = number(words.next().unwrap_or_default(), line_number)?;
                }
                mesh.corners.push(corner);
            }
            Some("f") => {
                let first = corner(words.next(), &mesh, line_number)?;
                let mut last = corner(words.next(), &mesh, line_number)?;
                let mut next = corner(words.next(), &mesh, line_number)?;
                loop {
                    mesh.push([first, last, next])?;
                    let Some(word) = words.next() else { break };
                    (last, next) = (next, corner(Some(word), &mesh, line_number)?);
                }
            }
            Some(word) if is_known(word) => {}
            None => {}
            Some(word) => {
                return Err(FileFault::new(
                    format!("is no OBJ file: line {line_number} starts with {}", shortened(word)),
                    "export the shape as .stl or .obj",
                ));
            }
        }
    }
    Ok(mesh)
}

/// Whether a line with this word is one of the format.
fn is_known(word: &str) -> bool {
    const KNOWN: [&str; 16] = [
        "vn",
        "vt",
        "vp",
        "o",
        "g",
        "s",
        "l",
        "p",
        "mtllib",
        "usemtl",
        "mg",
        "lod",
        "shadow_obj",
        "trace_obj",
        "bevel",
        "c_interp",
    ];
    word.starts_with('#') || KNOWN.contains(&word)
}

/// The corner that a word such as `7`, `7/1/3` or `-1` means; negative numbers count from the last one.
fn corner(word: Option<&str>, mesh: &Raw, line: usize) -> Result<u32, FileFault> {
    let Some(word) = word else {
        return Err(FileFault::new(
            format!("has a face with fewer than three corners on line {line}"),
            "export the shape again",
        ));
    };
    let text = word.split('/').next().unwrap_or_default();
    let count = mesh.corners.len() as i64;
    let index = text.parse::<i64>().ok().map(|number| if number < 0 { count + number } else { number - 1 });
    match index {
        Some(index) if (0..count).contains(&index) => Ok(index as u32),
        Some(_) => Err(FileFault::new(
            format!("has a face with corner {text} on line {line}, and {count} corners up to there"),
            "export the shape again",
        )),
        None => Err(FileFault::new(
            format!("has a face with {} in place of a corner on line {line}", shortened(word)),
            "export the shape again",
        )),
    }
}
