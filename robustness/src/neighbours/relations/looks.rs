//! The scene turned, moved, mirrored, from a train, in other units: the same motion.
//!
//! Tolerances are those of `compare`. A shift by a thousand bodies costs three of sixteen digits, a train that moves a
//! hundred bodies in the run two.

use super::super::motion::Look;
use super::super::run::Frame;
use super::super::scene::*;
use super::{Case, Verdict};
use crate::Entropy;

fn direction(entropy: &mut Entropy) -> Vector {
    loop {
        let vector = Vector::from_fn(|_, _| entropy.between(-1.0, 1.0));
        if (0.1..1.0).contains(&vector.norm()) {
            return vector.normalize();
        }
    }
}

fn compare(case: &Case, look: &Look) -> Verdict {
    let factor = look.units.time;
    let see = |index: usize, frame: &Frame| look.undone(&frame.nodes[index], frame.time / factor);
    case.moves_like(&look.of(&case.scene), &see)
}

/// Whether friction is the same in all directions: boxes and polygons lie along axes that are chosen.
fn is_isotropic(scene: &Scene) -> bool {
    scene.contacts.iter().all(|contact| contact.law.friction.is_isotropic())
}

/// Turned by any angle about any axis.
pub fn rotation(case: &Case) -> Verdict {
    if !is_isotropic(&case.scene) {
        return Verdict::Idle;
    }
    let mut entropy = case.entropy("rotation");
    let turn = Turn::from_scaled_axis(direction(&mut entropy) * entropy.between(0.1, 3.0));
    compare(case, &Look { turn, ..Look::plain() })
}

/// Moved by up to a thousand bodies.
pub fn translation(case: &Case) -> Verdict {
    let mut entropy = case.entropy("translation");
    let shift = direction(&mut entropy) * (case.scene.units.length * entropy.decades(1.0, 1000.0));
    compare(case, &Look { shift, ..Look::plain() })
}

/// Seen in a mirror.
pub fn mirror(case: &Case) -> Verdict {
    if !is_isotropic(&case.scene) {
        return Verdict::Idle;
    }
    compare(case, &Look { mirror: true, ..Look::plain() })
}

/// Seen from a train: surfaces move as the master says. What is tied to the ground is left out.
pub fn boost(case: &Case) -> Verdict {
    let scene = &case.scene;
    let can_move = matches!(scene.scheme, Scheme::MoreauJean(_)) || !scene.surfaces.is_empty();
    if scene.is_grounded() || !can_move {
        return Verdict::Idle;
    }
    let mut entropy = case.entropy("boost");
    let boost = direction(&mut entropy) * (scene.units.speed() * entropy.decades(0.1, 10.0));
    compare(case, &Look { boost, ..Look::plain() })
}

/// In millimetres, grams and milliseconds, or in kilometres, tonnes and seconds, or in other units.
pub fn units(case: &Case) -> Verdict {
    let units = *case.entropy("units").pick(&[
        Units { length: 1e3, mass: 1e3, time: 1e3 },
        Units { length: 1e-3, mass: 1e-3, time: 1.0 },
        Units { length: 1e6, mass: 1.0, time: 1e3 },
        Units { length: 1.0, mass: 1e6, time: 1.0 },
        Units { length: 1e-6, mass: 1e-9, time: 1e-3 },
    ]);
    // Legal internal steps are above 1e-9 s; contacts that yield are followed in parts of a step.
    if case.scene.internal_step() * units.time < 1e-6 {
        return Verdict::Idle;
    }
    compare(case, &Look { units, ..Look::plain() })
}
