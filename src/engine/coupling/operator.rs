//! The inverse mass operator of points of the master, learnt while it runs.
//!
//! All points that a master moves are one vector of velocities v. Forces F that it holds over a window of length H change
//! it by `H W F`, besides what is smooth: `v(t) = s(t) + W J(t)`, with the sum J of all impulses so far. The divided
//! difference D of order 5 takes s away but for its fifth derivative, whatever the lengths of the windows, and so
//!
//! `D v = W D J + noise`.
//!
//! W is symmetric. Each window corrects it by the symmetric update that changes it least, `W += g (r c^T + c r^T -
//! (r . c) c c^T / c^2)` with `x = D J`, `r = D v - W x`, `c = C x / (x . C x)` [after Powell 1970], weighted by the
//! covariance C of a Kalman filter with the gain `g = x . C x / (x . C x + R)`. The noise R is what windows without a
//! change of force have shown, or what the residual shows beyond what C explains.
//!
//! Contact forces tell W along them. Before bodies touch, each direction in turn gets a force `+1 -2 +1` that leaves neither
//! velocity nor displacement, as small as the noise allows.

use serde::{Deserialize, Serialize};

/// Order of the differences and the samples that they need.
const ORDER: usize = 5;
const SAMPLES: usize = ORDER + 1;
/// Windows without a probe that tell the noise.
const LISTEN: u32 = 4;
/// First guess of the uncertainty of the operator, as a part of what the model says.
const UNSURE: f64 = 10.0;
/// By how much the noise seems less in a window that shows less of it.
const FADING: f64 = 0.3;
/// The same while probes may hide it.
const FADING_AMID_PROBES: f64 = 0.9;
/// Noise counts this much more than was seen of it.
const CAUTION: f64 = 4.0;
/// Differences of velocities below this part of them are rounding, and what solvers leave.
const ROUNDING: f64 = 1e-12;
/// Excitations that tell less than this part of the noise are left out.
const TELLING: f64 = 1e-4;
/// Size of probes over the noise that they have to stand out of.
const CLEAR: f64 = 2e3;
/// The same as parts of acceleration and change of velocity over a window, and the largest part of the acceleration.
const PROBE_SIZE: (f64, f64) = (1e-6, 1e-9);
const MOST_PROBE: f64 = 1e-3;
/// The probe in each direction.
const PROBE: [f64; 3] = [1.0, -2.0, 1.0];
/// Uncertainty above which bodies that come near are probed again.
const KNOWN: f64 = 3e-3;
/// Eigenvalues below this part of the largest one are raised to it: what hardly moves is pushed with bounded forces.
const LEAST: f64 = 1e-3;
/// Part of the answer to a probe that a difference sees.
const SEEN: f64 = 0.3;
/// Largest error of a round of probes that can tell a mechanism from a free mass.
const SURE: f64 = 1e-3;
/// Uncertainty before a probe, so that it counts.
const AFRESH: f64 = 0.1;
/// Uncertainty of what probes have told of bodies that go on to touch.
const ROUGHLY: f64 = 0.01;
/// Change of the operator of a mechanism for a way that bodies go, per metre, at least, and while nothing is known of it.
const BEND: f64 = 1.0;
/// Windows of a direction: those of its probe, and those in which the differences see it.
const SLOT: u32 = ORDER as u32 + 1;
/// Probes of a direction by which the operator is followed, and for how many rounds.
pub const KEPT: usize = 3;
const FOLLOW: f64 = 4.0;

/// What is known of the operator, and of what it is learnt from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operator {
    /// Rows: three for each body.
    rows: usize,
    /// The operator and the covariance of its rows.
    w: Vec<f64>,
    covariance: Vec<f64>,
    /// Variance of differences without excitation.
    noise: f64,
    /// Samples of time, velocity and impulse, newest first.
    times: [f64; SAMPLES],
    velocities: Vec<f64>,
    impulses: Vec<f64>,
    /// Windows since samples are taken, and since nothing touches.
    count: u32,
    quiet: u32,
    /// The next window of rounds of probes; none while there are none.
    probing: Option<u32>,
    size: f64,
    /// Rounds that are over, and whether one has just ended.
    rounds: u32,
    fresh: bool,
    /// Rows of the operator as the last probes in their direction have told them, newest first, when, and how many.
    told: Vec<f64>,
    told_times: Vec<f64>,
    told_counts: Vec<u8>,
    /// Change for a way that bodies go, as a part of the operator.
    bend: f64,
    /// Way since the last round.
    way: f64,
    /// Largest inverse mass that the model says.
    declared: f64,
    /// Whether it is known well enough to take the place of masses.
    pub joined: bool,
    /// Impulses that are still to be delivered to the bodies, and their time integrals.
    pub owed: Vec<[f64; 3]>,
    pub reach: Vec<[f64; 3]>,
}

