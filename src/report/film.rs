//! What a report shows and the FMU has no outputs for, taken from its saved state: where bodies are that the model does
//! not show, and what pairs of groups do to one another.
//!
//! A frame is taken at every `stride`-th sample. When all frames together hold too many numbers, every second one is
//! left out and the stride doubled, so that memory and page stay small however long the run is.
//!
//! The force of a pair is its impulse over the communication step, as a mean over it; normal force is what of it is
//! along the mean normal of the touching points, friction the rest.

use super::packing::Chunks;
use super::recording::Recording;
use super::scene::{self, Track};
use super::touching::{self, Force, Touches, Touching};
use crate::engine::geometry::Pose;
use crate::engine::{GroupPoint, Orientation, Sides, State, System, pose};
use crate::model::Model;
use crate::saved_state::{self, SavedStateError};
use crate::variables;
use nalgebra::Vector3;
use serde::Serialize;
use std::collections::HashMap;

/// Most numbers of all frames: pages stay below some 30 MB.
const MOST_NUMBERS: usize = 8_000_000;
/// Numbers of a pose, of a touching point and of a force, as the page holds them.
const NUMBERS: [usize; 3] = [7, 3, 10];

/// Frames of a run.
#[derive(Clone, Debug)]
pub struct Film {
    guid: String,
    system: System,
    /// A state that fits the system.
    initial: State<f64>,
    /// Bodies whose motion is not recorded.
    bodies: Vec<usize>,
    /// Samples between frames.
    stride: usize,
    /// Samples so far.
    samples: usize,
    frames: Vec<Frame>,
    /// Numbers of all frames, and how many they may be.
    numbers: usize,
    most_numbers: usize,
}

#[derive(Clone, Debug)]
struct Frame {
    /// Position and orientation `w x y z` of the bodies.
    poses: Vec<[f32; 7]>,
    touches: Touches,
}

/// The film, as the page reads it.
#[derive(Serialize)]
pub struct FilmFacts {
    stride: usize,
    frames: usize,
    /// Chunks of position and orientation, by body and frame.
    poses: [usize; 7],
    touching: Touching,
    /// Chunks of contact, node and surface of the pairs that touch.
    pairs: [usize; 3],
}

impl Frame {
    fn numbers(&self) -> usize {
        let Frame { poses, touches } = self;
        NUMBERS[0] * poses.len() + NUMBERS[1] * touches.points.len() + NUMBERS[2] * touches.forces.len()
    }
}

impl Film {
    /// A film of what a recording lacks; none where it lacks nothing.
    pub fn of(model: &Model, guid: &str, recording: &Recording) -> Option<Film> {
        let (system, initial) = model.assemble();
        let variables = variables::table(model);
        let columns = scene::columns_by_slot(&variables, recording);
        let tracks = scene::tracks(model, &system, &variables, &columns);
        let lacks = |body: &usize| {
            let Track { r, q, .. } = &tracks[*body];
            let turns = system.nodes[*body].rotation.is_some();
            r.contains(&None) || (turns && q.contains(&None))
        };
        let bodies: Vec<usize> = (0..tracks.len()).filter(lacks).collect();
        if bodies.is_empty() && system.pile.is_none() {
            return None;
        }
        Some(Film {
            guid: guid.to_owned(),
            system,
            initial,
            bodies,
            stride: 1,
            samples: 0,
            frames: Vec::new(),
            numbers: 0,
            most_numbers: MOST_NUMBERS,
        })
    }

    /// Whether the present sample is to be a frame.
    pub fn is_due(&self) -> bool {
        self.samples.is_multiple_of(self.stride)
    }

