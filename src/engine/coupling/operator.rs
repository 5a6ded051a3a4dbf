//! The inverse mass operator of points of the master, learnt while it runs.
//!
//! All points that a master moves are one vector of velocities v. An impulse p changes it by `W p`, besides what is smooth.
//! The divided difference D of order 5 takes what is smooth away but for its fifth derivative, whatever the lengths of the
//! windows. With the impulses p_j that the master has applied in the last windows, at times t_j before now,
//!
//! `D v = W x + W' x' + noise`, `x = sum c_j p_j`, `x' = sum c_j t_j p_j`,
//!
//! where c are the sums of the weights of D, and W' is the rate of W. A Kalman filter follows W and W' [Ljung 1999, 11.3]:
//! its rows have the same covariance, for they answer to the same impulses. The rate wanders, so that an operator may become
//! another one within [`CHANGE`] windows, less where answers are foretold well. W turns besides with bodies that are seen to
//! be [rigid](super::turning). The noise is what windows have shown that W does not explain. An impact changes the
//! accelerations besides contact too, which bends velocities after it: impulses of contact tell W no better than the
//! differences of such a kink allow, best when it is in their middle.
//!
//! Before bodies touch, all of them carry forces `u_k - u_(k-1)` in all directions at once, with signs of u that follow no
//! rule, as small as the noise allows. They leave no velocity. Bodies that contact presses carry them along its force.

use super::turning::Turning;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Order of the differences and the samples that they need: of order 4 the motion of a pendulum would be noise of a
/// thousandth, of order 7 rounding would be.
const ORDER: usize = 5;
const SAMPLES: usize = ORDER + 1;
/// Windows within which an operator may become another one: one that changes faster is not seen by differences.
pub const CHANGE: f64 = 200.0;
/// Windows without probes that tell the noise.
const LISTEN: u32 = 4;
/// First guess of the uncertainty of the operator, as a part of what the model says.
const UNSURE: f64 = 10.0;
/// By how much what windows have shown of noise and errors counts less after each.
pub(super) const FADING: f64 = 0.8;
/// Size of probes over the noise that they have to stand out of.
const CLEAR: f64 = 2e3;
/// Size of the probes of all bodies together as parts of acceleration and change of velocity over a window, and the largest
/// part of the acceleration that each may have.
const PROBE_SIZE: (f64, f64) = (5e-7, 5e-10);
const MOST_PROBE: f64 = 1e-3;
/// Bounds of the part of the largest eigenvalue up to which smaller ones are raised: as much as answers to probes differ from
/// those expected. What a rail holds is then known to move by no more, and is not pushed beyond what contact can bear.
pub const LEAST: f64 = 1e-5;
const MOST_RAISED: f64 = 1e-3;
/// Part by which answers may differ from those of the operator that takes the place of masses.
pub const KNOWN: f64 = 0.05;

/// Standard deviations beyond which an error is none of what is known to be unsure.
const SIGMAS: f64 = 3.0;
/// Times that an operator takes to become known after which a trial ends.
const TRIAL: u32 = 4;
/// Probes of bodies that may be free masses, over those that tell an operator to a thousandth, and how much more of those
/// that stand out of noise.
const TRIAL_PROBE: (f64, f64) = (0.1, 1.0);
/// Windows within which what a push has done is seen, whatever the latency.
pub const RECENT: u8 = 3;

const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// What is known of the operator, and of what it is learnt from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operator {
    /// Rows: three for each body.
    rows: usize,
    /// The operator, its rate, and the covariance of a row of both.
    w: Vec<f64>,
    rate: Vec<f64>,
    covariance: Vec<f64>,
    /// Mean square of differences that the operator does not explain, and that of the part by which answers to probes have
    /// lately differed from those expected.
    noise: f64,
    misfit: f64,
    /// Mean square of what impulses of contact may have made of the last differences besides what the operator says.
    masking: f64,
    /// The latter by row.
    misfits: Vec<f64>,
    /// Samples of time, velocity, impulse, and the impulse but for probes, newest first.
    times: [f64; SAMPLES],
    velocities: Vec<f64>,
    impulses: Vec<f64>,
    pushes: Vec<f64>,
    /// Windows since samples are taken, and all that there were.
    count: u32,
    windows: u32,
    /// Sums of the probes so far, and those of the last two windows, newest first: forces.
    levels: Vec<f64>,
    probes: Vec<f64>,
    /// Largest inverse mass that the model says.
    declared: f64,
    /// Whether it has taken the place of masses, and whether it has ever been known well enough for that.
    pub joined: bool,
    pub learnt: bool,
    /// Impulses that are still to be delivered to the bodies, and their time integrals.
    pub owed: Vec<[f64; 3]>,
    pub reach: Vec<[f64; 3]>,
    /// How contact has pushed them of late.
    pub pushes_of_late: Vec<Push>,
    /// How bodies turn with one another, and the operator with them.
    turning: Turning,
    /// What bodies were expected to do for the forces of the last two windows, newest first.
    answers: Vec<f64>,
    /// Whether bodies are free masses, where that is to be found out, and whether something has touched them before.
    pub trial: Trial,
    touched: bool,
    /// Work of contact forces while impulses are delivered, windows since then and windows that it has gone on for, and
    /// what was added to the energy of the bodies and not taken back.
    pub work: f64,
    pub settling: (u8, u8),
    pub excess: f64,
}

