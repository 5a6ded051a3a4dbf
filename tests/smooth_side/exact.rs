//! The exact motion of a chain above the floor: impacts by restitution at their exact times, and rest between an
//! accumulation of impacts and the time at which the floor would have to pull.

use super::chain::{Chain, End};

/// Impacts that are slower than this, in m/s, end an accumulation.
const SLOWEST: f64 = 1e-6;

/// The chain, with its first mass in the air or on the floor.
#[derive(Clone, Debug)]
enum Phase {
    Flight(Chain),
    /// All but the first mass.
    Rest(Chain),
}

/// A chain above the floor.
#[derive(Clone, Debug)]
pub struct Exact {
    stiffness: f64,
    gravity: f64,
    restitution: f64,
    phase: Phase,
    /// Impulse of the floor since the start.
    pub impulse: f64,
    /// Times of the impacts.
    pub impacts: Vec<f64>,
    time: f64,
}

impl Exact {
    /// A chain that falls as a whole.
    pub fn falling(
        masses: usize,
        stiffness: f64,
        gravity: f64,
        restitution: f64,
        height: f64,
        velocity: f64,
    ) -> Exact {
        let chain = Chain::falling(masses, stiffness, gravity, height, velocity);
        Exact {
            stiffness,
            gravity,
            restitution,
            phase: Phase::Flight(chain),
            impulse: 0.0,
            impacts: Vec::new(),
            time: 0.0,
        }
    }

    /// Height of the first mass.
    pub fn height(&self) -> f64 {
        match &self.phase {
            Phase::Flight(chain) => chain.height(),
            Phase::Rest(_) => 0.0,
        }
    }

    /// Energy of the whole chain.
    pub fn energy(&self) -> f64 {
        match &self.phase {
            Phase::Flight(chain) | Phase::Rest(chain) => chain.energy(),
        }
    }

    /// Moves on by a duration that is short against the periods of the chain.
    pub fn step(&mut self, duration: f64) {
        let end = self.time + duration;
        let mut left = duration;
        while left > 0.0 {
            left = match self.phase {
                Phase::Flight(_) => self.fly(left),
                Phase::Rest(_) => self.rest(left),
            };
            self.time = end - left;
        }
    }

    /// Flies until the end or to the next impact. Returns the time that is left.
    fn fly(&mut self, duration: f64) -> f64 {
        let Phase::Flight(chain) = &self.phase else { unreachable!("flies") };
        let after = |time: f64| {
            let mut chain = chain.clone();
            chain.step(0.0, time);
            chain
        };
        let end = after(duration);
        if end.height() >= 0.0 {
            self.phase = Phase::Flight(end);
            return 0.0;
        }
        let lands = |time: f64| {
            let there = after(time);
            there.height() < 0.0 && there.velocity() < 0.0
        };
        let impact = first(lands, duration);
        let mut chain = after(impact);
        let velocity = chain.velocity();
        let impulse = -(1.0 + self.restitution) * velocity;
        self.impacts.push(self.time + impact);
        if velocity > -SLOWEST {
            let (heights, velocities) = chain.motion();
            let rest = Chain::new(End::Wall, self.stiffness, self.gravity, &heights[1..], &velocities[1..]);
            self.impulse -= velocity;
            self.phase = Phase::Rest(rest);
        } else {
            chain.push(impulse);
            self.impulse += impulse;
            self.phase = Phase::Flight(chain);
        }
        duration - impact
    }

    /// Rests until the end or until the floor would have to pull. Returns the time that is left.
    fn rest(&mut self, duration: f64) -> f64 {
        let Phase::Rest(chain) = &self.phase else { unreachable!("rests") };
        let after = |time: f64| {
            let mut chain = chain.clone();
            chain.step(0.0, time);
            chain
        };
        let force = |chain: &Chain| self.gravity - self.stiffness * chain.height();
        let pulls = |time: f64| force(&after(time)) < 0.0;
        let is_released = pulls(duration);
        let time = if is_released { first(pulls, duration) } else { duration };
        let end = after(time);
        // The floor takes what gravity and the spring bring: momentum of the others tells how much.
        let momentum = |chain: &Chain| chain.motion().1.iter().sum::<f64>();
        let masses = (chain.motion().0.len() + 1) as f64;
        self.impulse += momentum(&end) - momentum(chain) + masses * self.gravity * time;
        self.phase = if is_released {
            let (mut heights, mut velocities) = end.motion();
            heights.insert(0, 0.0);
            velocities.insert(0, 0.0);
            Phase::Flight(Chain::new(End::Free, self.stiffness, self.gravity, &heights, &velocities))
        } else {
            Phase::Rest(end)
        };
        duration - time
    }
}

/// The first time up to `end`, at which it does, from which something holds.
fn first(holds: impl Fn(f64) -> bool, end: f64) -> f64 {
    let (mut before, mut after) = (0.0, end);
    for _ in 0..60 {
        let middle = 0.5 * (before + after);
        if holds(middle) { after = middle } else { before = middle }
    }
    after
}
