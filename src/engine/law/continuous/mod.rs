//! Continuous contact: shapes overlap by a depth `d` and a force `F(d, d')` drives them apart. One law a file.
//!
//! All laws are a spring and a damper, `F = max(0, A(d) + c d')`, which never pull. Over an interval the mean force
//! is that of the mean elastic force ([`PowerSpring::mean`]) and the mean speed: what the spring takes it gives back to
//! round-off, and the damper only takes energy, whatever the length of the interval.
//! [Fancello 2012, ch. 2; Gonzalez 1996]

pub mod anchor;
pub mod flores;
pub mod hertz;
pub mod hunt_crossley;
pub mod kelvin_voigt;
pub mod lankarani_nikravesh;
pub mod schmucker;
pub mod spring;

use crate::engine::scalar::Scalar;
use crate::engine::tolerances::{BISECTIONS, TOLERANCES};
use kelvin_voigt::KelvinVoigt;
use serde::{Deserialize, Serialize};
use spring::PowerSpring;

/// Part of the time in which its damper stops it that a contact moves within one interval.
const PART_OF_DAMPING: f64 = TOLERANCES.much_less;

/// Law of the normal force.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ContinuousLaw {
    /// A linear spring and damper.
    KelvinVoigt(KelvinVoigt),
    /// A spring alone.
    Hertz(PowerSpring),
    /// Hysteresis by Hunt and Crossley.
    HuntCrossley(PowerSpring),
    /// Hysteresis by Lankarani and Nikravesh.
    LankaraniNikravesh(PowerSpring),
    /// Hysteresis by Flores and others.
    Flores(PowerSpring),
    /// Hysteresis by Schmucker and others, of a linear spring.
    Schmucker {
        /// Stiffness.
        stiffness: f64,
    },
}

/// A continuous contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compliance {
    /// Law of the normal force.
    pub law: ContinuousLaw,
    /// Stiffness of the spring to the anchor that friction acts by; none for that of the normal force.
    pub tangential_stiffness: Option<f64>,
}

/// What the normal force of a contact depends on besides depth and speed.
#[derive(Clone, Copy, Debug)]
pub struct Impact<S> {
    /// Coefficient of restitution.
    pub restitution: S,
    /// Speed at first touch.
    pub speed: S,
}

/// The damper of a law.
enum Damper<S> {
    /// `c` is constant.
    Viscous(S),
    /// `c = x A(d)`.
    Hysteretic(S),
}

/// Mean force over an interval.
#[derive(Clone, Copy, Debug)]
pub struct MeanForce<S> {
    /// The force, never negative.
    pub force: S,
    /// Its derivative with respect to the depth at the end.
    pub slope: S,
}

/// How a contact moves at present.
#[derive(Clone, Copy, Debug)]
pub struct Approach<S> {
    /// How deep the shapes overlap.
    pub depth: S,
    /// Size of the speed along the normal.
    pub speed: S,
    /// Size of the acceleration along the normal without contact.
    pub acceleration: S,
    /// Velocity along the normal for a unit impulse.
    pub mobility: S,
}

impl ContinuousLaw {
    /// The spring.
    pub fn spring(&self) -> PowerSpring {
        match *self {
            ContinuousLaw::KelvinVoigt(law) => PowerSpring::linear(law.stiffness),
            ContinuousLaw::Hertz(spring)
            | ContinuousLaw::HuntCrossley(spring)
            | ContinuousLaw::LankaraniNikravesh(spring)
            | ContinuousLaw::Flores(spring) => spring,
            ContinuousLaw::Schmucker { stiffness } => PowerSpring::linear(stiffness),
        }
    }

    /// Whether the damper depends on a coefficient of restitution.
    pub fn has_restitution(&self) -> bool {
        !matches!(self, ContinuousLaw::KelvinVoigt(_) | ContinuousLaw::Hertz(_))
    }

    /// Whether there is a law for restitution 0.
    pub fn allows_no_rebound(&self) -> bool {
        !matches!(self, ContinuousLaw::Flores(_) | ContinuousLaw::Schmucker { .. })
    }

    fn damper<S: Scalar>(&self, impact: &Impact<S>) -> Damper<S> {
        let hysteresis = match self {
            ContinuousLaw::KelvinVoigt(law) => return Damper::Viscous(S::from(law.damping)),
            ContinuousLaw::Hertz(_) => return Damper::Viscous(S::from(hertz::DAMPING)),
            ContinuousLaw::HuntCrossley(_) => hunt_crossley::hysteresis(impact.restitution),
            ContinuousLaw::LankaraniNikravesh(_) => lankarani_nikravesh::hysteresis(impact.restitution),
            ContinuousLaw::Flores(_) => flores::hysteresis(impact.restitution),
            ContinuousLaw::Schmucker { .. } => schmucker::hysteresis(impact.restitution),
        };
        Damper::Hysteretic(hysteresis / impact.speed)
    }

    /// Force at a depth, while it grows with `speed`.
    pub fn force<S: Scalar>(&self, depth: S, speed: S, impact: &Impact<S>) -> S {
        if depth.value() <= 0.0 {
            return S::zero();
        }
        let elastic = self.spring().force(depth);
        let force = match self.damper(impact) {
            Damper::Viscous(damping) => elastic + damping * speed,
            Damper::Hysteretic(factor) => elastic * (S::one() + factor * speed),
        };
        if force.value() > 0.0 { force } else { S::zero() }
    }