/// A trial of whether bodies are free masses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Trial {
    /// It goes on.
    Runs {
        /// Windows without contact so far, and those at the end of them in which bodies answered as free masses do.
        windows: u32,
        free: u32,
    },
    /// They count as free masses.
    Over {
        /// Whether something was near then.
        near: bool,
    },
}

impl Trial {
    /// From now on.
    pub const NEW: Trial = Trial::Runs { windows: 0, free: 0 };
}

/// How contact has pushed a body of late.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// Unit normal; zero without a push.
    pub normal: [f64; 3],
    /// Direction of the impulse; zero where friction holds, so that it may have any.
    pub along: [f64; 3],
    /// Windows since.
    pub age: u8,
}

impl Push {
    /// None so far.
    const NONE: Push = Push { normal: [0.0; 3], along: [0.0; 3], age: u8::MAX };
}

impl Operator {
    /// Of so many bodies, of which nothing is known.
    pub fn new(bodies: usize) -> Operator {
        let rows = 3 * bodies;
        Operator {
            rows,
            w: vec![0.0; rows * rows],
            rate: vec![0.0; rows * rows],
            covariance: vec![0.0; 4 * rows * rows],
            noise: 0.0,
            misfit: 0.0,
            masking: 0.0,
            misfits: vec![0.0; rows],
            times: [0.0; SAMPLES],
            velocities: vec![0.0; SAMPLES * rows],
            impulses: vec![0.0; SAMPLES * rows],
            pushes: vec![0.0; SAMPLES * rows],
            count: 0,
            windows: 0,
            levels: vec![0.0; rows],
            probes: vec![0.0; 2 * rows],
            declared: 0.0,
            joined: false,
            learnt: false,
            owed: vec![[0.0; 3]; bodies],
            reach: vec![[0.0; 3]; bodies],
            pushes_of_late: vec![Push::NONE; bodies],
            turning: Turning::new(bodies),
            answers: vec![0.0; 2 * rows],
            trial: Trial::NEW,
            touched: false,
            work: 0.0,
            settling: (0, 0),
            excess: 0.0,
        }
    }

    /// Its lists of numbers.
    fn lists(&mut self) -> [&mut Vec<f64>; 10] {
        let Operator { w, rate, covariance, velocities, impulses, pushes, levels, probes, .. } = self;
        let Operator { answers, misfits, .. } = self;
        [w, rate, covariance, velocities, impulses, pushes, levels, probes, answers, misfits]
    }

    /// Without allocation where sizes agree.
    pub fn copy_from(&mut self, source: &Operator) {
        let Operator { w, rate, covariance, velocities, impulses, pushes, levels, probes, .. } = source;
        let Operator { answers, misfits, .. } = source;
        let others = [w, rate, covariance, velocities, impulses, pushes, levels, probes, answers, misfits];
        for (list, other) in self.lists().into_iter().zip(others) {
            list.clone_from(other);
        }
        self.owed.clone_from(&source.owed);
        self.reach.clone_from(&source.reach);
        self.pushes_of_late.clone_from(&source.pushes_of_late);
        self.turning.copy_from(&source.turning);
        (self.rows, self.noise, self.misfit) = (source.rows, source.noise, source.misfit);
        self.masking = source.masking;
        (self.times, self.count, self.windows) = (source.times, source.count, source.windows);
        (self.declared, self.joined, self.learnt) = (source.declared, source.joined, source.learnt);
        (self.trial, self.touched) = (source.trial, source.touched);
        (self.work, self.settling, self.excess) = (source.work, source.settling, source.excess);
    }

    /// Whether it has the size of another one, and all its lists have theirs.
    pub fn same_size(&self, other: &Operator) -> bool {
        let (rows, square) = (self.rows, self.rows * self.rows);
        rows == other.rows
            && [&self.w, &self.rate].iter().all(|list| list.len() == square)
            && self.covariance.len() == 4 * square
            && [&self.velocities, &self.impulses, &self.pushes]
                .iter()
                .all(|list| list.len() == SAMPLES * rows)
            && [&self.levels, &self.misfits].iter().all(|list| list.len() == rows)
            && [&self.probes, &self.answers].iter().all(|list| list.len() == 2 * rows)
            && [&self.owed, &self.reach].iter().all(|list| 3 * list.len() == rows)
            && 3 * self.pushes_of_late.len() == rows
            && self.turning.has_size(rows / 3)
    }

    /// Takes no sample and starts anew: what the master does is not known yet.
    pub fn wait(&mut self) {
        self.count = 0;
        self.levels.fill(0.0);
        self.probes.fill(0.0);
    }

    /// Ends a trial, because something touches bodies that may be free masses: what contact does to them tells more than
    /// probes.
    pub fn end_trial(&mut self) {
        self.touched = true;
        self.trial = Trial::Over { near: true };
        self.wait();
    }

