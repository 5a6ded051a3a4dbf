//! Derivatives of one result with respect to everything at once: a step run over [`Traced`] numbers notes its operations on
//! a [`Tape`], and a pass from its end to its start carries the derivative of the result back [Griewank and Walther 2008].
//!
//! A number changes as another one does, times its slope. Operations with one number that changes, or with two that change as
//! the same one, change the slope alone; only what depends on two others, and on neither by nothing, is noted. Where all that
//! is known changes as one number nothing is noted, and slopes are directional derivatives: a library has the step once for
//! both.
//!
//! Branches look at values only, so that the notes are those of the active set that the step has found. The solution of a
//! contact problem, or of the linear system of springs and joints, is one note: its pass back is the transposed linear system,
//! not the iterations of the solver or the elimination.

use super::scalar::elementary;
use super::scalar::{Scalar, assign_by_operators};
use num_traits::{One, Zero};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// Notes that a tape takes at most: 400 MB with what the pass back needs. It says so where that is not enough.
const MOST_NOTES: usize = 12_500_000;
/// Notes, and slopes, for which memory is kept between derivatives: 44 MB.
const KEPT_NOTES: usize = 1_000_000;
/// Notes that it has room for at first.
const FIRST_NOTES: usize = 4096;

/// A number that changes as another one does, times its slope, unless it is constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced {
    value: f64,
    slope: f64,
    /// Place of the other one's note; [`CONSTANT`] and [`DIRECTION`] have none.
    place: u32,
}

/// Of what does not change; its slope is zero.
const CONSTANT: u32 = 0;
/// Of what changes in the direction of a directional derivative.
const DIRECTION: u32 = BLOCK - 1;
/// Added to the number of rows, in place of the first place, in the note that ends a block: the second is that of columns.
const BLOCK: u32 = 1 << (u32::BITS - 1);

/// How a number changes with the two that it was made of; at the end of a block, its size.
#[derive(Clone, Copy, Debug)]
struct Note {
    places: [u32; 2],
    slopes: [f64; 2],
}

/// The transpose of a linear map, in place.
type Transposed = Box<dyn Fn(&mut [f64])>;

/// Changes of several numbers, from `first` on, that are a linear function of changes of others.
struct Linear {
    first: u32,
    /// Places of the others, and slopes.
    from: Vec<(u32, f64)>,
    transposed: Transposed,
}

#[derive(Default)]
struct Notes {
    notes: Vec<Note>,
    /// Slopes of functions of several numbers, block by block and row by row, and the places of the numbers.
    slopes: Vec<f64>,
    places: Vec<u32>,
    linear: Vec<Linear>,
    /// Whether there is a tape.
    is_on: bool,
    /// Whether notes had to be left out.
    is_full: bool,
}

impl Notes {
    const NONE: Notes = Notes {
        notes: Vec::new(),
        slopes: Vec::new(),
        places: Vec::new(),
        linear: Vec::new(),
        is_on: false,
        is_full: false,
    };

    #[inline(always)]
    fn push(&mut self, note: Note) -> u32 {
        if self.notes.len() == self.notes.capacity() && !self.grow() {
            return CONSTANT;
        }
        let place = self.notes.len();
        self.notes.push(note);
        place as u32
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let more = self.notes.len().clamp(FIRST_NOTES, MOST_NOTES);
        let has_room = self.has_room(more) && self.notes.try_reserve_exact(more).is_ok();
        self.is_full |= !has_room;
        has_room
    }

    /// Whether so many notes more are not too many. Two slopes take as much memory as a note.
    fn has_room(&self, more: usize) -> bool {
        self.is_on && self.notes.len() + self.slopes.len() / 2 + more <= MOST_NOTES
    }

