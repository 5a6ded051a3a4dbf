//! What touches: the contacts of an island where its bodies are, and the features of shapes that meet there.

use super::IslandStep;
use crate::engine::contact::{Touch, features_now};
use crate::engine::geometry::Meeting;
use crate::engine::scalar::length;
use crate::engine::scheme::workspace::Workspace;
use crate::engine::solver::Solvable;
use crate::engine::state::State;
use crate::engine::system::Sides;
use crate::engine::tolerances::TOLERANCES;

impl<S: Solvable> IslandStep<'_, S> {
    /// Looks at all contact pairs of the island and marks them open.
    #[inline]
    pub(super) fn look(&mut self) {
        let mut seen = 0;
        for &contact in &self.island.contacts {
            if self.system.contacts[contact].by_features {
                seen = self.look_for_features(contact, seen);
                continue;
            }
            for point in 0..self.system.touching_points(contact) {
                if seen == self.workspace.touches.len() {
                    self.workspace.touches.push(Touch::blank());
                }
                self.workspace.touches[seen].look(self.system, self.state, contact, point);
                seen += usize::from(self.yields(&self.workspace.touches[seen]));
            }
            self.state.contacts[contact].open_up();
        }
        if !self.island.pairs.is_empty() {
            seen = self.look_at_pairs(seen);
        }
        self.workspace.touches.truncate(seen);
    }

    /// Looks at the pairs of groups, from the place `seen` on. Returns how many touching points are seen then.
    #[inline(never)]
    fn look_at_pairs(&mut self, mut seen: usize) -> usize {
        for pair in &self.island.pairs {
            let reach = self.reach(pair.sides);
            let Workspace { touches, memory, .. } = &mut *self.workspace;
            let (system, state) = (self.system, &mut *self.state);
            memory.open_up(state, pair.number);
            let first = seen;
            let mut look = |state: &State<S>, point: usize| {
                if seen == touches.len() {
                    touches.push(Touch::blank());
                }
                touches[seen].look_at(system, state, pair.contact, pair.sides, point);
                seen += 1;
            };
            match system.meeting(pair.sides) {
                Meeting::Points(points) => (0..points).for_each(|point| look(state, point)),
                // As in `look_for_features`.
                Meeting::Features(_) if !reach.is_finite() => state.step.dissipated = S::from(f64::NAN),
                Meeting::Features(_) => {
                    features_now(system, state, pair.sides, reach, &mut |feature| {
                        look(state, feature as usize);
                    });
                }
            }
            for touch in &mut touches[first..seen] {
                let place = memory.place(state, pair, touch.point);
                touch.held = state.points[place].held;
                touch.place = system.pair_points + place;
            }
        }
        seen
    }

    /// Looks at those features of a contact that may touch within the substep, from the place `seen` on. Returns how many
    /// are seen then.
    // Not inlined: steps without such contacts stay short.
    #[inline(never)]
    fn look_for_features(&mut self, contact: usize, mut seen: usize) -> usize {
        /// So many are not followed one by one where a body passes its own size within a substep.
        const MOST: usize = 512;
        let sides = self.system.contacts[contact].sides();
        let (size, _) = self.system.extents(sides);
        let reach = self.reach(sides);
        let first = seen;
        if reach.is_finite() {
            seen = self.list_features(contact, first, reach);
        } else {
            // What a body meets at such a speed cannot be told, and so the step is not made.
            self.state.step.dissipated = S::from(f64::NAN);
        }
        if seen - first > MOST && reach > size {
            let gaps = self.workspace.touches[first..seen].iter().map(|touch| touch.gap.value());
            let nearest = gaps.fold(f64::INFINITY, f64::min).max(0.0);
            seen = self.list_features(contact, first, nearest + TOLERANCES.slight * size);
        }
        self.state.contacts[contact].open_up();
        seen
    }

    /// Features of a contact nearer than `reach`, from the place `seen` on. Returns how many are seen then.
    fn list_features(&mut self, contact: usize, mut seen: usize, reach: f64) -> usize {
        let sides = self.system.contacts[contact].sides();
        let Workspace { touches, .. } = &mut *self.workspace;
        let (system, state) = (self.system, &*self.state);
        features_now(system, state, sides, reach, &mut |feature| {
            if seen == touches.len() {
                touches.push(Touch::blank());
            }
            touches[seen].look(system, state, contact, feature as usize);
            seen += 1;
        });
        seen
    }

    /// No point of a pair comes nearer to the other side within the substep.
    pub(super) fn reach(&self, sides: Sides) -> f64 {
        let (node_extent, surface_extent) = self.system.extents(sides);
        let moved = |node: usize, extent: f64| {
            let state = &self.state.nodes[node];
            let spin = self.system.nodes[node]
                .rotation
                .map_or(0.0, |rotation| length(&self.state.rotations[rotation].angular_velocity).value());
            let acceleration = length(&self.workspace.acceleration[node]).value();
            self.length * (length(&state.velocity).value() + spin * extent + self.length * acceleration)
        };
        let size = if surface_extent > 0.0 { node_extent.min(surface_extent) } else { node_extent };
        let mut reach = TOLERANCES.slight * size + 2.0 * moved(sides.node, node_extent);
        if let Some(body) = self.system.surfaces[sides.surface].body {
            reach += 2.0 * moved(body, surface_extent);
        }
        reach
    }

    /// Whether impulses of a contact change any motion; not between two bodies whose motion is prescribed.
    #[inline]
    pub(super) fn yields(&self, touch: &Touch<S>) -> bool {
        self.state.parameters.mass[touch.node].value().is_finite() || self.yields_otherwise(touch)
    }

    #[inline(never)]
    fn yields_otherwise(&self, touch: &Touch<S>) -> bool {
        let turns = |rotation: usize| self.turns_under_load(rotation);
        touch.rotation.is_some_and(turns)
            || touch.carrier.is_some_and(|carrier| {
                self.state.parameters.mass[carrier.node].value().is_finite()
                    || carrier.rotation.is_some_and(turns)
            })
    }

    /// Whether impulses turn a body.
    pub(super) fn turns_under_load(&self, rotation: usize) -> bool {
        self.state.parameters.inertia[rotation].iter().any(|moment| moment.value().is_finite())
    }
}