    /// Takes what the model says of inverse masses, by body.
    fn guess(&mut self, mobility: impl Fn(usize) -> f64) {
        (self.misfit, self.noise, self.masking) = (UNSURE * UNSURE, 0.0, 0.0);
        self.misfits.fill(UNSURE * UNSURE);
        self.w.fill(0.0);
        self.rate.fill(0.0);
        self.covariance.fill(0.0);
        for row in 0..self.rows {
            let guess = mobility(row / 3);
            self.declared = self.declared.max(guess);
            self.w[row * self.rows + row] = guess;
            self.covariance[row * 2 * self.rows + row] = (UNSURE * guess) * (UNSURE * guess);
        }
    }

    /// Learns from the window that has just ended after `length` with the given velocities, over which the given forces
    /// acted, those that were found `late` windows ago. `mobility` is what the model says of inverse masses.
    pub fn see(
        &mut self,
        (length, late): (f64, usize),
        place: impl Fn(usize, usize) -> f64,
        velocity: impl Fn(usize, usize) -> f64,
        force: impl Fn(usize, usize) -> f64,
        mobility: impl Fn(usize) -> f64,
    ) {
        let rows = self.rows;
        if self.count == 0 && !self.joined {
            self.guess(mobility);
        }
        self.times.rotate_right(1);
        self.times[0] = self.times[1] + length;
        for list in [&mut self.velocities, &mut self.impulses, &mut self.pushes] {
            list.copy_within(0..ORDER * rows, rows);
        }
        for row in 0..rows {
            let (body, axis) = (row / 3, row % 3);
            self.velocities[row] = velocity(body, axis);
            let probe = length * self.probes[late * rows + row];
            let sent = length * force(body, axis);
            // Before it is joined, what is sent is told without probes.
            (self.impulses[row], self.pushes[row]) =
                if self.joined { (sent, sent - probe) } else { (sent + probe, sent) };
        }
        self.count = self.count.saturating_add(1);
        let rotations = self.turning.see(place, velocity);
        self.drift(length, &rotations);
        if self.count as usize >= SAMPLES {
            self.correct();
        }
        self.learnt |= self.is_known();
    }

    /// Takes the place of masses. Returns the probes among the forces of the last two windows, newest first.
    pub fn join(&mut self) -> [&[f64]; 2] {
        self.joined = true;
        let (newest, before) = self.probes.split_at(self.rows);
        [newest, before]
    }

    /// Takes an operator that the master tells, a `length` after the one before.
    pub fn take(&mut self, length: f64, entry: impl Fn(usize, usize) -> f64) {
        let rows = self.rows;
        for place in 0..rows * rows {
            let now = entry(place / rows, place % rows);
            self.rate[place] = if self.joined && length > 0.0 { (now - self.w[place]) / length } else { 0.0 };
            self.w[place] = now;
        }
        (self.joined, self.learnt) = (true, true);
    }

    /// How fast a number of the operator changes.
    pub fn rate(&self, row: usize, column: usize) -> f64 {
        self.rate[row * self.rows + column]
    }

    /// How a body responds to forces on itself.
    pub fn own(&self, body: usize) -> [[f64; 3]; 3] {
        [0, 1, 2].map(|row| [0, 1, 2].map(|column| self.w[(3 * body + row) * self.rows + 3 * body + column]))
    }

    /// Size of the operator.
    fn scale(&self) -> f64 {
        (0..self.rows).fold(0.0, |most: f64, row| most.max(self.w[row * self.rows + row].abs()))
    }

    /// By how much the rate may change, besides that of turning: less where answers are foretold better than is asked for.
    fn wander(&self, length: f64) -> f64 {
        self.scale() / (CHANGE * length) * (self.misfit.sqrt() / MOST_RAISED).min(1.0)
    }

    /// Bodies go on, and the operator with them.
    fn drift(&mut self, length: f64, rotations: &[Matrix3<f64>]) {
        let (rows, all) = (self.rows, 2 * self.rows);
        let kept = 1.0 - 1.0 / CHANGE;
        for (entry, rate) in self.w.iter_mut().zip(&mut self.rate) {
            *entry += length * *rate;
            *rate *= kept;
        }
        let wander = self.wander(length);
        let cov = &mut self.covariance;
        for one in 0..rows {
            for other in 0..rows {
                let [a, b, c, d] = [(0, 0), (0, rows), (rows, 0), (rows, rows)]
                    .map(|(down, right)| (one + down) * all + other + right);
                cov[a] += length * (cov[b] + cov[c] + length * cov[d]);
                cov[b] = kept * (cov[b] + length * cov[d]);
                cov[c] = kept * (cov[c] + length * cov[d]);
                cov[d] *= kept * kept;
            }
            cov[(rows + one) * (all + 1)] += wander * wander / CHANGE;
        }
        let rotations = &rotations[..rows / 3];
        turn(&mut self.w, rows, rotations);
        turn(&mut self.rate, rows, rotations);
        turn(&mut self.covariance, all, rotations);
        let cov = &mut self.covariance;
        // No less is known than at the start.
        for row in 0..all {
            let most = UNSURE * self.declared / if row < rows { 1.0 } else { CHANGE * length };
            let variance = cov[row * (all + 1)];
            if variance > most * most {
                let part = most / variance.sqrt();
                for other in 0..all {
                    cov[row * all + other] *= part;
                    cov[other * all + row] *= part;
                }
            }
        }
    }