impl Operator {
    /// Of so many bodies, of which nothing is known.
    pub fn new(bodies: usize) -> Operator {
        let rows = 3 * bodies;
        Operator {
            rows,
            w: vec![0.0; rows * rows],
            covariance: vec![0.0; rows * rows],
            noise: 0.0,
            times: [0.0; SAMPLES],
            velocities: vec![0.0; SAMPLES * rows],
            impulses: vec![0.0; SAMPLES * rows],
            count: 0,
            quiet: 0,
            probing: None,
            size: 0.0,
            rounds: 0,
            fresh: false,
            declared: 0.0,
            told: vec![0.0; KEPT * rows * rows],
            told_times: vec![0.0; KEPT * rows],
            told_counts: vec![0; rows],
            bend: BEND,
            way: 0.0,
            joined: false,
            owed: vec![[0.0; 3]; bodies],
            reach: vec![[0.0; 3]; bodies],
        }
    }

    /// Without allocation where sizes agree.
    pub fn copy_from(&mut self, source: &Operator) {
        if self.rows != source.rows {
            *self = source.clone();
            return;
        }
        let Operator { w, covariance, velocities, impulses, told, told_times, owed, reach, .. } = self;
        for (list, other) in [
            (w, &source.w),
            (covariance, &source.covariance),
            (velocities, &source.velocities),
            (impulses, &source.impulses),
            (told, &source.told),
            (told_times, &source.told_times),
        ] {
            list.copy_from_slice(other);
        }
        owed.copy_from_slice(&source.owed);
        reach.copy_from_slice(&source.reach);
        self.told_counts.copy_from_slice(&source.told_counts);
        (self.noise, self.times, self.count) = (source.noise, source.times, source.count);
        (self.probing, self.size, self.rounds) = (source.probing, source.size, source.rounds);
        (self.bend, self.way) = (source.bend, source.way);
        (self.fresh, self.declared) = (source.fresh, source.declared);
        (self.quiet, self.joined) = (source.quiet, source.joined);
    }

    /// Whether it has the size of another one, and all its lists have theirs.
    pub fn same_size(&self, other: &Operator) -> bool {
        self.rows == other.rows
            && [&self.w, &self.covariance].iter().all(|list| list.len() == self.rows * self.rows)
            && self.told.len() == KEPT * self.rows * self.rows
            && self.told_times.len() == KEPT * self.rows
            && self.told_counts.len() == self.rows
            && self.told_counts.iter().all(|&count| usize::from(count) <= KEPT)
            && [&self.velocities, &self.impulses].iter().all(|list| list.len() == SAMPLES * self.rows)
            && [&self.owed, &self.reach].iter().all(|list| 3 * list.len() == self.rows)
    }

    /// Takes no sample and starts anew: what the master does is not known yet.
    pub fn wait(&mut self) {
        (self.count, self.quiet, self.probing) = (0, 0, None);
    }

    /// Takes what the model says of inverse masses, by body.
    fn guess(&mut self, mobility: impl Fn(usize) -> f64) {
        self.w.fill(0.0);
        self.covariance.fill(0.0);
        for row in 0..self.rows {
            let guess = mobility(row / 3);
            self.declared = self.declared.max(guess);
            self.w[row * self.rows + row] = guess;
            self.covariance[row * self.rows + row] = (UNSURE * guess) * (UNSURE * guess);
        }
    }

    /// Learns from the window that has just ended after `length` with the given velocities, over which the given forces
    /// acted. `mobility` is what the model says of inverse masses.
    pub fn see(
        &mut self,
        length: f64,
        velocity: impl Fn(usize, usize) -> f64,
        force: impl Fn(usize, usize) -> f64,
        mobility: impl Fn(usize) -> f64,
    ) {
        let rows = self.rows;
        if self.count == 0 && self.rounds == 0 && !self.joined {
            self.guess(mobility);
        }
        self.times.rotate_right(1);
        self.times[0] = self.times[1] + length;
        self.velocities.copy_within(0..ORDER * rows, rows);
        self.impulses.copy_within(0..ORDER * rows, rows);
        let mut speed = 0.0_f64;
        for row in 0..rows {
            let (body, axis) = (row / 3, row % 3);
            self.velocities[row] = velocity(body, axis);
            let before = if self.count == 0 { 0.0 } else { self.impulses[rows + row] };
            self.impulses[row] = before + length * force(body, axis);
            speed = speed.max(self.velocities[row].abs());
        }
        self.count = self.count.saturating_add(1);
        self.quiet = self.quiet.saturating_add(1);
        self.drift(speed * length);
        if self.count as usize >= SAMPLES {
            self.correct(speed);
        }
    }