    /// Takes the frame of the present sample from a saved state of the FMU.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), SavedStateError> {
        let state = saved_state::state(saved_state::read(&self.guid, bytes)?)?;
        let known = (self.system.contacts.len(), self.system.nodes.len(), self.system.surfaces.len());
        let is_known = state.points.iter().all(|point| {
            (point.contact as usize) < known.0
                && (point.node as usize) < known.1
                && (point.surface as usize) < known.2
        });
        if !(self.initial.same_size(&state) && is_known) {
            return Err(SavedStateError::Damaged);
        }
        let poses = self.bodies.iter().map(|&body| {
            let Pose { position: r, orientation: Orientation { wxyz: q } } = pose(&self.system, &state, body);
            [r[0], r[1], r[2], q[0], q[1], q[2], q[3]].map(|x| x as f32)
        });
        let frame = Frame { poses: poses.collect(), touches: touches(&self.system, &state) };
        self.numbers += frame.numbers();
        self.frames.push(frame);
        while self.numbers > self.most_numbers && self.frames.len() > 2 {
            let mut place = 0;
            self.frames.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
            self.numbers = self.frames.iter().map(Frame::numbers).sum();
        }
        Ok(())
    }

    /// Goes on to the next sample.
    pub fn advance(&mut self) {
        self.samples += 1;
    }

    /// Tells the tracks of bodies where they are filmed.
    pub fn mark(&self, tracks: &mut [Track]) {
        for (place, &body) in self.bodies.iter().enumerate() {
            tracks[body].film = Some(place);
        }
    }

    /// Packs the frames.
    pub fn pack(&self, chunks: &mut Chunks) -> FilmFacts {
        let component = |number: usize, chunks: &mut Chunks| {
            let of = |place: usize| self.frames.iter().map(move |frame| frame.poses[place][number]);
            chunks.push_f32((0..self.bodies.len()).flat_map(of))
        };
        let mut places = HashMap::new();
        let mut pairs: Vec<[u32; 3]> = Vec::new();
        let number = |force: &Force| {
            let pair = [force.contact, force.sides.node, force.sides.surface].map(|index| index as u32);
            *places.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() as u32 - 1
            })
        };
        let touches = self.frames.iter().map(|frame| &frame.touches);
        let touching = touching::pack(touches, number, chunks);
        FilmFacts {
            stride: self.stride,
            frames: self.frames.len(),
            poses: std::array::from_fn(|number| component(number, chunks)),
            touching,
            pairs: [0, 1, 2].map(|side| chunks.push_u32(pairs.iter().map(|pair| pair[side]))),
        }
    }
}

/// What pairs of groups did over the last step.
fn touches(system: &System, state: &State<f64>) -> Touches {
    let mut touches = Touches::default();
    let duration = state.step.duration;
    if duration <= 0.0 {
        return touches;
    }
    let pair = |point: &GroupPoint<f64>| (point.contact, point.node, point.surface);
    for points in state.points.chunk_by(|one, other| pair(one) == pair(other)) {
        let impulse: Vector3<f64> = points.iter().map(|point| point.impulse).sum();
        if impulse == Vector3::zeros() {
            continue;
        }
        let sides = Sides { node: points[0].node as usize, surface: points[0].surface as usize };
        if let Some(patch) = touches.touch(system, sides, |body| pose(system, state, body)) {
            let force = impulse / duration;
            let friction = force - patch.normal * patch.normal.dot(&force);
            touches.push((points[0].contact as usize, sides), &patch, force, friction);
        }
    }
    touches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file;

    const GUID: &str = "{00000000-0000-0000-0000-000000000000}";

    fn bytes(state: &State<f64>) -> Vec<u8> {
        let mode = 2;
        let payload = [&[mode], &postcard::to_stdvec(state).unwrap()[..]].concat();
        saved_state::write(GUID, &payload)
    }

    fn balls() -> (Film, State<f64>) {
        let text = "model.name = 'balls'\nexperiment.stop = 1.0\n[[node]]\nname = 'ball'\ncoupling = 'owned'\nmass = 1.0\nshape.sphere.radius = 0.1\ncopies = { count = [3, 1, 1], spacing = [1.0, 1.0, 1.0] }\n[[contact]]\nname = 'balls'\nbetween = ['*', '*']\n";
        let model = file::parse(text, "model.toml").unwrap();
        let film = Film::of(&model, GUID, &Recording::default()).unwrap();
        (film, model.assemble().1)
    }

    /// However long the run, there are never more numbers than allowed, and frames stay at equal distances.
    #[test]
    fn frames_are_thinned_out() {
        let (mut film, mut state) = balls();
        film.most_numbers = 10 * 3 * NUMBERS[0];
        for sample in 0..1000 {
            if film.is_due() {
                state.nodes[1].position[0] = f64::from(sample);
                film.take(&bytes(&state)).unwrap();
            }
            film.advance();
            assert!(film.numbers <= film.most_numbers);
        }
        let samples: Vec<f32> = film.frames.iter().map(|frame| frame.poses[1][0]).collect();
        let expected: Vec<f32> = (0..film.frames.len()).map(|frame| (frame * film.stride) as f32).collect();
        assert_eq!(samples, expected);
        assert_eq!(film.stride, 128);
        assert_eq!(film.frames.len(), 8);
    }

    #[test]
    fn states_that_do_not_fit_are_refused() {
        let (mut film, mut state) = balls();
        assert_eq!(film.take(b"something else"), Err(SavedStateError::NotAState));
        let other = saved_state::write("{10000000-0000-0000-0000-000000000000}", &[0]);
        assert!(matches!(film.take(&other), Err(SavedStateError::OtherModel { .. })));
        state.nodes.pop();
        assert_eq!(film.take(&bytes(&state)), Err(SavedStateError::Damaged));
        assert!(film.frames.is_empty());
    }
}