    fn correct(&mut self) {
        let (rows, all) = (self.rows, 2 * self.rows);
        let weights = weights(&self.times);
        let mut buffer = [[0.0; 2 * MOST_ROWS]; 4];
        let [mut bends, mut answers] = [[0.0; MOST_ROWS]; 2];
        let [x, r, c, push] = &mut buffer;
        let (mut sum, mut moment) = (0.0, 0.0);
        let pace = CHANGE * (self.times[0] - self.times[ORDER]) / ORDER as f64;
        for (j, weight) in weights[..ORDER].iter().enumerate() {
            sum += weight;
            moment += weight * (self.times[j] - self.times[0]);
            let before = self.middle(j);
            // A kink of the velocity leaves less than its jump, and none of one in the middle.
            let kink = (moment - sum * before) / (0.5 * pace);
            let bend = 0.5 * sum * before * before / (pace * pace);
            for row in 0..rows {
                let impulse = sum * self.impulses[j * rows + row];
                x[row] += impulse;
                x[rows + row] += before * impulse;
                let pushed = self.pushes[j * rows + row];
                push[row] += sum * pushed;
                push[rows + row] += kink * pushed;
                bends[row] += bend * pushed;
            }
        }
        let (mut told, mut separate) = (0.0, 0.0);
        for row in 0..all {
            c[row] = dot(&self.covariance[row * all..][..all], &x[..all]);
            told += c[row] * x[row];
            separate += self.covariance[row * (all + 1)] * x[row] * x[row];
        }
        let (mut residual, mut answer, mut pushed, mut bent, mut speed) = (0.0, 0.0, 0.0, 0.0, 0.0_f64);
        for (row, r) in r[..rows].iter_mut().enumerate() {
            let last = self.velocities[ORDER * rows + row];
            let seen: f64 =
                weights.iter().enumerate().map(|(k, w)| w * (self.velocities[k * rows + row] - last)).sum();
            let (own, rate) = (&self.w[row * rows..][..rows], &self.rate[row * rows..][..rows]);
            let turned: f64 = (0..rows).map(|column| self.turned(row, column) * x[rows + column]).sum();
            let expected = dot(own, &x[..rows]) + dot(rate, &x[rows..all]) + turned;
            *r = seen - expected;
            let by_pushes = dot(own, &push[..rows]);
            residual += *r * *r / rows as f64;
            answers[row] = expected * expected;
            answer += answers[row] / rows as f64;
            pushed += by_pushes * by_pushes / rows as f64;
            let (kink, bend) = (dot(own, &push[rows..all]), dot(own, &bends[..rows]));
            bent += (kink * kink + bend * bend) / rows as f64;
            speed = speed.max(self.velocities[row].abs());
        }
        // Where answers are not foretold well, rates are not known either.
        let learnt = (ORDER as f64 / CHANGE) * (ORDER as f64 / CHANGE);
        let bent = bent + self.misfit.min(learnt) * pushed;
        self.masking = bent;
        let rounding = TOLERANCES.rounding * (f64::EPSILON + speed);
        /// Noise counts this much more than was seen of it.
        const CAUTION: f64 = 4.0;
        let noise = (CAUTION * self.noise).max(rounding * rounding);
        self.noise *= FADING;
        let unexplained = residual - SIGMAS * SIGMAS * (told + bent);
        self.noise = self.noise.max(unexplained);
        // What is learnt in a window leaves the covariance positive in spite of rounding.
        let noise = (noise + bent).max(unexplained).max(TOLERANCES.rounding * separate);
        if told.is_nan() || told <= 0.0 {
            return;
        }
        if pushed < answer {
            self.misfit = (FADING * self.misfit).max(residual / answer);
            for row in 0..rows {
                let part = r[row] * r[row] / answers[row];
                self.misfits[row] = (FADING * self.misfits[row]).max(part.min(UNSURE * UNSURE));
            }
        }
        for one in 0..all {
            let gain = c[one] / (told + noise);
            for row in 0..rows {
                let list = if one < rows { &mut self.w } else { &mut self.rate };
                list[row * rows + one % rows] += gain * r[row];
            }
            for (entry, c) in self.covariance[one * all..][..all].iter_mut().zip(&c[..all]) {
                *entry -= gain * c;
            }
        }
    }

    /// Whether an impact is being delivered, in which bodies may have any velocity: what one is seen to have been wrong by is
    /// made up for within some windows; what goes on longer is none.
    pub fn delivers_impact(&self) -> bool {
        let (calm, busy) = self.settling;
        calm <= RECENT && busy <= 2 * RECENT
    }