    /// Size of the operator.
    fn scale(&self) -> f64 {
        (0..self.rows).fold(0.0, |most: f64, row| most.max(self.w[row * self.rows + row].abs()))
    }

    /// Bodies go on, and the operator with them.
    fn drift(&mut self, way: f64) {
        self.way += way;
        let change = self.bend * way * self.scale();
        for row in 0..self.rows {
            let variance = &mut self.covariance[row * self.rows + row];
            // Rounding may have made it negative.
            let deviation = variance.max(0.0).sqrt() + change;
            *variance = deviation * deviation;
        }
    }

    fn correct(&mut self, speed: f64) {
        let rows = self.rows;
        let weights = weights(&self.times);
        let difference = |list: &[f64], row: usize| -> f64 {
            let last = list[ORDER * rows + row];
            weights.iter().enumerate().map(|(k, weight)| weight * (list[k * rows + row] - last)).sum()
        };
        let mut buffer = [[0.0; MOST_ROWS]; 3];
        let [x, r, c] = &mut buffer;
        for (row, x) in x[..rows].iter_mut().enumerate() {
            *x = difference(&self.impulses, row);
        }
        let mut told = 0.0;
        for row in 0..rows {
            let of = |list: &[f64]| dot(&list[row * rows..][..rows], &x[..rows]);
            c[row] = of(&self.covariance);
            told += c[row] * x[row];
            r[row] = difference(&self.velocities, row) - of(&self.w);
        }
        let residual = dot(&r[..rows], &r[..rows]) / rows as f64;
        let rounding = ROUNDING * (f64::EPSILON + speed);
        let noise = (CAUTION * self.noise).max(rounding * rounding);
        self.noise *= if self.probing.is_some() { FADING_AMID_PROBES } else { FADING };
        if told < residual {
            self.noise = self.noise.max(residual);
        }
        let noise = noise.max(residual - told);
        if told.is_nan() || told <= TELLING * noise {
            return;
        }
        let gain = told / (told + noise);
        // Of directions that are known the residual tells noise only.
        let along = dot(&r[..rows], &c[..rows]) / dot(&c[..rows], &c[..rows]);
        for one in 0..rows {
            for other in 0..rows {
                let place = one * rows + other;
                let change = r[one] * c[other] + c[one] * r[other] - along * c[one] * c[other];
                self.w[place] += gain * change / told;
                self.covariance[place] -= c[one] * c[other] / (told + noise);
            }
        }
    }

    /// The largest uncertainty, as a part of the operator.
    fn uncertainty(&self) -> f64 {
        let largest =
            (0..self.rows).fold(0.0, |most: f64, row| most.max(self.covariance[row * self.rows + row]));
        largest.sqrt() / self.scale()
    }

    /// Whether samples tell the noise, so that probes can be sized.
    pub fn is_ready(&self) -> bool {
        self.count.min(self.quiet) >= SAMPLES as u32 + LISTEN
    }

    /// Whether rounds of probes are due where bodies may touch soon or not.
    pub fn is_due(&self, soon: bool) -> bool {
        self.is_ready() && (self.rounds < KEPT as u32 || (soon && self.joined && self.uncertainty() > KNOWN))
    }

    /// Starts rounds of probes; accelerations and windows have the given sizes.
    pub fn start_rounds(&mut self, acceleration: f64, length: f64) {
        let speed = self.velocities[..self.rows].iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let least = PROBE_SIZE.0 * acceleration + PROBE_SIZE.1 * speed / length;
        let clear = CLEAR * self.noise.sqrt() / length;
        self.size = least.max(clear.min(MOST_PROBE * acceleration));
        self.probing = Some(0);
    }

    /// Whether there are rounds of probes at present.
    pub fn is_probing(&self) -> bool {
        self.probing.is_some()
    }

    /// Windows from the start to the end of the first round, about.
    pub fn first_windows(&self) -> u32 {
        /// Windows in which the latency is found out.
        const LATENCY: u32 = 20;
        LATENCY + SAMPLES as u32 + LISTEN + self.round_length()
    }

