//! A tree of boxes along the axes, to find those that are near: halved at the middle one along the longest extent.
//!
//! The broad phase makes it anew each time: it carries nothing over from the last step, so that a restored state goes on
//! bit by bit. parry's tree would do the same with SIMD, whose paths differ from platform to platform.

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

/// A tree of boxes; its memory is kept.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    branches: Vec<Branch>,
    items: Vec<u32>,
    boxes: Vec<Bounds>,
}

impl Tree {
    /// Makes it the tree of some boxes.
    pub fn build(&mut self, boxes: impl Iterator<Item = Bounds>) {
        self.boxes.clear();
        self.boxes.extend(boxes);
        self.branches.clear();
        let mut items = std::mem::take(&mut self.items);
        items.clear();
        items.extend(0..self.boxes.len() as u32);
        let count = items.len();
        self.grow(&mut items, 0, count);
        self.items = items;
    }

    /// Reports every two boxes that meet, the smaller index first.
    pub fn meetings(&self, found: &mut impl FnMut(usize, usize)) {
        for (index, one) in self.boxes.iter().enumerate() {
            self.visit(one, 0.0, &mut |other| {
                if other > index {
                    found(index, other);
                }
                0.0
            });
        }
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
        const DEEPEST: usize = u64::BITS as usize;
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
        let mut tree = Tree::default();
        tree.build(boxes.iter().copied());
        let mut pairs = Vec::new();
        tree.meetings(&mut |one, other| pairs.push((one, other)));
        pairs.sort_unstable();
        let every = (0..1000).flat_map(|one| (one + 1..1000).map(move |other| (one, other)));
        let meet = |&(one, other): &(usize, usize)| boxes[one].meets(&boxes[other]);
        assert_eq!(pairs, every.filter(meet).collect::<Vec<_>>());
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

    #[test]
    fn boxes_that_coincide_are_all_found() {
        let mut tree = Tree::default();
        for count in [0, 1, 100] {
            tree.build((0..count).map(|_| Bounds::around([Vector3::zeros()])));
            let mut found = 0;
            tree.meetings(&mut |_, _| found += 1);
            assert_eq!(2 * found, count * (count.max(1) - 1));
        }
    }
}