    /// Whether samples tell the noise, so that probes can be sized.
    pub fn is_ready(&self) -> bool {
        self.count >= SAMPLES as u32 + LISTEN
    }

    /// Whether the operator is known well enough to take the place of masses.
    pub fn is_known(&self) -> bool {
        self.is_ready() && self.misfit < KNOWN * KNOWN
    }

    /// What is learnt of a body as a free mass, for contact with the given normal: refuted if a push along it moves other
    /// bodies, or this one in another direction, or if it moves more or less easily across than along. Where it does not move
    /// across at all, nothing pushes it there; where it does not move along, that says nothing.
    pub fn is_free_mass(&self, body: usize, normal: [f64; 3]) -> Option<bool> {
        let rows = self.rows;
        let answer = |row: usize, push: &[f64; 3]| dot(&self.w[row * rows + 3 * body..][..3], push);
        let own =
            |push: &[f64; 3]| (0..3).map(|axis| push[axis] * answer(3 * body + axis, push)).sum::<f64>();
        let along = own(&normal);
        // Part by which answers in a direction are not those foretold.
        let unsure = |push: &[f64; 3]| {
            (0..3).map(|axis| push[axis] * push[axis] * self.misfits[3 * body + axis]).sum::<f64>().sqrt()
                * SIGMAS
        };
        let least = unsure(&normal);
        if least >= 1.0 || along <= KNOWN * self.scale() {
            return None;
        }
        let differs = |push: &[f64; 3]| {
            let off = |row: usize| {
                let expected = if row / 3 == body { along * push[row % 3] } else { 0.0 };
                answer(row, push) - expected
            };
            let most = KNOWN.max(least) * along;
            (0..rows).map(|row| off(row) * off(row)).sum::<f64>() > most * most
        };
        // What does not move is not foretold.
        let moves = |push: &[f64; 3]| unsure(push) < 1.0;
        let is_refuted =
            differs(&normal) || tangents(&normal).iter().any(|push| moves(push) && differs(push));
        if is_refuted { Some(false) } else { (least < KNOWN).then_some(true) }
    }

    /// Takes note of a window of a trial in which bodies answered as free masses do, as far as they told.
    pub fn go_on_trying(&mut self, is_free: bool, near: bool) {
        let longest = self.longest();
        let Trial::Runs { windows, free } = &mut self.trial else { return };
        *windows += 1;
        *free = if is_free { *free + 1 } else { 0 };
        let enough = *free >= SAMPLES as u32 || *windows >= longest;
        if enough {
            self.trial = Trial::Over { near };
        }
    }

    /// Notes what bodies are expected to do for the forces that were just made, by row.
    pub fn expect(&mut self, answer: impl Fn(usize, usize) -> f64) {
        let rows = self.rows;
        self.answers.copy_within(0..rows, rows);
        for row in 0..rows {
            self.answers[row] = answer(row / 3, row % 3);
        }
    }

    /// Middle of one of the last windows, before the present.
    fn middle(&self, window: usize) -> f64 {
        0.5 * (self.times[window] + self.times[window + 1]) - self.times[0]
    }

    /// By how much the accelerations that were expected of the last window, whose forces were found `late` windows ago,
    /// exceed those of the operator as it is now known for it.
    pub fn correction(&self, late: usize, row: usize) -> f64 {
        let rows = self.rows;
        let length = self.times[0] - self.times[1];
        let now = |column: usize| {
            let place = row * rows + column;
            let rate = self.rate[place] + self.turned(row, column);
            (self.w[place] - 0.5 * length * rate) * self.impulses[column] / length
        };
        self.answers[late * rows + row] - (0..rows).map(now).sum::<f64>()
    }

    /// Adds to what is owed, along what contact has pushed, the impulses and time integrals that make up for what bodies
    /// lack of velocity and displacement. Combinations of pushes that move less than what is known of the operator, as feet
    /// do that press against one another, are left alone.
    pub fn make_up(&mut self, block: impl Fn(usize, usize) -> [[f64; 3]; 3], lacks: &[[[f64; 3]; 2]]) {
        let mut ways: Vec<(usize, [f64; 3], [f64; 3])> = Vec::new();
        for (body, push) in self.pushes_of_late.iter().enumerate() {
            if push.age > RECENT {
            } else if push.along == [0.0; 3] {
                ways.extend(AXES.map(|axis| (body, axis, axis)));
            } else {
                ways.push((body, push.normal, push.along));
            }
        }
        let count = ways.len();
        let answers: Vec<f64> = ways
            .iter()
            .flat_map(|&(one, seen, _)| ways.iter().map(move |&(other, _, push)| (one, seen, other, push)))
            .map(|(one, seen, other, push)| dot(&seen, &block(one, other).map(|row| dot(&row, &push))))
            .collect();
        let column = |way: usize| (0..count).map(move |row| row * count + way);
        let mut square = vec![0.0; count * count];
        for one in 0..count {
            for other in 0..count {
                square[one * count + other] =
                    column(one).zip(column(other)).map(|(a, b)| answers[a] * answers[b]).sum();
            }
        }
        let mut turns = Vec::new();
        diagonalize(&mut square, &mut turns, count);
        let largest = (0..count).fold(0.0_f64, |most, way| most.max(square[way * (count + 1)]));
        for (of, list) in [&mut self.owed, &mut self.reach].into_iter().enumerate() {
            let lack: Vec<f64> = ways.iter().map(|&(body, seen, _)| dot(&seen, &lacks[body][of])).collect();
            let image: Vec<f64> = (0..count)
                .map(|way| column(way).zip(&lack).map(|(a, lack)| answers[a] * lack).sum())
                .collect();
            for k in 0..count {
                let value = square[k * (count + 1)];
                if value <= KNOWN * KNOWN * largest {
                    continue;
                }
                let turned: f64 = column(k).zip(&image).map(|(place, image)| turns[place] * image).sum();
                for (place, &(body, _, push)) in column(k).zip(&ways) {
                    let size = turns[place] * turned / value;
                    (0..3).for_each(|axis| list[body][axis] += size * push[axis]);
                }
            }
        }
    }