    /// Windows of a round of probes.
    pub fn round_length(&self) -> u32 {
        SLOT * self.rows as u32
    }

    /// The acceleration of the probe in the next window, by body and axis, where forces act `late` windows after. Rounds
    /// go on while they are `due`. Where bodies have come to touch they end with the direction at hand.
    pub fn next_probe(&mut self, touching: bool, due: bool, late: u32) -> Option<(usize, usize, f64)> {
        self.fresh = false;
        let window = self.probing?;
        let length = self.round_length();
        let in_round = |window: u32| ((window % length / SLOT) as usize, (window % SLOT) as usize);
        if let Some((direction, 0)) = window.checked_sub(SLOT + late).map(in_round) {
            self.keep(direction);
            if direction + 1 == self.rows {
                self.end_round();
            }
        }
        let (direction, phase) = in_round(window);
        if phase == 0 && (touching || (direction == 0 && !due && window > 0)) {
            self.probing = None;
            return None;
        }
        self.probing = Some(window + 1);
        if phase == 0 {
            let place = direction * (self.rows + 1);
            let deviation = AFRESH * self.scale();
            self.covariance[place] = self.covariance[place].max(deviation * deviation);
        }
        let sign = PROBE.get(phase)?;
        Some((direction / 3, direction % 3, self.size * sign))
    }

    /// Whether a whole round has just told the operator.
    pub fn is_known(&self) -> bool {
        self.fresh && self.told_error() < SURE
    }

    /// Keeps a row that a probe has told.
    fn keep(&mut self, row: usize) {
        let (rows, square) = (self.rows, self.rows * self.rows);
        for kept in (1..KEPT).rev() {
            let (from, to) = ((kept - 1) * square + row * rows, kept * square + row * rows);
            self.told.copy_within(from..from + rows, to);
            self.told_times[kept * rows + row] = self.told_times[(kept - 1) * rows + row];
        }
        self.told[row * rows..][..rows].copy_from_slice(&self.w[row * rows..][..rows]);
        // The middle of the probe.
        self.told_times[row] = 0.5 * (self.times[ORDER] + self.times[ORDER - 1]);
        self.told_counts[row] = (self.told_counts[row] + 1).min(KEPT as u8);
    }

    fn end_round(&mut self) {
        let (rows, square) = (self.rows, self.rows * self.rows);
        if self.told_counts.iter().all(|&count| count > 1) && self.way > 0.0 {
            let changes = (0..square).map(|place| (self.told[place] - self.told[square + place]).abs());
            let change = changes.fold(0.0, f64::max) / self.scale();
            let windows = f64::from(self.round_length());
            let spacing = self.told_times[0] - self.told_times[rows];
            let way = self.way * (spacing / windows) / ((self.times[0] - self.times[ORDER]) / ORDER as f64);
            let least = if self.joined { BEND } else { 0.0 };
            self.bend = ((change + self.told_error()) / way).max(least);
        }
        self.rounds += 1;
        self.way = 0.0;
        self.fresh = true;
    }

    /// What noise leaves unsure of a row that was told.
    fn told_error(&self) -> f64 {
        let answer = self.size * (self.scale() / self.declared) * (self.times[0] - self.times[1]);
        self.noise.sqrt() / (SEEN * answer).max(f64::MIN_POSITIVE)
    }

    /// A row at a place as its probes tell it, `time` being that of now or soon: by the parabola through the last three or
    /// the line through two.
    fn follow(&self, row: usize, other: usize, time: f64) -> f64 {
        let (rows, square) = (self.rows, self.rows * self.rows);
        let count = usize::from(self.told_counts[row]);
        let at = |kept: usize| self.told[kept * square + row * rows + other];
        let times = |kept: usize| self.told_times[kept * rows + row];
        let age = time - times(0);
        if count < 2 || age > FOLLOW * (times(0) - times(1)) {
            return at(0);
        }
        let slope = |one: usize, next: usize| (at(one) - at(next)) / (times(one) - times(next));
        let line = at(0) + slope(0, 1) * age;
        if count < 3 {
            return line;
        }
        let bend = (slope(0, 1) - slope(1, 2)) / (times(0) - times(2));
        line + bend * age * (time - times(1))
    }

    /// Whether all rows are as probes tell them.
    fn is_told(&self) -> bool {
        self.told_counts.iter().all(|&count| count > 0)
    }