    /// Notes a function of several numbers. Returns the place of its first value.
    #[inline]
    fn push_block<const M: usize, const N: usize>(
        &mut self,
        of: &[Traced; N],
        slopes: &[[f64; N]; M],
    ) -> u32 {
        let is_short = self.slopes.capacity() - self.slopes.len() < M * N
            || self.places.capacity() - self.places.len() < N;
        if is_short && !self.grow_blocks(M * N, N) {
            return CONSTANT;
        }
        for row in slopes {
            let scaled: [f64; N] = std::array::from_fn(|column| row[column] * of[column].slope);
            self.slopes.extend_from_slice(&scaled);
        }
        self.places.extend_from_slice(&of.map(|number| number.place));
        for _ in 1..M {
            self.push(Note::NONE);
        }
        let last = self.push(Note { places: [BLOCK + M as u32, N as u32], ..Note::NONE });
        if last == CONSTANT { CONSTANT } else { last + 1 - M as u32 }
    }

    #[cold]
    #[inline(never)]
    fn grow_blocks(&mut self, slopes: usize, places: usize) -> bool {
        let more = self.slopes.len().max(FIRST_NOTES).max(slopes);
        let has_room = self.has_room(more / 2)
            && self.slopes.try_reserve(more).is_ok()
            && self.places.try_reserve(self.places.len().max(FIRST_NOTES).max(places)).is_ok();
        self.is_full |= !has_room;
        has_room
    }
}

thread_local! {
    // Not dropped with the thread: what is there belongs to the tape that `record` gives back.
    static NOTES: RefCell<ManuallyDrop<Notes>> = const { RefCell::new(ManuallyDrop::new(Notes::NONE)) };
}

/// What changes with two others.
#[inline]
fn made_of_two(value: f64, [one, other]: [Traced; 2], [slope, other_slope]: [f64; 2]) -> Traced {
    if other.place == CONSTANT {
        return made_of_one(value, one, slope);
    }
    if one.place == CONSTANT {
        return made_of_one(value, other, other_slope);
    }
    let (slope, other_slope) = (slope * one.slope, other_slope * other.slope);
    if one.place == other.place {
        return Traced { value, slope: slope + other_slope, ..one };
    }
    if other_slope == 0.0 {
        return Traced { value, slope, ..one };
    }
    if slope == 0.0 {
        return Traced { value, slope: other_slope, ..other };
    }
    let place = note(one.place, other.place, slope, other_slope);
    Traced::from(value).noted(place)
}

/// What changes with one other.
#[inline(always)]
fn made_of_one(value: f64, one: Traced, slope: f64) -> Traced {
    if one.place == CONSTANT {
        Traced::from(value)
    } else {
        Traced { value, slope: slope * one.slope, ..one }
    }
}

/// Notes what changes with two others. Not inlined: there are many operations. Its arguments fit into registers, and stay there
/// where there is room.
#[inline(never)]
fn note(one: u32, other: u32, slope: f64, other_slope: f64) -> u32 {
    // `try_with` is inlined, which `with` is not. There is always one.
    let place = NOTES.try_with(|notes| {
        let notes = &mut notes.try_borrow_mut().ok()?.notes;
        let place = notes.len();
        if place == notes.capacity() {
            return None;
        }
        notes.push(Note { places: [one, other], slopes: [slope, other_slope] });
        Some(place as u32)
    });
    match place {
        Ok(Some(place)) => place,
        _ => note_with_more_room(one, other, slope, other_slope),
    }
}

#[cold]
#[inline(never)]
fn note_with_more_room(one: u32, other: u32, slope: f64, other_slope: f64) -> u32 {
    NOTES.with_borrow_mut(|notes| notes.push(Note { places: [one, other], slopes: [slope, other_slope] }))
}

/// A list of operations, and memory for it.
#[derive(Default)]
pub struct Tape {
    notes: Notes,
    /// Derivative of the result, by note.
    adjoints: Vec<f64>,
}

/// Puts the notes of a thread back into their tape, also after a panic.
struct Recording<'a> {
    tape: &'a mut Tape,
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        NOTES.with_borrow_mut(|notes| std::mem::swap(&mut **notes, &mut self.tape.notes));
        self.tape.notes.is_on = false;
    }
}

