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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_blocks_connect() {
        let mut problem = ConeProblem::default();
        problem.reset(5);
        let block = [[1.0; 3]; 3];
        // 0 - 3 - 1, and 2, 4 on their own.
        for (contact, neighbours) in [vec![3], vec![3], vec![], vec![0, 1], vec![]].into_iter().enumerate() {
            problem.w.begin_row(block);
            for neighbour in neighbours {
                assert_ne!(neighbour, contact);
                problem.w.push(neighbour, block);
            }
        }
        let mut parts = Parts::default();
        for _ in 0..2 {
            parts.find(&problem);
            let found: Vec<&[usize]> = (0..parts.count()).map(|part| parts.members(part)).collect();
            assert_eq!(found, [&[0, 3, 1][..], &[2], &[4]]);
            assert_eq!(parts.position(), [0, 2, 0, 1, 0]);
        }
        parts.find(&ConeProblem::default());
        assert_eq!(parts.count(), 0);
    }
}