    /// Takes note of bodies that touch: takes for good what the operator is thought to be at a time `ahead`, and follows
    /// it no longer.
    pub fn touch(&mut self, ahead: f64) {
        self.quiet = 0;
        if self.joined && self.is_told() {
            let time = self.times[0] + ahead;
            for row in 0..self.rows {
                for other in 0..=row {
                    let entry = 0.5 * (self.follow(row, other, time) + self.follow(other, row, time));
                    self.w[row * self.rows + other] = entry;
                    self.w[other * self.rows + row] = entry;
                }
            }
            let deviation = ROUGHLY * self.scale();
            self.covariance.fill(0.0);
            for row in 0..self.rows {
                self.covariance[row * (self.rows + 1)] = deviation * deviation;
            }
        }
        self.told_counts.fill(0);
    }

    /// Writes the operator at a time `ahead`, symmetric and positive.
    pub fn write(&self, ahead: f64, operator: &mut Vec<f64>, turns: &mut Vec<f64>) {
        operator.clear();
        operator.extend_from_slice(&self.w);
        if self.is_told() {
            let time = self.times[0] + ahead;
            for row in 0..self.rows {
                for other in 0..self.rows {
                    operator[row * self.rows + other] =
                        0.5 * (self.follow(row, other, time) + self.follow(other, row, time));
                }
            }
        }
        raise(operator, turns, self.rows);
    }
}

/// Most rows: those of sixteen bodies.
pub const MOST_ROWS: usize = 48;

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Weights of the divided difference over all samples; their sizes add up to 1.
fn weights(times: &[f64; SAMPLES]) -> [f64; SAMPLES] {
    let span = (times[0] - times[ORDER]) / ORDER as f64;
    let mut weights = [0.0; SAMPLES];
    for (one, weight) in weights.iter_mut().enumerate() {
        let others = (0..SAMPLES).filter(|&other| other != one);
        *weight = 1.0 / others.map(|other| (times[one] - times[other]) / span).product::<f64>();
    }
    let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
    weights.map(|weight| weight / sum)
}

/// Raises small and negative eigenvalues of a symmetric matrix, by Jacobi's rotations.
fn raise(matrix: &mut [f64], turns: &mut Vec<f64>, rows: usize) {
    /// Sweeps; they converge quadratically.
    const SWEEPS: usize = 12;
    turns.clear();
    turns.resize(rows * rows, 0.0);
    for row in 0..rows {
        turns[row * rows + row] = 1.0;
        for other in 0..row {
            let mean = 0.5 * (matrix[row * rows + other] + matrix[other * rows + row]);
            (matrix[row * rows + other], matrix[other * rows + row]) = (mean, mean);
        }
    }
    for _ in 0..SWEEPS {
        let size: f64 = dot(matrix, matrix);
        let mut off = 0.0;
        for p in 0..rows {
            for q in p + 1..rows {
                let entry = matrix[p * rows + q];
                off += 2.0 * entry * entry;
                if entry == 0.0 {
                    continue;
                }
                let half = (matrix[q * rows + q] - matrix[p * rows + p]) / (2.0 * entry);
                let tangent = half.signum() / (half.abs() + (half * half + 1.0).sqrt());
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                let sine = tangent * cosine;
                for k in 0..rows {
                    let (a, b) = (matrix[k * rows + p], matrix[k * rows + q]);
                    matrix[k * rows + p] = cosine * a - sine * b;
                    matrix[k * rows + q] = sine * a + cosine * b;
                }
                for k in 0..rows {
                    let (a, b) = (matrix[p * rows + k], matrix[q * rows + k]);
                    matrix[p * rows + k] = cosine * a - sine * b;
                    matrix[q * rows + k] = sine * a + cosine * b;
                    let (a, b) = (turns[k * rows + p], turns[k * rows + q]);
                    turns[k * rows + p] = cosine * a - sine * b;
                    turns[k * rows + q] = sine * a + cosine * b;
                }
            }
        }
        if off <= f64::EPSILON * f64::EPSILON * size {
            break;
        }
    }
    let mut values = [0.0; MOST_ROWS];
    let mut largest = 0.0_f64;
    for row in 0..rows {
        values[row] = matrix[row * rows + row];
        largest = largest.max(values[row]);
    }
    for value in &mut values[..rows] {
        *value = value.max(LEAST * largest);
    }
    for one in 0..rows {
        for other in 0..rows {
            let vectors = (0..rows).map(|k| turns[one * rows + k] * values[k] * turns[other * rows + k]);
            matrix[one * rows + other] = vectors.sum();
        }
    }
}