impl Tape {
    /// Notes the operations of `work` on numbers that come from [`Traced::variable`]. None where there was not enough room.
    pub fn record<T>(&mut self, work: impl FnOnce() -> T) -> Option<T> {
        self.forget();
        (self.notes.is_on, self.notes.is_full) = (true, false);
        NOTES.with_borrow_mut(|notes| std::mem::swap(&mut **notes, &mut self.notes));
        let recording = Recording { tape: self };
        // The place of constants.
        NOTES.with_borrow_mut(|notes| notes.push(Note::NONE));
        let result = work();
        drop(recording);
        (!self.notes.is_full).then_some(result)
    }

    /// Derivatives of the sum of `results`, each times its factor. Those with respect to single numbers are then known to
    /// [`Tape::derivative`].
    pub fn pass_back(&mut self, results: impl Iterator<Item = (Traced, f64)>) {
        let Tape { notes: Notes { notes, linear, slopes, places, .. }, adjoints } = self;
        adjoints.clear();
        adjoints.resize(notes.len(), 0.0);
        for (result, factor) in results {
            adjoints[result.place as usize] += factor * result.slope;
        }
        let mut end = notes.len();
        let mut blocks = (&slopes[..], &places[..]);
        for linear in linear.iter().rev() {
            let first = linear.first as usize;
            let last = first + linear.from.len();
            pass_back(&notes[last..end], last, &mut blocks, adjoints);
            let mut changes = adjoints[first..last].to_vec();
            (linear.transposed)(&mut changes);
            for (&(place, slope), change) in linear.from.iter().zip(changes) {
                adjoints[place as usize] += slope * change;
            }
            end = first;
        }
        pass_back(&notes[1..end.max(1)], 1, &mut blocks, adjoints);
    }

    /// Forgets all notes, and gives back the memory of many.
    fn forget(&mut self) {
        self.notes.notes.clear();
        self.notes.slopes.clear();
        self.notes.places.clear();
        self.notes.linear.clear();
        self.notes.notes.shrink_to(KEPT_NOTES);
        self.notes.slopes.shrink_to(KEPT_NOTES);
        self.notes.places.shrink_to(KEPT_NOTES);
        self.adjoints.clear();
        self.adjoints.shrink_to(KEPT_NOTES);
    }

    /// Derivative with respect to a number, after [`Tape::pass_back`].
    pub fn derivative(&self, number: Traced) -> f64 {
        if number.place == CONSTANT { 0.0 } else { self.adjoints[number.place as usize] }
    }
}

/// Passes back over the notes from `first` on, and over the blocks of slopes and places that end there.
fn pass_back(notes: &[Note], first: usize, blocks: &mut (&[f64], &[u32]), adjoints: &mut [f64]) {
    let mut index = notes.len();
    while index > 0 {
        let Note { places: [one, other], slopes } = notes[index - 1];
        if one & BLOCK != 0 {
            let (rows, columns) = ((one - BLOCK) as usize, other as usize);
            index -= rows;
            pass_back_block(first + index, (rows, columns), blocks, adjoints);
            continue;
        }
        index -= 1;
        let adjoint = adjoints[first + index];
        if adjoint != 0.0 {
            adjoints[one as usize] += slopes[0] * adjoint;
            adjoints[other as usize] += slopes[1] * adjoint;
        }
    }
}

/// Passes back over a function of several numbers, whose values are from `first` on.
#[inline]
fn pass_back_block(
    first: usize,
    (rows, columns): (usize, usize),
    blocks: &mut (&[f64], &[u32]),
    adjoints: &mut [f64],
) {
    let (slopes, places) = *blocks;
    let (slopes, block) = slopes.split_at(slopes.len() - rows * columns);
    let (places, of) = places.split_at(places.len() - columns);
    *blocks = (slopes, places);
    for (row, slopes) in block.chunks_exact(columns).enumerate() {
        let adjoint = adjoints[first + row];
        if adjoint != 0.0 {
            for (&place, slope) in of.iter().zip(slopes) {
                adjoints[place as usize] += slope * adjoint;
            }
        }
    }
}

