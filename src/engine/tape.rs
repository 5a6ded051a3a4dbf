//! Derivatives of one result with respect to everything at once: a step run over [`Traced`] numbers notes every operation on
//! a [`Tape`], and a pass from its end to its start carries the derivative of the result back [Griewank and Walther 2008].
//! Derivatives in one direction are carried along by the same numbers without notes ([`carry_along`]), so that a library has
//! the step once for both.
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
/// Notes for which memory is kept between derivatives: 8 MB.
const KEPT_NOTES: usize = 250_000;
/// Notes that it has room for at first.
const FIRST_NOTES: usize = 4096;

/// A number that is noted on the tape of its thread, or carries a tangent along, unless it is constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced {
    value: f64,
    /// The place of its note, or the bits of its tangent; [`CONSTANT`] has none, and no tangent.
    place: u64,
}

const CONSTANT: u64 = 0;
/// The largest place that a note can have.
const LAST_PLACE: u64 = u32::MAX as u64;

/// How a number changes with the two that it was made of.
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
    from: Vec<u32>,
    transposed: Transposed,
}

#[derive(Default)]
struct Notes {
    notes: Vec<Note>,
    linear: Vec<Linear>,
    /// What is done with an operation.
    mode: Mode,
    /// Whether notes had to be left out.
    is_full: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Mode {
    /// Nothing: there is no tape.
    #[default]
    Off,
    /// It is noted.
    Note,
    /// The tangent of its result is found.
    Carry,
}

impl Notes {
    const NONE: Notes = Notes { notes: Vec::new(), linear: Vec::new(), mode: Mode::Off, is_full: false };

    #[inline(always)]
    fn push(&mut self, note: Note) -> u64 {
        if self.notes.len() == self.notes.capacity() && !self.grow() {
            return CONSTANT;
        }
        let place = self.notes.len();
        self.notes.push(note);
        place as u64
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let more = self.notes.len().clamp(FIRST_NOTES, MOST_NOTES);
        let has_room = self.mode == Mode::Note
            && self.notes.len() + more <= MOST_NOTES
            && self.notes.try_reserve_exact(more).is_ok();
        self.is_full |= !has_room;
        has_room
    }
}

thread_local! {
    // Not dropped with the thread: what is there belongs to the tape that `record` gives back.
    static NOTES: RefCell<ManuallyDrop<Notes>> = const { RefCell::new(ManuallyDrop::new(Notes::NONE)) };
}

#[inline(always)]
fn note(value: f64, [one, other]: [u64; 2], [slope, other_slope]: [f64; 2]) -> Traced {
    if one | other == CONSTANT {
        return Traced { value, place: CONSTANT };
    }
    Traced { value, place: follow(one, other, slope, other_slope) }
}

/// Notes an operation, or carries tangents along. Not inlined: there are many operations. Its arguments fit into registers.
#[inline(never)]
fn follow(one: u64, other: u64, slope: f64, other_slope: f64) -> u64 {
    if one | other > LAST_PLACE {
        return bits_of(slope * f64::from_bits(one) + other_slope * f64::from_bits(other));
    }
    let note = Note { places: [one as u32, other as u32], slopes: [slope, other_slope] };
    // `try_with` is inlined, which `with` is not: the note goes from registers to the tape. There is always one.
    NOTES.try_with(|notes| notes.borrow_mut().push(note)).unwrap_or(CONSTANT)
}

/// The bits of a tangent, which are beyond those of any place: what is too small for that is none, and has no sign.
#[inline(always)]
fn bits_of(tangent: f64) -> u64 {
    if tangent.abs() < f64::MIN_POSITIVE { CONSTANT } else { tangent.to_bits() }
}

/// Does `work` with numbers that carry tangents along: those of [`Traced::with_tangent`].
pub fn carry_along<T>(work: impl FnOnce() -> T) -> T {
    /// Ends it, also after a panic.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            NOTES.with_borrow_mut(|notes| notes.mode = Mode::Off);
        }
    }
    NOTES.with_borrow_mut(|notes| notes.mode = Mode::Carry);
    let _end = End;
    work()
}

/// Whether tangents are carried along.
pub fn is_carrying() -> bool {
    NOTES.with_borrow(|notes| notes.mode == Mode::Carry)
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
        self.tape.notes.mode = Mode::Off;
    }
}

impl Tape {
    /// Notes the operations of `work` on numbers that come from [`Traced::variable`]. None where there was not enough room.
    pub fn record<T>(&mut self, work: impl FnOnce() -> T) -> Option<T> {
        self.forget();
        (self.notes.mode, self.notes.is_full) = (Mode::Note, false);
        NOTES.with_borrow_mut(|notes| std::mem::swap(&mut **notes, &mut self.notes));
        let recording = Recording { tape: self };
        // The place of constants.
        note(0.0, [LAST_PLACE; 2], [0.0; 2]);
        let result = work();
        drop(recording);
        (!self.notes.is_full).then_some(result)
    }

    /// Derivatives of the sum of `results`, each times its factor. Those with respect to single numbers are then known to
    /// [`Tape::derivative`].
    pub fn pass_back(&mut self, results: impl Iterator<Item = (Traced, f64)>) {
        let Tape { notes: Notes { notes, linear, .. }, adjoints } = self;
        adjoints.clear();
        adjoints.resize(notes.len(), 0.0);
        for (result, factor) in results {
            adjoints[result.place as usize] += factor;
        }
        let mut end = notes.len();
        for linear in linear.iter().rev() {
            let first = linear.first as usize;
            let last = first + linear.from.len();
            pass_back(&notes[last..end], last, adjoints);
            let mut changes = adjoints[first..last].to_vec();
            (linear.transposed)(&mut changes);
            for (&place, change) in linear.from.iter().zip(changes) {
                adjoints[place as usize] += change;
            }
            end = first;
        }
        pass_back(&notes[1..end.max(1)], 1, adjoints);
    }

