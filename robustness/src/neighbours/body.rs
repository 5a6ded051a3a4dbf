//! What a master moves: a free rigid body under forces that are held over a step.

use super::scene::{Pose, Turn, Vector};

/// A body of the master.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Mass; infinite for a motion that nothing changes.
    pub mass: f64,
    /// Principal moments; none for a point mass.
    pub inertia: Option<[f64; 3]>,
    /// Pose and velocities.
    pub pose: Pose,
}

impl Body {
    /// Moves on for `step` under a force and torque that are held: exactly, but for the rotation of unequal moments,
    /// which is followed by Runge and Kutta's method in steps of a fiftieth of a radian.
    pub fn advance(&mut self, step: f64, acceleration: &Vector, force: &Vector, torque: &Vector) {
        let acceleration =
            if self.mass.is_finite() { acceleration + force / self.mass } else { Vector::zeros() };
        self.pose.r += self.pose.v * step + acceleration * (0.5 * step * step);
        self.pose.v += acceleration * step;
        match self.inertia {
            Some(inertia) if inertia.iter().all(|moment| moment.is_finite()) => {
                self.turn(step, inertia, torque);
            }
            _ => self.pose.q = Turn::from_scaled_axis(self.pose.w * step) * self.pose.q,
        }
    }

    fn turn(&mut self, step: f64, inertia: [f64; 3], torque: &Vector) {
        const ANGLE: f64 = 0.02;
        let inertia = Vector::from(inertia);
        let q = self.pose.q;
        let mut momentum = q * inertia.component_mul(&(q.inverse() * self.pose.w));
        let spin = |q: &Turn, momentum: &Vector| q * (q.inverse() * momentum).component_div(&inertia);
        let most = self.pose.w.norm() + step * torque.norm() / inertia.min();
        let count = (most * step / ANGLE).ceil().clamp(1.0, 2000.0);
        let h = step / count;
        let mut q = q;
        for _ in 0..count as usize {
            // In the rotation vector since the start of the interval, to the order of the method.
            let rate = |turned: &Vector, momentum: &Vector| {
                let now = Turn::from_scaled_axis(*turned) * q;
                let w = spin(&now, momentum);
                w - turned.cross(&w) * 0.5 + turned.cross(&turned.cross(&w)) / 12.0
            };
            let after = |part: f64| momentum + torque * (part * h);
            let k1 = rate(&Vector::zeros(), &momentum);
            let k2 = rate(&(k1 * (0.5 * h)), &after(0.5));
            let k3 = rate(&(k2 * (0.5 * h)), &after(0.5));
            let k4 = rate(&(k3 * h), &after(1.0));
            q = Turn::from_scaled_axis((k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0)) * q;
            momentum = after(1.0);
        }
        self.pose.q = Turn::new_normalize(q.into_inner());
        self.pose.w = spin(&self.pose.q, &momentum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A free body keeps its energy and its angular momentum.
    #[test]
    fn a_free_body_keeps_energy_and_momentum() {
        let inertia = [1.0, 2.0, 2.5];
        let w = Vector::new(1.0, 0.7, -0.4);
        let mut body = Body {
            mass: 1.0,
            inertia: Some(inertia),
            pose: Pose { r: Vector::zeros(), v: Vector::zeros(), q: Turn::identity(), w },
        };
        let books = |body: &Body| {
            let local = body.pose.q.inverse() * body.pose.w;
            let momentum = local.component_mul(&Vector::from(inertia));
            (local.dot(&momentum), body.pose.q * momentum)
        };
        let before = books(&body);
        for _ in 0..100 {
            body.advance(0.1, &Vector::zeros(), &Vector::zeros(), &Vector::zeros());
        }
        let after = books(&body);
        assert!((before.0 - after.0).abs() < 1e-8, "{before:?} {after:?}");
        assert!((before.1 - after.1).norm() < 1e-12, "{before:?} {after:?}");
    }
}
