//! Whether a force goes by a rule that makes it grow without end.
//!
//! Masses, springs and forces that are held over steps of the same length make a linear system, and what it gives follows
//!
//! `f[k] = a1 f[k-1] + ... + ap f[k-p]`,
//!
//! with as many terms as the system has states and inputs. Where a few terms foretell the last forces, they foretell the
//! next ones too: exponential growth is known after some ten steps, while it is still small. Forces that are given as
//! functions of time go by other rules, or by ones that do not grow so.

use nalgebra::Vector3;

/// The last forces, of steps of one length between which nothing has touched.
#[derive(Clone, Debug)]
pub struct GrowingForce {
    /// Newest first.
    forces: [Vector3<f64>; MOST],
    count: usize,
    /// Length of the steps.
    step: f64,
}

/// Least and largest numbers of terms.
const TERMS: std::ops::RangeInclusive<usize> = 2..=5;
/// Forces beyond those that give the terms, by which these are checked.
const CHECKS: usize = 2;
/// Forces to keep.
const MOST: usize = 2 * *TERMS.end() + CHECKS;
/// Largest error of a force that is foretold, as a part of the largest one.
const ERROR: f64 = 1e-10;
/// Pivots below this part of the largest one leave the terms to chance: smooth functions look like polynomials then.
const PIVOT: f64 = 1e-4;
/// The newest forces, and by how much they have to be larger than those before to be worth a look.
const NEWEST: usize = 4;
const LARGER: f64 = 1.1;
/// Steps after which forces are compared with those at half the time, and by how much larger they are if they grow
/// exponentially; powers of time up to the third grow by 8.
const AHEAD: usize = 400;
const GROWTH: f64 = 20.0;

impl GrowingForce {
    /// No forces yet.
    pub fn new() -> GrowingForce {
        GrowingForce { forces: [Vector3::zeros(); MOST], count: 0, step: 0.0 }
    }

    /// Takes the force of a step of the given length, before which something `touched` or not. Returns whether it grows.
    pub fn see(&mut self, force: &Vector3<f64>, step: f64, touched: bool) -> bool {
        let is_same = (step - self.step).abs() <= 1e-9 * step;
        if touched || !is_same {
            (self.count, self.step) = (0, step);
        }
        self.forces.rotate_right(1);
        self.forces[0] = *force;
        self.count = (self.count + 1).min(MOST);
        let axis = force.iamax();
        let largest =
            |forces: &[Vector3<f64>]| forces.iter().fold(0.0, |most: f64, f| most.max(f[axis].abs()));
        let (newest, before) = self.forces[..self.count].split_at(NEWEST.min(self.count));
        let (new, old) = (largest(newest), largest(before));
        if new <= LARGER * old {
            return false;
        }
        let forces = self.forces.map(|force| force[axis] / new);
        TERMS.filter(|terms| 2 * terms + CHECKS <= self.count).any(|terms| grows(&forces, terms))
    }
}

/// Whether a rule with so many terms foretells the forces, newest first, and further ones that grow.
fn grows(forces: &[f64; MOST], terms: usize) -> bool {
    let Some(rule) = rule(forces, terms) else { return false };
    let foretell = |before: &[f64]| rule.iter().zip(before).map(|(term, force)| term * force).sum::<f64>();
    let is_wrong = |k: usize| (forces[k] - foretell(&forces[k + 1..])).abs() > ERROR;
    if (0..terms + CHECKS).any(is_wrong) {
        return false;
    }
    let mut next = *forces;
    let mut largest = [0.0_f64; 2];
    for step in 0..AHEAD {
        let force = foretell(&next);
        next.rotate_right(1);
        next[0] = force;
        if (step + 1) % (AHEAD / 2) == 0 {
            largest[step / (AHEAD / 2)] = next.iter().fold(0.0, |most, force| most.max(force.abs()));
        }
    }
    largest[1] > GROWTH * largest[0]
}