    /// Windows from the start until the operator is known, about.
    pub fn first_windows(&self) -> u32 {
        /// Windows in which the latency is found out.
        const LATENCY: u32 = 20;
        let uncertainties = std::iter::successors(Some(UNSURE * UNSURE), |square| Some(square * FADING));
        let fading = uncertainties.take_while(|&square| square > KNOWN * KNOWN).count();
        LATENCY + SAMPLES as u32 + LISTEN + fading as u32
    }

    /// Windows after which an operator that is not known will not be.
    pub fn longest(&self) -> u32 {
        TRIAL * self.first_windows()
    }

    /// The forces of probes in the next window, by row, where they are `due`, smaller where a trial goes on; accelerations
    /// and windows have the given sizes.
    pub fn probe(
        &mut self,
        (due, tries): (bool, bool),
        acceleration: f64,
        length: f64,
        ways: impl Fn(usize) -> Ways,
        mass: impl Fn(usize) -> f64,
    ) -> &[f64] {
        let rows = self.rows;
        let speed = self.velocities[..rows].iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let all = PROBE_SIZE.0 * acceleration + PROBE_SIZE.1 * speed / length;
        let least = all / (rows as f64 / 3.0).sqrt();
        // Where contact presses on other bodies, probes have to stand out of that too.
        let clear = (CLEAR * (self.noise + self.masking).sqrt() / length).min(MOST_PROBE * acceleration);
        let size = if !due {
            0.0
        } else if tries {
            // Larger ones would be seen in the motion of what rests or bounces.
            TRIAL_PROBE.0 * if self.touched { least } else { least.max(TRIAL_PROBE.1 * clear) }
        } else {
            least.max(clear)
        };
        self.windows = self.windows.wrapping_add(1);
        self.probes.copy_within(0..rows, rows);
        for body in 0..rows / 3 {
            let size = size * mass(body);
            let sign = |axis: usize| sign(self.windows, (3 * body + axis) as u32);
            let level = match ways(body) {
                Ways::All => [0, 1, 2].map(|axis| sign(axis) * size),
                Ways::Along(way) => way.map(|part| sign(0) * part * size),
                Ways::End => [0.0; 3],
                // A probe that has begun is not ended.
                Ways::None => {
                    self.levels[3 * body..][..3].fill(0.0);
                    [0.0; 3]
                }
            };
            for (axis, level) in level.into_iter().enumerate() {
                let row = 3 * body + axis;
                self.probes[row] = level - self.levels[row];
                self.levels[row] = level;
            }
        }
        &self.probes[..rows]
    }

    /// Whether the last probes have left velocity.
    pub fn is_probed(&self) -> bool {
        self.levels.iter().any(|&level| level != 0.0)
    }

    /// Takes note of bodies that are struck: the velocities of all that respond to them jump, and with them the rate of the
    /// operator. What it is thought to be at a time `ahead` is taken for good.
    pub fn strike(&mut self, is_struck: impl Fn(usize) -> bool, ahead: f64) {
        let (rows, all) = (self.rows, 2 * self.rows);
        let span = self.times[0] - self.times[1];
        let wander = self.wander(span);
        let mut jumps = [false; MOST_ROWS / 3];
        for (body, jumps) in jumps[..rows / 3].iter_mut().enumerate() {
            *jumps = (0..rows / 3).any(|other| is_struck(other) && self.responds(body, other));
        }
        for one in (0..rows).filter(|one| jumps[one / 3]) {
            for other in (0..rows).filter(|other| jumps[other / 3]) {
                let place = one * rows + other;
                self.w[place] += ahead * self.rate[place];
                self.rate[place] = 0.0;
            }
            for other in 0..all {
                self.covariance[(rows + one) * all + other] = 0.0;
                self.covariance[other * all + rows + one] = 0.0;
            }
            self.covariance[(rows + one) * (all + 1)] = wander * wander;
        }
    }

