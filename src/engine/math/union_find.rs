//! Disjoint sets, merged two by two (union-find with path halving).

/// Sets of nodes, merged two by two.
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    /// A smaller node of the same set, or the node itself where it is the smallest.
    leaders: Vec<usize>,
}

impl UnionFind {
    /// Every node on its own.
    pub fn new(nodes: usize) -> UnionFind {
        UnionFind { leaders: (0..nodes).collect() }
    }

    /// Takes all sets apart.
    pub fn reset(&mut self, nodes: usize) {
        self.leaders.clear();
        self.leaders.extend(0..nodes);
    }

    /// The smallest node that a node is sets with.
    pub fn leader(&mut self, mut node: usize) -> usize {
        while self.leaders[node] != node {
            self.leaders[node] = self.leaders[self.leaders[node]];
            node = self.leaders[node];
        }
        node
    }

    /// Merges the sets of two nodes.
    pub fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.leader(one), self.leader(other));
        self.leaders[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_has_the_smallest_as_leader() {
        let mut sets = UnionFind::new(6);
        for (one, other) in [(4, 5), (3, 4), (0, 2)] {
            sets.join(one, other);
        }
        let leaders: Vec<usize> = (0..6).map(|node| sets.leader(node)).collect();
        assert_eq!(leaders, [0, 1, 0, 3, 3, 3]);
    }
}
