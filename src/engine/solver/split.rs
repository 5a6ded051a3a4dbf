//! Finds the independent parts of a cone problem.

use crate::engine::problem::cone::ConeProblem;

/// Contacts ordered part by part.
#[derive(Debug, Default)]
pub struct Parts {
    /// Contacts, part by part.
    order: Vec<usize>,
    /// Where parts start in `order`; one more than there are parts.
    starts: Vec<usize>,
    /// Where each contact stands within its part.
    position: Vec<usize>,
}

const UNSEEN: usize = usize::MAX;

impl Parts {
    /// Room for `contacts` contacts.
    pub fn with_capacity(contacts: usize) -> Parts {
        Parts {
            order: Vec::with_capacity(contacts),
            starts: Vec::with_capacity(contacts + 1),
            position: Vec::with_capacity(contacts),
        }
    }

    /// Finds the parts of a problem.
    pub fn find(&mut self, problem: &ConeProblem<f64>) {
        let contacts = problem.contacts();
        self.order.clear();
        self.starts.clear();
        self.position.clear();
        self.position.resize(contacts, UNSEEN);
        for first in 0..contacts {
            if self.position[first] != UNSEEN {
                continue;
            }
            let start = self.order.len();
            self.starts.push(start);
            self.position[first] = 0;
            self.order.push(first);
            let mut next = start;
            while next < self.order.len() {
                for (column, _) in problem.w.row(self.order[next]) {
                    if self.position[column] == UNSEEN {
                        self.position[column] = self.order.len() - start;
                        self.order.push(column);
                    }
                }
                next += 1;
            }
        }
        self.starts.push(self.order.len());
    }

    /// Number of parts.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Contacts of a part.
    pub fn members(&self, part: usize) -> &[usize] {
        &self.order[self.starts[part]..self.starts[part + 1]]
    }

    /// Where each contact stands within its part.
    pub fn position(&self) -> &[usize] {
        &self.position
    }
}