/// Terms by which the newest forces follow from those before them, newest first, by elimination with pivots.
fn rule(forces: &[f64; MOST], terms: usize) -> Option<[f64; *TERMS.end()]> {
    const SIZE: usize = *TERMS.end();
    let mut rows = [[0.0; SIZE + 1]; SIZE];
    for (k, row) in rows[..terms].iter_mut().enumerate() {
        row[..terms].copy_from_slice(&forces[k + 1..k + 1 + terms]);
        row[SIZE] = forces[k];
    }
    let mut largest = 0.0_f64;
    for column in 0..terms {
        let size = |row: &usize| rows[*row][column].abs();
        let pivot = (column..terms).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        largest = largest.max(size(&pivot));
        if size(&pivot) <= PIVOT * largest {
            return None;
        }
        rows.swap(column, pivot);
        let first = rows[column];
        for row in &mut rows[column + 1..terms] {
            let part = row[column] / first[column];
            row.iter_mut().zip(first).for_each(|(entry, above)| *entry -= part * above);
        }
    }
    let mut rule = [0.0; SIZE];
    for column in (0..terms).rev() {
        let known: f64 = (column + 1..terms).map(|k| rows[column][k] * rule[k]).sum();
        rule[column] = (rows[column][SIZE] - known) / rows[column][column];
    }
    Some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step, from 1 on, at which a force is first said to grow.
    fn found(force: impl Fn(f64) -> f64, step: f64) -> Option<usize> {
        let mut growing = GrowingForce::new();
        (1..2000).find(|&k| growing.see(&Vector3::new(0.0, 0.0, force(k as f64 * step)), step, false))
    }

    /// Forces of a mass on a spring whose force is held over steps with the given `(H omega)^2`.
    fn held_spring(square: f64, steps: usize) -> Vec<f64> {
        let (mut place, mut speed) = (1.0, 0.0);
        let step = |_| {
            let force = -square * place;
            place += speed + 0.5 * force;
            speed += force;
            force
        };
        (0..steps).map(step).collect()
    }

    #[test]
    fn a_held_spring_grows() {
        for square in [0.1, 0.3, 1.0, 2.0] {
            let mut growing = GrowingForce::new();
            let mut see = |force: f64| growing.see(&Vector3::new(force, 0.0, 0.0), 1e-2, false);
            let steps = held_spring(square, 100).iter().position(|&force| see(force));
            assert!(steps.is_some_and(|steps| steps < 60), "{square}: {steps:?}");
        }
    }

    #[test]
    fn contact_and_other_steps_break_the_rule() {
        for (touched, length) in [(true, 1e-2), (false, 2e-2)] {
            let mut growing = GrowingForce::new();
            for (k, force) in held_spring(1.0, 100).into_iter().enumerate() {
                let breaks = k % 5 == 0;
                let step = if breaks { length } else { 1e-2 };
                assert!(!growing.see(&Vector3::new(force, 0.0, 0.0), step, touched && breaks));
            }
        }
    }

    #[test]
    fn functions_of_time_do_not() {
        let smooth = |t: f64| {
            let part = (t / 0.1).min(1.0);
            part * part * (3.0 - 2.0 * part)
        };
        let forces: [(&str, &dyn Fn(f64) -> f64); 12] = [
            ("constant", &|_| 3.0),
            ("linear", &|t| 9.0 * t),
            ("square", &|t| t * t),
            ("cube", &|t| t * t * t),
            ("harmonic", &|t| (60.0 * t).sin()),
            ("resonance", &|t| t * (60.0 * t).sin()),
            ("beats", &|t| 9.0 * (60.0 * t).sin() + 8.0 * (66.0 * t).sin()),
            ("set in softly", &|t| smooth(t) * (200.0 * t).sin()),
            ("approach", &|t| 1.0 - (-t / 0.05).exp()),
            ("chirp", &|t| t * (60.0 * t * t).sin()),
            ("switched softly", &|t| 1.0 / (1.0 + (-(t - 0.2) / 0.02).exp())),
            ("bell", &|t| (-((t - 0.3) / 0.05).powi(2)).exp()),
        ];
        for step in [1e-2, 1e-3, 1e-4] {
            for (name, force) in forces {
                assert_eq!(found(force, step), None, "{name} in steps of {step}");
            }
        }
    }
}
