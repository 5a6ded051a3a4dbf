//! Rules of springs.

use super::Validator;
use super::tie::{anchors, in_world, same_place};
use crate::model::diagnostics::Problem;
use crate::model::file::{ModelFile, SpringEntry};
use crate::model::{Node, Spring};
use toml::Spanned;

impl Validator<'_> {
    /// The springs of all entries.
    pub(super) fn springs(&mut self, file: &ModelFile, nodes: &[Node]) -> Vec<Spring> {
        file.spring.iter().filter_map(|entry| self.spring(entry, nodes)).collect()
    }

    fn spring(&mut self, entry: &SpringEntry, nodes: &[Node]) -> Option<Spring> {
        let name = self.tie_name(&entry.name, "spring");
        let ends = self.ends(&entry.between, "spring", nodes)?;
        let ends = anchors(ends, entry.anchors.as_ref().map(|anchors| *anchors.get_ref()));
        let apart = in_world(&ends[1], nodes) - in_world(&ends[0], nodes);
        // Without length, a spring is alike in all directions and needs none.
        if entry.length > 0.0 && apart.norm() <= same_place(&ends, nodes) {
            let span = entry.anchors.as_ref().map_or(entry.between.span(), Spanned::span);
            self.problems.push(
                Problem::at(
                    span,
                    format!(
                        "the ends of spring `{name}` are at the same place at the start: it has no direction"
                    ),
                )
                .hint(format!(
                    "{NO_DIRECTION}; or leave out `length`: a spring without it needs no direction"
                )),
            );
        }
        Some(Spring { name, ends, stiffness: entry.stiffness, damping: entry.damping, length: entry.length })
    }
}

/// What to do about ends that are at the same place.
pub(super) const NO_DIRECTION: &str = "move a node, or give `anchors` that are apart; without them, ends are at the centres of nodes and the origin of the ground";
