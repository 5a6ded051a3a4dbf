//! Boxes within boxes, to find those that are near: halved at the middle one along the longest extent.

use nalgebra::Vector3;

/// A box along the axes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Least coordinates.
    pub low: Vector3<f64>,
    /// Largest coordinates.
    pub high: Vector3<f64>,
}

impl Bounds {
    /// The smallest box with all places in it.
    pub fn around(places: impl IntoIterator<Item = Vector3<f64>>) -> Bounds {
        let none = Bounds {
            low: Vector3::from_element(f64::INFINITY),
            high: Vector3::from_element(f64::NEG_INFINITY),
        };
        places.into_iter().fold(none, |bounds, place| bounds.joined(&Bounds { low: place, high: place }))
    }

    /// The smallest box with both in it.
    fn joined(&self, other: &Bounds) -> Bounds {
        Bounds { low: self.low.inf(&other.low), high: self.high.sup(&other.high) }
    }

    /// Longest extent.
    pub fn size(&self) -> f64 {
        (self.high - self.low).max()
    }

    /// Whether two boxes have a place in common.
    pub fn meets(&self, other: &Bounds) -> bool {
        self.distance_squared(other) <= 0.0
    }

    /// Square of the distance of two boxes.
    fn distance_squared(&self, other: &Bounds) -> f64 {
        let apart = (self.low - other.high).sup(&(other.low - self.high));
        apart.map(|x| x.max(0.0)).norm_squared()
    }
}

/// Boxes of a leaf.
const LEAF: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Branch {
    bounds: Bounds,
    /// First item of a leaf; else the second child, the first one comes next.
    place: u32,
    /// Items of a leaf, else none.
    count: u32,
}

/// A tree of boxes.
#[derive(Clone, Debug)]
pub struct Tree {
    branches: Vec<Branch>,
    items: Vec<u32>,
    boxes: Vec<Bounds>,
}

impl Tree {
    /// The tree of some boxes.
    pub fn new(boxes: impl Iterator<Item = Bounds>) -> Tree {
        let boxes: Vec<Bounds> = boxes.collect();
        let mut items: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut tree = Tree { branches: Vec::new(), items: Vec::new(), boxes };
        let count = items.len();
        tree.grow(&mut items, 0, count);
        tree.items = items;
        tree
    }

    fn grow(&mut self, items: &mut [u32], from: usize, to: usize) {
        let boxes = &self.boxes;
        let all = |range: &[u32]| {
            let none = Bounds::around([]);
            range.iter().fold(none, |bounds, &item| bounds.joined(&boxes[item as usize]))
        };
        let own = self.branches.len();
        let bounds = all(&items[from..to]);
        self.branches.push(Branch { bounds, place: from as u32, count: (to - from) as u32 });
        if to - from <= LEAF {
            return;
        }
        let axis = (bounds.high - bounds.low).imax();
        let middle = (from + to) / 2;
        let twice_center = |item: &u32| boxes[*item as usize].low[axis] + boxes[*item as usize].high[axis];
        items[from..to].select_nth_unstable_by(middle - from, |one, other| {
            twice_center(one).total_cmp(&twice_center(other)).then(one.cmp(other))
        });
        self.grow(items, from, middle);
        self.branches[own].place = self.branches.len() as u32;
        self.branches[own].count = 0;
        self.grow(items, middle, to);
    }

    /// One of the boxes.
    pub fn bounds_of(&self, item: usize) -> &Bounds {
        &self.boxes[item]
    }

    /// Box around all.
    pub fn bounds(&self) -> Bounds {
        self.branches[0].bounds
    }

    /// Visits items whose boxes are nearer to `to` than `within`, the nearer branch first. The visitor returns what is
    /// near enough from then on.
    pub fn visit(&self, to: &Bounds, mut within: f64, visitor: &mut impl FnMut(usize) -> f64) {
        /// The depth of halves of four thousand million is 32.
        const DEEPEST: usize = 64;
        let mut waiting = [(0_u32, 0.0_f64); DEEPEST];
        let mut count = 1;
        waiting[0].1 = self.branches[0].bounds.distance_squared(to);
        while count > 0 {
            count -= 1;
            let (index, distance) = waiting[count];
            if within < 0.0 || distance > within * within {
                continue;
            }
            let branch = &self.branches[index as usize];
            if branch.count > 0 {
                for &item in &self.items[branch.place as usize..(branch.place + branch.count) as usize] {
                    if within >= 0.0 && self.boxes[item as usize].distance_squared(to) <= within * within {
                        within = visitor(item as usize);
                    }
                }
                continue;
            }
            let mut children = [index + 1, branch.place]
                .map(|child| (child, self.branches[child as usize].bounds.distance_squared(to)));
            if children[0].1 < children[1].1 {
                children.swap(0, 1);
            }
            waiting[count..count + 2].copy_from_slice(&children);
            count += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::Numbers;
    use super::*;

    #[test]
    fn it_finds_what_trying_all_finds() {
        let mut numbers = Numbers::new();
        let mut bounds = |size: f64| {
            let place = numbers.vector();
            Bounds { low: place, high: place + numbers.vector().abs() * size }
        };
        let boxes: Vec<Bounds> = (0..1000).map(|_| bounds(0.1)).collect();
        let tree = Tree::new(boxes.iter().copied());
        for within in [0.0, 0.05, 0.3, f64::INFINITY] {
            for _ in 0..20 {
                let to = bounds(0.2);
                let mut found = Vec::new();
                tree.visit(&to, within, &mut |item| {
                    found.push(item);
                    within
                });
                found.sort_unstable();
                let near = |item: &usize| boxes[*item].distance_squared(&to) <= within * within;
                assert_eq!(found, (0..1000).filter(near).collect::<Vec<_>>());
                let mut nearest = f64::INFINITY;
                tree.visit(&to, f64::INFINITY, &mut |item| {
                    nearest = nearest.min(boxes[item].distance_squared(&to).sqrt());
                    nearest
                });
                let expected =
                    boxes.iter().map(|item| item.distance_squared(&to)).fold(f64::INFINITY, f64::min);
                assert_eq!(nearest, expected.sqrt());
            }
        }
    }
}
