//! What pairs of groups remember, found by pair: lists over [`State::points`] that are made anew in every substep.

use super::acceptance::record_mode;
use crate::engine::law::ContactMode;
use crate::engine::scalar::Scalar;
use crate::engine::state::{GroupPoint, State};
use crate::engine::system::{Near, Pile, System};
use nalgebra::Vector3;

/// No entry.
const END: u32 = u32::MAX;

/// Where the points of pairs are in the state.
#[derive(Clone, Debug)]
pub struct GroupMemory<S: Scalar> {
    /// First point, by pair that is near.
    heads: Vec<u32>,
    /// The next one of the same pair, by point.
    next: Vec<u32>,
    /// Number of points at the start of the substep.
    old: usize,
    /// Points and their forces that go on to the next substep.
    points: Vec<GroupPoint<S>>,
    guesses: Vec<Vector3<f64>>,
}

impl<S: Scalar> GroupMemory<S> {
    /// Nothing yet.
    pub fn new() -> GroupMemory<S> {
        GroupMemory { heads: Vec::new(), next: Vec::new(), old: 0, points: Vec::new(), guesses: Vec::new() }
    }

    /// Lists the points of the pairs that are near. Both are in the order of group, node and surface.
    pub fn begin(&mut self, system: &System, state: &mut State<S>, near: &[Near]) {
        state.guesses.resize(system.pair_points + state.points.len(), Vector3::zeros());
        self.heads.clear();
        self.next.clear();
        self.next.resize(state.points.len(), END);
        self.old = state.points.len();
        let mut place = 0;
        for pair in near {
            let key = key_of_pair(pair);
            while place < state.points.len() && key_of(&state.points[place]) < key {
                place += 1;
            }
            let is_own = |place: usize| state.points.get(place).is_some_and(|point| key_of(point) == key);
            self.heads.push(if is_own(place) { place as u32 } else { END });
            while is_own(place) {
                if is_own(place + 1) {
                    self.next[place] = place as u32 + 1;
                }
                place += 1;
            }
        }
    }

    /// Marks the points of a pair open; they know whether they were closed.
    pub fn open_up(&self, state: &mut State<S>, pair: usize) {
        for place in self.places(pair) {
            let point = &mut state.points[place];
            point.held = point.mode != ContactMode::Open;
            (point.mode, point.slip) = (ContactMode::Open, S::zero());
        }
    }

    /// Forgets the forces of a pair.
    pub fn forget(&self, system: &System, state: &mut State<S>, pair: usize) {
        for place in self.places(pair) {
            state.guesses[system.pair_points + place] = Vector3::zeros();
        }
    }

    fn places(&self, pair: usize) -> impl Iterator<Item = usize> {
        let listed = |place: u32| (place != END).then_some(place);
        let next = move |place: &u32| listed(self.next[*place as usize]);
        std::iter::successors(listed(self.heads[pair]), next).map(|place| place as usize)
    }

    /// Place of a point of a pair in the state; one that is new gets the next.
    pub fn place(&mut self, state: &mut State<S>, pair: &Near, point: usize) -> usize {
        let mut last = None;
        for place in self.places(pair.number) {
            if state.points[place].point as usize == point {
                return place;
            }
            last = Some(place);
        }
        let place = state.points.len();
        match last {
            None => self.heads[pair.number] = place as u32,
            Some(last) => self.next[last] = place as u32,
        }
        self.next.push(END);
        state.points.push(GroupPoint {
            contact: pair.contact as u32,
            node: pair.sides.node as u32,
            surface: pair.sides.surface as u32,
            point: point as u32,
            mode: ContactMode::Open,
            slip: S::zero(),
            held: false,
            impulse: Vector3::zeros(),
        });
        state.guesses.push(Vector3::zeros());
        place
    }

    /// Records what groups do at the end of the substep, and keeps only points that touch, have a force, or got an impulse
    /// within the communication step.
    pub fn end(&mut self, system: &System, pile: &Pile, state: &mut State<S>, near: &[Near]) {
        for contact in pile.contacts() {
            state.contacts[contact].open_up();
        }
        let mut points = std::mem::take(&mut self.points);
        let mut guesses = std::mem::take(&mut self.guesses);
        points.clear();
        guesses.clear();
        let mut old = 0;
        let mut keep_far =
            |state: &State<S>, points: &mut Vec<_>, guesses: &mut Vec<_>, near: Option<&Near>| {
                let key = near.map(key_of_pair);
                while old < self.old && key.is_none_or(|key| key_of(&state.points[old]) <= key) {
                    let point = state.points[old];
                    old += 1;
                    if point.impulse != Vector3::zeros() && key != Some(key_of(&point)) {
                        points.push(GroupPoint {
                            mode: ContactMode::Open,
                            slip: S::zero(),
                            held: false,
                            ..point
                        });
                        guesses.push(Vector3::zeros());
                    }
                }
            };
        for pair in near {
            keep_far(state, &mut points, &mut guesses, Some(pair));
            for place in self.places(pair.number) {
                let (point, guess) = (state.points[place], state.guesses[system.pair_points + place]);
                if point.mode != ContactMode::Open {
                    record_mode(&mut state.contacts[pair.contact], point.mode, point.slip);
                }
                if point.mode != ContactMode::Open
                    || guess != Vector3::zeros()
                    || point.impulse != Vector3::zeros()
                {
                    points.push(point);
                    guesses.push(guess);
                }
            }
        }
        keep_far(state, &mut points, &mut guesses, None);
        std::mem::swap(&mut state.points, &mut points);
        state.guesses.truncate(system.pair_points);
        state.guesses.extend_from_slice(&guesses);
        (self.points, self.guesses) = (points, guesses);
    }
}

fn key_of_pair(pair: &Near) -> (usize, usize, usize) {
    (pair.contact, pair.sides.node, pair.sides.surface)
}

fn key_of<S: Scalar>(point: &GroupPoint<S>) -> (usize, usize, usize) {
    (point.contact as usize, point.node as usize, point.surface as usize)
}