impl Traced {
    /// A number with respect to which derivatives are asked for: `number` itself where it is one already.
    pub fn variable(number: Traced) -> Traced {
        match number.place {
            CONSTANT => number.noted(NOTES.with_borrow_mut(|notes| notes.push(Note::NONE))),
            _ => number,
        }
    }

    /// The number where it has a note of its own.
    #[inline(always)]
    fn noted(self, place: u32) -> Traced {
        Traced { slope: if place == CONSTANT { 0.0 } else { 1.0 }, place, ..self }
    }

    /// The number with another derivative in the one direction that there is.
    pub fn with_tangent(self, tangent: f64) -> Traced {
        Traced { slope: tangent, place: DIRECTION, ..self }
    }

    /// Its directional derivative; of no meaning on a tape.
    pub fn tangent(self) -> f64 {
        self.slope
    }

    /// Replaces changes that are all those of one number by a linear function of them. Returns whether they are.
    pub fn map_along(changes: &mut [Traced], map: impl FnOnce(&mut [f64])) -> bool {
        let place = changes.iter().fold(CONSTANT, |place, change| place | change.place);
        if place == CONSTANT {
            return true;
        }
        if !changes.iter().all(|change| change.place == CONSTANT || change.place == place) {
            return false;
        }
        let mut slopes: Vec<f64> = changes.iter().map(|change| change.slope).collect();
        map(&mut slopes);
        for (change, slope) in changes.iter_mut().zip(slopes) {
            *change = Traced { value: 0.0, slope, place };
        }
        true
    }

    /// Replaces changes that are noted by a linear function of them, whose transpose is given.
    pub fn map_noted(changes: &mut [Traced], transposed: impl Fn(&mut [f64]) + 'static) {
        NOTES.with_borrow_mut(|notes| {
            let from = changes.iter().map(|change| (change.place, change.slope)).collect();
            let first = notes.notes.len() as u32;
            for change in changes.iter_mut() {
                *change = Traced::from(0.0).noted(notes.push(Note::NONE));
            }
            if !notes.is_full {
                notes.linear.push(Linear { first, from, transposed: Box::new(transposed) });
            }
        });
    }
}

impl Note {
    /// Of a number that was not made of others.
    const NONE: Note = Note { places: [0; 2], slopes: [0.0; 2] };
}

impl Scalar for Traced {
    #[inline(always)]
    fn value(self) -> f64 {
        self.value
    }
    fn sqrt(self) -> Traced {
        let root = self.value.sqrt();
        made_of_one(root, self, if root > 0.0 { 0.5 / root } else { 0.0 })
    }
    fn power(self, exponent: f64) -> Traced {
        let (value, slope) = elementary::power_and_slope(self.value, exponent);
        made_of_one(value, self, slope)
    }
    fn bits(self, found: &mut impl FnMut(u64)) {
        found(self.value.to_bits());
        found(self.slope.to_bits());
        found(u64::from(self.place));
    }
    fn change(self) -> Traced {
        Traced { value: 0.0, ..self }
    }
    #[inline]
    fn less(self, change: Traced, factor: f64) -> Traced {
        let value = self.value - change.value * factor;
        if change.place == CONSTANT || factor == 0.0 {
            return Traced { value, ..self };
        }
        made_of_two(value, [self, change], [1.0, -factor])
    }
    #[inline]
    fn function<const M: usize, const N: usize>(
        values: [f64; M],
        of: [Traced; N],
        slopes: impl FnOnce() -> [[f64; N]; M],
    ) -> [Traced; M] {
        let place = of.iter().fold(CONSTANT, |place, number| place | number.place);
        if place == CONSTANT {
            return values.map(Traced::from);
        }
        let slopes = slopes();
        if of.iter().all(|number| number.place == CONSTANT || number.place == place) {
            return std::array::from_fn(|row| {
                let changing = of.iter().zip(slopes[row]).filter(|(number, _)| number.place == place);
                let slope = changing.map(|(number, slope)| slope * number.slope).sum();
                Traced { value: values[row], slope, place }
            });
        }
        let first = NOTES.with_borrow_mut(|notes| notes.push_block(&of, &slopes));
        if first == CONSTANT {
            return values.map(Traced::from);
        }
        std::array::from_fn(|row| Traced::from(values[row]).noted(first + row as u32))
    }
    fn aside<T>(work: impl FnOnce() -> T) -> T {
        let noted = NOTES.with_borrow_mut(|notes| std::mem::replace(&mut **notes, Notes::NONE));
        let result = work();
        NOTES.with_borrow_mut(|notes| **notes = noted);
        result
    }
    fn map_changes(changes: &mut [Traced], map: impl Fn(&mut [f64]) + 'static) {
        if !Traced::map_along(changes, &map) {
            Traced::map_noted(changes, map);
        }
    }
}

