//! Rules of `outputs`: every name stands for a variable.

use super::Validator;
use crate::model::Model;
use crate::model::diagnostics::{Problem, nearest};
use crate::model::file::ModelFile;
use crate::model::pattern::fits;
use crate::variables;
use toml::Spanned;

impl Validator<'_> {
    pub(super) fn outputs(&mut self, given: Option<&Spanned<Vec<Spanned<String>>>>) -> Option<Vec<String>> {
        given.map(|given| given.get_ref().iter().map(|name| name.get_ref().clone()).collect())
    }

    /// Every name in `outputs` fits a variable.
    pub(super) fn outputs_exist(&mut self, file: &ModelFile, model: &Model) {
        let Some(given) = &file.model.outputs else { return };
        if !self.problems.is_empty() {
            return;
        }
        let table = variables::table(&Model { outputs: None, ..model.clone() });
        for name in given.get_ref() {
            let text = name.get_ref();
            if table.iter().any(|variable| fits(text, &variable.name)) {
                continue;
            }
            let problem = Problem::at(name.span(), format!("no variable has the name `{text}`"));
            let known = table.iter().map(|variable| variable.name.as_str());
            self.problems.push(match nearest(text, known) {
                Some(near) if !text.contains('*') => problem.hint(format!("did you mean `{near}`?")),
                _ => problem.hint(
                    "\"*\" stands for any characters: \"ball.*\" for all variables of ball, \"*.gap\" for all gaps",
                ),
            });
        }
    }
}
