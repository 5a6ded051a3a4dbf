//! Copies of a node on a grid: one entry of the file, many nodes.

use super::diagnostics::Problem;
use super::file::{CopiesEntry, ModelFile, NodeEntry};
use toml::Spanned;

/// Most nodes that entries may be copied to.
pub const MAX_COPIES: usize = 100_000;

/// Replaces every entry with copies by them: `ball_1`, `ball_2`, ... along x first, then y, then z.
pub(super) fn expand(file: &mut ModelFile) -> Result<(), Vec<Problem>> {
    let mut nodes = Vec::with_capacity(file.node.len());
    let mut problems = Vec::new();
    for entry in file.node.drain(..) {
        match &entry.copies {
            None => nodes.push(entry),
            Some(copies) => {
                let total: u64 = copies.get_ref().count.iter().map(|&count| u64::from(count)).product();
                if nodes.len() as u64 + total > MAX_COPIES as u64 {
                    let message = format!("the model would have more than {MAX_COPIES} nodes");
                    problems.push(Problem::at(copies.span(), message).hint("take a smaller `count`"));
                } else {
                    let copies = copies.get_ref().clone();
                    nodes.extend((0..total as usize).map(|index| copy(&entry, &copies, index)));
                }
            }
        }
    }
    file.node = nodes;
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn copy(entry: &NodeEntry, copies: &CopiesEntry, index: usize) -> NodeEntry {
    let [x, y, _] = copies.count.map(|count| count as usize);
    let place = [index % x, index / x % y, index / (x * y)];
    let first = entry.position.as_ref().map_or([0.0; 3], |position| *position.get_ref());
    let position = std::array::from_fn(|axis| {
        // Parts of multiples of irrational numbers fill the unit cube evenly. [Roberts 2018]
        const FACTORS: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3];
        let aside = copies.scatter * (2.0 * ((index + 1) as f64 * FACTORS[axis]).fract() - 1.0);
        first[axis] + copies.spacing[axis] * place[axis] as f64 + aside
    });
    let span = entry.position.as_ref().map_or(entry.name.span(), Spanned::span);
    NodeEntry {
        name: Spanned::new(entry.name.span(), format!("{}_{}", entry.name.get_ref(), index + 1)),
        position: Some(Spanned::new(span, position)),
        copies: None,
        ..entry.clone()
    }
}