    /// Rate of an entry of the operator as it turns with bodies.
    fn turned(&self, row: usize, column: usize) -> f64 {
        let rows = self.rows;
        let cross = |at: usize, entry: &dyn Fn(usize) -> f64| {
            let (body, axis) = (at / 3, at % 3);
            let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
            let spin = &self.turning.spins[body];
            spin[next] * entry(3 * body + last) - spin[last] * entry(3 * body + next)
        };
        cross(row, &|row| self.w[row * rows + column]) + cross(column, &|column| self.w[row * rows + column])
    }

    /// Whether a body responds to forces on another one.
    fn responds(&self, one: usize, other: usize) -> bool {
        /// Parts of their own responses below which two bodies have nothing to do with one another.
        const APART: f64 = 1e-3;
        let size = |one: usize, other: usize| -> f64 {
            let entry = |place: usize| self.w[(3 * one + place / 3) * self.rows + 3 * other + place % 3];
            (0..9).map(|place| entry(place) * entry(place)).sum()
        };
        one == other || size(one, other) > APART * APART * (size(one, one) * size(other, other)).sqrt()
    }

    /// Takes the nearest operator that makes no energy. What is known better counts more, so that what is unsure of a body
    /// does not change how others respond [Higham 2002, weighted norm].
    fn make_positive(&self, operator: &mut [f64], [turned, turns]: &mut [Vec<f64>; 2]) {
        let (rows, all) = (self.rows, 2 * self.rows);
        let mut weights = [0.0; MOST_ROWS];
        for (row, weight) in weights[..rows].iter_mut().enumerate() {
            *weight = 1.0 / self.covariance[row * (all + 1)].max(f64::MIN_POSITIVE).sqrt().sqrt();
        }
        let places = || (0..rows * rows).map(|place| (place, weights[place / rows] * weights[place % rows]));
        places().for_each(|(place, weight)| operator[place] *= weight);
        turned.clear();
        turned.extend_from_slice(operator);
        diagonalize(turned, turns, rows);
        write_with(|own, _| own.max(0.0), turned, turns, rows, operator);
        places().for_each(|(place, weight)| operator[place] /= weight);
    }

    /// Writes the operator at a time `ahead`, symmetric and positive, and the same with what hardly moves raised.
    pub fn write(&self, ahead: f64, [operator, raised]: &mut [Vec<f64>; 2], room: &mut [Vec<f64>; 2]) {
        let (rows, all) = (self.rows, 2 * self.rows);
        operator.clear();
        operator.extend((0..rows * rows).map(|place| {
            self.w[place] + ahead * (self.rate[place] + self.turned(place / rows, place % rows))
        }));
        for one in 0..rows {
            for other in 0..one {
                // What is known better counts more.
                let unsure = |row: usize| self.covariance[row * (all + 1)].max(f64::MIN_POSITIVE);
                let part = unsure(one) / (unsure(one) + unsure(other));
                let places = [one * rows + other, other * rows + one];
                let mean = part * operator[places[0]] + (1.0 - part) * operator[places[1]];
                places.iter().for_each(|&place| operator[place] = mean);
            }
        }
        let least = self.misfit.sqrt().clamp(LEAST, MOST_RAISED);
        let largest = (0..rows).fold(0.0_f64, |most, row| most.max(operator[row * (rows + 1)]));
        if !is_positive(operator, &mut room[0], rows, least * largest) {
            self.make_positive(operator, room);
        }
        let [turned, turns] = room;
        turned.clone_from(operator);
        diagonalize(turned, turns, rows);
        raised.resize(rows * rows, 0.0);
        write_with(|own, largest| own.max(least * largest), turned, turns, rows, raised);
        // What is known no better than it moves is not foretold to move.
        let known = |own, largest| if own > least * largest { own } else { 0.0 };
        write_with(known, turned, turns, rows, operator);
    }
}

/// Ways in which a body may be probed: where contact presses it, as contact pushes.
pub enum Ways {
    /// No more; the last probe is ended.
    End,
    /// Not at all.
    None,
    /// Along a unit vector.
    Along([f64; 3]),
    /// In all directions.
    All,
}