impl From<f64> for Traced {
    #[inline(always)]
    fn from(value: f64) -> Traced {
        Traced { value, slope: 0.0, place: CONSTANT }
    }
}

impl Add for Traced {
    type Output = Traced;
    #[inline]
    fn add(self, other: Traced) -> Traced {
        let value = self.value + other.value;
        match [self.place, other.place] {
            [_, CONSTANT] => Traced { value, ..self },
            [CONSTANT, _] => Traced { value, ..other },
            _ => made_of_two(value, [self, other], [1.0, 1.0]),
        }
    }
}

impl Sub for Traced {
    type Output = Traced;
    #[inline]
    fn sub(self, other: Traced) -> Traced {
        let value = self.value - other.value;
        match [self.place, other.place] {
            [_, CONSTANT] => Traced { value, ..self },
            [CONSTANT, _] => Traced { value, slope: -other.slope, ..other },
            _ => made_of_two(value, [self, other], [1.0, -1.0]),
        }
    }
}

impl Mul for Traced {
    type Output = Traced;
    #[inline]
    fn mul(self, other: Traced) -> Traced {
        let value = self.value * other.value;
        match [self.place, other.place] {
            // Nothing changes that is multiplied by nothing, and zeros stay zeros: matrices keep their pattern.
            [_, CONSTANT] if other.value == 0.0 => Traced::from(value),
            [CONSTANT, _] if self.value == 0.0 => Traced::from(value),
            [_, CONSTANT] => made_of_one(value, self, other.value),
            [CONSTANT, _] => made_of_one(value, other, self.value),
            _ => made_of_two(value, [self, other], [other.value, self.value]),
        }
    }
}

impl Div for Traced {
    type Output = Traced;
    // Not inlined: divisions are slow anyway, and in many places.
    #[inline(never)]
    fn div(self, other: Traced) -> Traced {
        let value = self.value / other.value;
        if self.is_zero() {
            return Traced::from(value);
        }
        let inverse = 1.0 / other.value;
        made_of_two(value, [self, other], [inverse, -value * inverse])
    }
}

impl Neg for Traced {
    type Output = Traced;
    #[inline]
    fn neg(self) -> Traced {
        Traced { value: -self.value, slope: -self.slope, ..self }
    }
}

assign_by_operators!(Traced);

impl Zero for Traced {
    #[inline(always)]
    fn zero() -> Traced {
        Traced::from(0.0)
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.value == 0.0 && self.slope == 0.0
    }
}