    /// Mean force over an interval `dt` from one depth to another.
    pub fn mean_force<S: Scalar>(&self, from: S, to: S, dt: S, impact: &Impact<S>) -> MeanForce<S> {
        let none = MeanForce { force: S::zero(), slope: S::zero() };
        if from.value() <= 0.0 && to.value() <= 0.0 {
            return none;
        }
        let elastic = self.spring().mean(from, to);
        let speed = (to - from) / dt;
        let mean = match self.damper(impact) {
            Damper::Viscous(damping) => {
                let ends = [from, to].map(|depth| self.spring().force(depth) + damping * speed);
                if ends[0].value() > 0.0 && ends[1].value() < 0.0 {
                    return pushing_part(ends, damping / dt, elastic.slope);
                }
                MeanForce { force: elastic.force + damping * speed, slope: elastic.slope + damping / dt }
            }
            Damper::Hysteretic(factor) => {
                let gain = S::one() + factor * speed;
                MeanForce {
                    force: elastic.force * gain,
                    slope: elastic.slope * gain + elastic.force * factor / dt,
                }
            }
        };
        if mean.force.value() > 0.0 { mean } else { none }
    }

    /// The mean force over an interval that would end at the depth `free` without it, and ends less deep by `yielding`
    /// times the force. There is exactly one.
    pub fn implicit_force<S: Scalar>(&self, from: S, free: S, yielding: S, dt: S, impact: &Impact<S>) -> S {
        let at = Impact { restitution: impact.restitution.value(), speed: impact.speed.value() };
        let mean = |force: f64| {
            let to = free.value() - yielding.value() * force;
            self.mean_force(from.value(), to, dt.value(), &at)
        };
        let (mut low, mut high) = (0.0, mean(0.0).force);
        let mut force = high;
        for _ in 0..BISECTIONS {
            let found = mean(force);
            let excess = force - found.force;
            if excess > 0.0 {
                high = force;
            } else {
                low = force;
            }
            let newton = force - excess / (1.0 + yielding.value() * found.slope);
            let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
            let change = (next - force).abs();
            force = next;
            if change <= f64::EPSILON * force {
                break;
            }
        }
        // Once more, for the tangent.
        let force = S::from(force);
        let found = self.mean_force(from, free - yielding * force, dt, impact);
        let force = force - (force - found.force) / (S::one() + yielding * found.slope);
        if force.value() > 0.0 { force } else { S::zero() }
    }

    /// How many intervals a second follow the contact. Intervals are short against the oscillation on the spring and
    /// the decay by the damper, where the contact is and where it gets to within one interval.
    pub fn rate<S: Scalar>(&self, approach: &Approach<S>, impact: &Impact<S>) -> S {
        let spring = self.spring();
        let Approach { depth, speed, acceleration, mobility } = *approach;
        let depth = if depth.value() > 0.0 { depth } else { S::zero() };
        let n = spring.exponent;
        let mut rate = ContinuousLaw::oscillation_rate(spring.tangent(depth), mobility);
        if n > 1.0 {
            // `dt^2 A'(speed dt) mobility` and `dt^2 A'(acceleration dt^2 / 2) mobility` are the square of the part.
            let scale = mobility * S::from(n * spring.stiffness / TOLERANCES.part_of_oscillation.powi(2));
            rate += (scale * speed.power(n - 1.0)).power(1.0 / (n + 1.0));
            rate += (scale * (acceleration * S::from(0.5)).power(n - 1.0)).power(0.5 / n);
        }
        let part = S::from(1.0 / PART_OF_DAMPING);
        match self.damper(impact) {
            Damper::Viscous(damping) => rate += damping * mobility * part,
            Damper::Hysteretic(factor) => {
                rate += factor * spring.force(depth) * mobility * part;
                // `dt x A(speed dt) mobility` is the part.
                let scale = factor * mobility * part * S::from(spring.stiffness);
                rate += (scale * speed.power(n)).power(1.0 / (n + 1.0));
            }
        }
        rate
    }

    /// How many intervals a second follow the oscillation on a spring.
    pub fn oscillation_rate<S: Scalar>(stiffness: S, mobility: S) -> S {
        (stiffness * mobility).sqrt() / S::from(TOLERANCES.part_of_oscillation)
    }

    /// Speed that a load which presses with `acceleration` gains on the way to where the spring carries it.
    pub fn settling_speed<S: Scalar>(&self, acceleration: S, mobility: S) -> S {
        if acceleration.value() <= 0.0 || mobility.value() <= 0.0 {
            return S::zero();
        }
        let spring = self.spring();
        let depth = (acceleration / (mobility * S::from(spring.stiffness))).power(1.0 / spring.exponent);
        (acceleration * depth).sqrt()
    }
}

/// Mean of the part that pushes of a force that falls below zero; both ends grow by `growth` with the depth at the
/// end, and the second one by twice `slope` besides.
fn pushing_part<S: Scalar>([first, last]: [S; 2], growth: S, slope: S) -> MeanForce<S> {
    let part = first / (first - last);
    MeanForce { force: first * part * S::from(0.5), slope: part * growth + part * part * slope }
}

impl Compliance {
    /// Stiffness of the spring to the anchor, at a depth.
    pub fn tangential<S: Scalar>(&self, depth: S) -> S {
        match self.tangential_stiffness {
            Some(stiffness) => S::from(stiffness),
            None if depth.value() > 0.0 => self.law.spring().tangent(depth),
            None => S::zero(),
        }
    }
}