/// A sign that follows no rule [Steele, Lea, Flood 2014].
fn sign(window: u32, row: u32) -> f64 {
    let mut bits = (u64::from(window) << 32 | u64::from(row)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    if (bits ^ (bits >> 31)) & 1 == 0 { 1.0 } else { -1.0 }
}

/// Most rows: those of sixteen bodies.
pub const MOST_ROWS: usize = 48;

/// Turns rows and columns of a square matrix, of three for each body, over and over.
fn turn(matrix: &mut [f64], size: usize, rotations: &[Matrix3<f64>]) {
    for place in (0..size).step_by(3) {
        let rotation = &rotations[place / 3 % rotations.len()];
        if *rotation == Matrix3::identity() {
            continue;
        }
        for at in [|axis, other, size| axis * size + other, |axis, other, size| other * size + axis] {
            for other in 0..size {
                let places = [0, 1, 2].map(|axis| at(place + axis, other, size));
                let turned = rotation * Vector3::from(places.map(|place| matrix[place]));
                places.iter().zip(&turned).for_each(|(&place, &entry)| matrix[place] = entry);
            }
        }
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Weights of the divided difference over all samples, newest first; their sizes add up to 1.
fn weights<const N: usize>(times: &[f64; N]) -> [f64; N] {
    let span = (times[0] - times[N - 1]) / (N - 1) as f64;
    let mut weights = [0.0; N];
    for (one, weight) in weights.iter_mut().enumerate() {
        let others = (0..N).filter(|&other| other != one);
        *weight = 1.0 / others.map(|other| (times[one] - times[other]) / span).product::<f64>();
    }
    let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
    weights.map(|weight| weight / sum)
}

/// Two unit vectors across one.
fn tangents(normal: &[f64; 3]) -> [[f64; 3]; 2] {
    let cross = |a: &[f64; 3], b: &[f64; 3]| {
        [0, 1, 2].map(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
    };
    let least = (0..3).fold(0, |least, k| if normal[k].abs() < normal[least].abs() { k } else { least });
    let one = cross(normal, &AXES[least]);
    let size = dot(&one, &one).sqrt();
    let one = one.map(|part| part / size);
    [one, cross(normal, &one)]
}

/// Whether a symmetric matrix is positive but for a shift, by its Cholesky factor.
fn is_positive(matrix: &[f64], factor: &mut Vec<f64>, rows: usize, shift: f64) -> bool {
    factor.clear();
    factor.extend_from_slice(matrix);
    for column in 0..rows {
        let known = |row: usize, factor: &[f64]| {
            dot(&factor[row * rows..][..column], &factor[column * rows..][..column])
        };
        let square = factor[column * (rows + 1)] + shift - known(column, factor);
        if square.is_nan() || square <= 0.0 {
            return false;
        }
        let pivot = square.sqrt();
        factor[column * (rows + 1)] = pivot;
        for row in column + 1..rows {
            factor[row * rows + column] = (factor[row * rows + column] - known(row, factor)) / pivot;
        }
    }
    true
}

/// Writes a symmetric matrix with other eigenvalues: those that are made of its own and of the largest one.
fn write_with(
    values: impl Fn(f64, f64) -> f64,
    turned: &[f64],
    turns: &[f64],
    rows: usize,
    matrix: &mut [f64],
) {
    let own = |row: usize| turned[row * (rows + 1)];
    let largest = (0..rows).fold(0.0_f64, |most, row| most.max(own(row)));
    let mut made = [0.0; MOST_ROWS];
    made.iter_mut().zip((0..rows).map(own)).for_each(|(made, own)| *made = values(own, largest));
    for one in 0..rows {
        for other in 0..rows {
            let vectors = (0..rows).map(|k| turns[one * rows + k] * made[k] * turns[other * rows + k]);
            matrix[one * rows + other] = vectors.sum();
        }
    }
}

/// Turns a symmetric matrix until its eigenvalues are on the diagonal, by Jacobi's rotations.
fn diagonalize(matrix: &mut [f64], turns: &mut Vec<f64>, rows: usize) {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix6, Rotation3};

    /// One body is well known, the other one not at all, and both together make energy.
    #[test]
    fn what_is_unsure_gives_way() {
        let mut operator = Operator::new(2);
        operator.guess(|_| 1.0);
        let known = 1e-8;
        for row in 0..3 {
            operator.covariance[row * 13] = known * known;
        }
        for (one, other, entry) in [(0, 3, 0.8), (3, 0, 0.8), (3, 3, 0.1)] {
            operator.w[6 * one + other] = entry;
        }
        let mut written = [Vec::new(), Vec::new()];
        operator.write(0.0, &mut written, &mut [Vec::new(), Vec::new()]);
        let [known, raised] = written.map(|entries| Matrix6::from_row_slice(&entries));
        for written in [known, raised] {
            assert!((written.fixed_view::<3, 3>(0, 0) - Matrix3::identity()).norm() < 1e-2);
            assert!(written[(3, 3)] > 0.3, "{written}");
        }
        assert!(known.symmetric_eigenvalues().min() > -1e-12);
        assert!(raised.symmetric_eigenvalues().min() > 1e-4);
    }

    #[test]
    fn a_matrix_turns_with_two_bodies() {
        let matrix = Matrix6::from_fn(|row, column| ((3 * row + column) as f64).sin());
        let bodies = [Vector3::new(0.3, -0.1, 0.2), Vector3::new(-0.2, 0.5, 0.1)];
        let rotations = bodies.map(|turn| *Rotation3::new(turn).matrix());
        let mut both = Matrix6::identity();
        both.fixed_view_mut::<3, 3>(0, 0).copy_from(&rotations[0]);
        both.fixed_view_mut::<3, 3>(3, 3).copy_from(&rotations[1]);
        let mut turned: Vec<f64> = matrix.transpose().iter().copied().collect();
        turn(&mut turned, 6, &rotations);
        let exact = both * matrix * both.transpose();
        assert!((Matrix6::from_row_slice(&turned) - exact).norm() < 1e-14);
    }
}