impl One for Traced {
    #[inline(always)]
    fn one() -> Traced {
        Traced::from(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scalar::Dual;

    fn f<S: Scalar>([x, y, z]: [S; 3]) -> S {
        let u = (x * x + y * S::from(2.0)).sqrt() / (S::from(3.0) - z) - x.power(1.5) * z.power(0.3);
        let mut w = u * y - -z;
        w += u;
        w *= x;
        w -= y;
        w /= u + S::one();
        w
    }

    #[test]
    fn gradients_are_those_of_dual_numbers() {
        let at = [0.7, 1.3, 0.4];
        let mut tape = Tape::default();
        // Twice: memory is used again.
        for _ in 0..2 {
            let (variables, result) = tape
                .record(|| {
                    let variables = at.map(|x| Traced::variable(Traced::from(x)));
                    (variables, f(variables))
                })
                .expect("there is room");
            tape.pass_back([(result, 2.0)].into_iter());
            for (index, variable) in variables.into_iter().enumerate() {
                let seeded = std::array::from_fn(|k| Dual { value: at[k], tangent: f64::from(k == index) });
                let Dual { value, tangent } = f(seeded);
                assert_eq!(value, result.value());
                assert!((tape.derivative(variable) - 2.0 * tangent).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn tangents_that_are_carried_along_are_those_of_dual_numbers() {
        let at = [0.7, 1.3, 0.4];
        let seeded = at.map(|x| Dual { value: x, tangent: 1.0 + x });
        let exact = f(seeded);
        let found = f(at.map(|x| Traced::from(x).with_tangent(1.0 + x)));
        assert_eq!(found.value(), exact.value);
        assert!((found.tangent() - exact.tangent).abs() < 1e-14);
    }

    #[test]
    fn linear_maps_are_passed_back_transposed() {
        let mut tape = Tape::default();
        let (x, z) = tape
            .record(|| {
                let x = [2.0, 3.0].map(|x| Traced::variable(Traced::from(x)));
                let mut z = [x[0] * x[1], x[0]].map(Traced::change);
                // z = ((1, 2), (0, 5)) (x0 x1, x0).
                Traced::map_noted(&mut z, |z| (z[0], z[1]) = (z[0], 2.0 * z[0] + 5.0 * z[1]));
                (x, z[0] * Traced::from(10.0) + z[1])
            })
            .expect("there is room");
        tape.pass_back([(z, 1.0)].into_iter());
        assert_eq!(x.map(|x| tape.derivative(x)), [10.0 * 3.0 + 20.0 + 5.0, 10.0 * 2.0]);
    }

    #[test]
    fn what_changes_with_many_others_is_passed_back_to_all() {
        let mut tape = Tape::default();
        for given in [1, 2, 3, 4, 5] {
            let (x, z) = tape
                .record(|| {
                    let x: [Traced; 5] = std::array::from_fn(|k| match k < given {
                        true => Traced::variable(Traced::from(k as f64)) * Traced::from(2.0),
                        false => Traced::from(7.0),
                    });
                    let [z] = Traced::function([1.0], x, || [[1.0, 2.0, 3.0, 4.0, 5.0]]);
                    let [y] = Traced::function([0.0], [z, z, x[0]], || [[1.0, 2.0, 10.0]]);
                    (x, z + y)
                })
                .expect("there is room");
            tape.pass_back([(z, 1.0)].into_iter());
            let expected = |k: usize| 2.0 * (4.0 * (1.0 + k as f64) + if k == 0 { 10.0 } else { 0.0 });
            for (k, x) in x.into_iter().enumerate() {
                assert_eq!(tape.derivative(x), if k < given { expected(k) } else { 0.0 }, "{k} of {given}");
            }
        }
    }

    #[test]
    fn a_tape_that_is_too_short_says_so() {
        let mut tape = Tape::default();
        let sum = |count: usize| {
            move || {
                let [x, y] = [1.0, 2.0].map(|x| Traced::variable(Traced::from(x)));
                (0..count).fold(x, |sum, _| sum + y)
            }
        };
        assert!(tape.record(sum(MOST_NOTES)).is_none());
        assert!(tape.record(sum(10)).is_some());
    }
}
