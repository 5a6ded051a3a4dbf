//! Broad phase: which of many boxes overlap.
//!
//! A tree over the boxes, halved along the longest side of their centres and made anew each time: it carries nothing
//! over from the last step, so that a restored state goes on bit by bit. parry's tree would do the same with SIMD, whose
//! paths differ from platform to platform.

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest coordinates.
    pub low: [f64; 3],
    /// Largest coordinates.
    pub high: [f64; 3],
}

impl Aabb {
    /// Whether two boxes share a point.
    #[inline]
    pub fn overlaps(&self, other: &Aabb) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }

    fn centre(&self, axis: usize) -> f64 {
        0.5 * (self.low[axis] + self.high[axis])
    }

    fn around(&self, other: &Aabb) -> Aabb {
        Aabb {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }
}

/// Boxes up to which a part of the tree is not halved.
const LEAF: usize = 4;
/// The tree is halved, so that it is never deeper.
const DEEPEST: usize = 64;

/// A tree over boxes; its memory is kept.
#[derive(Clone, Debug, Default)]
pub struct BoxTree {
    parts: Vec<Part>,
    /// Boxes, part by part.
    order: Vec<u32>,
}

/// A part of the tree: boxes `first..first + count` of the order.
#[derive(Clone, Copy, Debug)]
struct Part {
    bounds: Aabb,
    first: u32,
    count: u32,
    /// Place of the second half; the first one follows its parent. Zero where there are none.
    second: u32,
}

impl BoxTree {
    /// Makes the tree of the boxes.
    pub fn build(&mut self, boxes: &[Aabb]) {
        self.parts.clear();
        self.order.clear();
        self.order.extend(0..boxes.len() as u32);
        if !boxes.is_empty() {
            let mut order = std::mem::take(&mut self.order);
            self.halve(boxes, &mut order, 0);
            self.order = order;
        }
    }

    fn halve(&mut self, boxes: &[Aabb], order: &mut [u32], first: u32) {
        let mut bounds = boxes[order[0] as usize];
        let mut centres = bounds;
        for axis in 0..3 {
            (centres.low[axis], centres.high[axis]) = (bounds.centre(axis), bounds.centre(axis));
        }
        for &index in &order[1..] {
            let next = &boxes[index as usize];
            bounds = bounds.around(next);
            for axis in 0..3 {
                let centre = next.centre(axis);
                centres.low[axis] = centres.low[axis].min(centre);
                centres.high[axis] = centres.high[axis].max(centre);
            }
        }
        let place = self.parts.len();
        self.parts.push(Part { bounds, first, count: order.len() as u32, second: 0 });
        if order.len() <= LEAF {
            return;
        }
        let side = |axis: usize| centres.high[axis] - centres.low[axis];
        let longest = (1..3).fold(0, |best, axis| if side(axis) > side(best) { axis } else { best });
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |&one, &other| {
            let centre = |index: u32| boxes[index as usize].centre(longest);
            centre(one).total_cmp(&centre(other)).then(one.cmp(&other))
        });
        let (lower, upper) = order.split_at_mut(middle);
        self.halve(boxes, lower, first);
        self.parts[place].second = self.parts.len() as u32;
        self.halve(boxes, upper, first + middle as u32);
    }

    /// Reports every two boxes that overlap, the smaller index first. `boxes` are those that the tree was made of.
    pub fn overlaps(&self, boxes: &[Aabb], found: &mut impl FnMut(usize, usize)) {
        for (index, one) in boxes.iter().enumerate() {
            self.beside(boxes, one, &mut |other| {
                if other > index {
                    found(index, other);
                }
            });
        }
    }

    fn beside(&self, boxes: &[Aabb], one: &Aabb, found: &mut impl FnMut(usize)) {
        let mut waiting = [0_u32; DEEPEST];
        let mut count = usize::from(!self.parts.is_empty());
        while count > 0 {
            count -= 1;
            let place = waiting[count];
            let part = &self.parts[place as usize];
            if !part.bounds.overlaps(one) {
                continue;
            }
            if part.second == 0 {
                for &index in &self.order[part.first as usize..(part.first + part.count) as usize] {
                    if boxes[index as usize].overlaps(one) {
                        found(index as usize);
                    }
                }
            } else {
                waiting[count] = part.second;
                waiting[count + 1] = place + 1;
                count += 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_finds_what_a_look_at_every_pair_finds() {
        let mut tree = BoxTree::default();
        // Parts of multiples of irrational numbers; sizes from tiny to huge, and some boxes twice.
        let part = |index: usize, factor: f64| (index as f64 * factor).fract();
        for count in [0, 1, 2, 3, 5, 40, 500] {
            let boxes: Vec<Aabb> = (0..count)
                .map(|index| {
                    let index = index / 2 * 2 + index % 3;
                    let size = 0.3 * part(index, 0.123_456_789).powi(4);
                    let low = [0.819_172_513, 0.671_043_607, 0.549_700_478].map(|factor| part(index, factor));
                    Aabb { low, high: low.map(|low| low + size) }
                })
                .collect();
            tree.build(&boxes);
            let mut found = BTreeSet::new();
            tree.overlaps(&boxes, &mut |one, other| assert!(found.insert((one, other)), "reported twice"));
            let every = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
            let expected: BTreeSet<_> =
                every.filter(|&(one, other)| boxes[one].overlaps(&boxes[other])).collect();
            assert_eq!(found, expected);
            assert!(count < 40 || !found.is_empty());
        }
    }

    #[test]
    fn boxes_at_one_place_are_all_found() {
        let boxes = [Aabb { low: [0.0; 3], high: [0.0; 3] }; 100];
        let mut tree = BoxTree::default();
        tree.build(&boxes);
        let mut found = 0;
        tree.overlaps(&boxes, &mut |_, _| found += 1);
        assert_eq!(found, 100 * 99 / 2);
    }
}