    /// Forgets all notes, and gives back the memory of many.
    fn forget(&mut self) {
        self.notes.notes.clear();
        self.notes.linear.clear();
        self.notes.notes.shrink_to(KEPT_NOTES);
        self.adjoints.clear();
        self.adjoints.shrink_to(KEPT_NOTES);
    }

    /// Derivative with respect to a number, after [`Tape::pass_back`].
    pub fn derivative(&self, number: Traced) -> f64 {
        if number.place == CONSTANT { 0.0 } else { self.adjoints[number.place as usize] }
    }
}

/// Passes back over the notes from `first` on.
fn pass_back(notes: &[Note], first: usize, adjoints: &mut [f64]) {
    for (index, note) in notes.iter().enumerate().rev() {
        let adjoint = adjoints[first + index];
        if adjoint != 0.0 {
            let [one, other] = note.places;
            adjoints[one as usize] += note.slopes[0] * adjoint;
            adjoints[other as usize] += note.slopes[1] * adjoint;
        }
    }
}

impl Traced {
    /// A number with respect to which derivatives are asked for: `number` itself where it is one already.
    pub fn variable(number: Traced) -> Traced {
        match number.place {
            CONSTANT => Traced { place: NOTES.with_borrow_mut(|notes| notes.push(Note::NONE)), ..number },
            _ => number,
        }
    }

    /// The number with another tangent, within [`carry_along`].
    pub fn with_tangent(self, tangent: f64) -> Traced {
        Traced { place: bits_of(tangent), ..self }
    }

    /// Its tangent, if it was made within [`carry_along`].
    pub fn tangent(self) -> f64 {
        f64::from_bits(self.place)
    }

    /// Replaces changes that are noted by a linear function of them, whose transpose is given.
    pub fn map_noted(changes: &mut [Traced], transposed: impl Fn(&mut [f64]) + 'static) {
        if changes.iter().all(|change| change.place == CONSTANT) {
            return;
        }
        NOTES.with_borrow_mut(|notes| {
            let from = changes.iter().map(|change| change.place as u32).collect();
            let first = notes.notes.len() as u32;
            for change in changes.iter_mut() {
                *change = Traced { value: 0.0, place: notes.push(Note::NONE) };
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
        let slope = if root > 0.0 { 0.5 / root } else { 0.0 };
        note(root, [self.place, CONSTANT], [slope, 0.0])
    }
    fn power(self, exponent: f64) -> Traced {
        let (value, slope) = elementary::power_and_slope(self.value, exponent);
        note(value, [self.place, CONSTANT], [slope, 0.0])
    }
    fn bits(self, found: &mut impl FnMut(u64)) {
        found(self.value.to_bits());
        found(self.place);
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
        note(value, [self.place, change.place], [1.0, -factor])
    }
    fn map_changes(changes: &mut [Traced], map: impl Fn(&mut [f64]) + 'static) {
        if !is_carrying() {
            return Traced::map_noted(changes, map);
        }
        let mut tangents: Vec<f64> = changes.iter().map(|change| change.tangent()).collect();
        map(&mut tangents);
        for (change, tangent) in changes.iter_mut().zip(tangents) {
            *change = Traced::from(0.0).with_tangent(tangent);
        }
    }
}

impl From<f64> for Traced {
    #[inline(always)]
    fn from(value: f64) -> Traced {
        Traced { value, place: CONSTANT }
    }
}

impl Add for Traced {
    type Output = Traced;
    #[inline]
    fn add(self, other: Traced) -> Traced {
        let value = self.value + other.value;
        // What changes as one of them does needs no note of its own.
        match [self.place, other.place] {
            [place, CONSTANT] | [CONSTANT, place] => Traced { value, place },
            places => note(value, places, [1.0, 1.0]),
        }
    }
}

impl Sub for Traced {
    type Output = Traced;
    #[inline]
    fn sub(self, other: Traced) -> Traced {
        let value = self.value - other.value;
        match [self.place, other.place] {
            [place, CONSTANT] => Traced { value, place },
            places => note(value, places, [1.0, -1.0]),
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
            [place, CONSTANT] if other.value == 1.0 => Traced { value, place },
            [CONSTANT, place] if self.value == 1.0 => Traced { value, place },
            places => note(value, places, [other.value, self.value]),
        }
    }
}

impl Div for Traced {
    type Output = Traced;
    #[inline]
    fn div(self, other: Traced) -> Traced {
        let value = self.value / other.value;
        if self.is_zero() {
            return Traced::from(value);
        }
        let inverse = 1.0 / other.value;
        note(value, [self.place, other.place], [inverse, -value * inverse])
    }
}

impl Neg for Traced {
    type Output = Traced;
    #[inline]
    fn neg(self) -> Traced {
        note(-self.value, [self.place, CONSTANT], [-1.0, 0.0])
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
        self.value == 0.0 && self.place == CONSTANT
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
        let found = carry_along(|| f(at.map(|x| Traced::from(x).with_tangent(1.0 + x))));
        assert_eq!(found.value(), exact.value);
        assert!((found.tangent() - exact.tangent).abs() < 1e-14);
        assert!(!is_carrying());
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
    fn a_tape_that_is_too_short_says_so() {
        let mut tape = Tape::default();
        let sum = |count: usize| {
            move || {
                let x = Traced::variable(Traced::from(1.0));
                (0..count).fold(x, |sum, _| sum + x)
            }
        };
        assert!(tape.record(sum(MOST_NOTES)).is_none());
        assert!(tape.record(sum(10)).is_some());
    }
}
