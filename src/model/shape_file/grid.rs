//! Heights as a grid of numbers: a row of the file is a row along x, the next row is one cell farther along y. The
//! middle of the grid is the origin. Each cell is two triangles, cut from its lower left corner to its upper right one.

use super::{FileFault, MAX_TRIANGLES, Raw, number, too_many};

/// The surface over the grid.
pub fn read(bytes: &[u8], cell: [f64; 2]) -> Result<Raw, FileFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        FileFault::new("is not text", "a heightfield is a text file with rows of numbers, heights in m")
    })?;
    let mut heights: Vec<f64> = Vec::new();
    let (mut columns, mut rows) = (0, 0);
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let before = heights.len();
        for word in line.split(|c: char| c.is_whitespace() || c == ',' || c == ';') {
            if !word.is_empty() {
                heights.push(number(word, index + 1)?);
            }
        }
        let count = heights.len() - before;
        if count == 0 {
            continue;
        }
        if rows > 0 && count != columns {
            return Err(FileFault::new(
                format!("has {count} numbers on line {}, and {columns} on those before", index + 1),
                "all rows of a heightfield have the same number of heights",
            ));
        }
        (columns, rows) = (count, rows + 1);
        if 2 * (columns - 1) * (rows - 1) > MAX_TRIANGLES {
            return Err(too_many());
        }
    }
    if rows < 2 || columns < 2 {
        return Err(FileFault::new(
            format!("has {rows} rows of {columns} heights"),
            "a heightfield has at least two rows of two heights: numbers in m, separated by blanks",
        ));
    }
    let place = |index: usize, count: usize, step: f64| (index as f64 - 0.5 * (count - 1) as f64) * step;
    let corners = heights.iter().enumerate().map(|(index, &height)| {
        [place(index % columns, columns, cell[0]), place(index / columns, rows, cell[1]), height]
    });
    let mut mesh = Raw { corners: corners.collect(), triangles: Vec::new() };
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let corner = (row * columns + column) as u32;
            let above = corner + columns as u32;
            mesh.push([corner, corner + 1, above + 1])?;
            mesh.push([corner, above + 1, above])?;
        }
    }
    Ok(mesh)
}
