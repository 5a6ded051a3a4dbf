//! Friction by an anchor: a spring from the touching point to an anchor on the surface pulls with `k l` until that is
//! `mu F`; then the anchor slides after it. [Schmucker et al. 2007, eq. 2]
//!
//! Where the stiffness grows with the load, the force stays and the spring gets shorter; where it falls, the length
//! stays and the force falls. So the spring never gives more than it took. [Thornton et al. 2013]

use crate::engine::scalar::{Scalar, length};
use nalgebra::Vector3;

/// The spring to the anchor at the start of an interval.
#[derive(Clone, Copy, Debug)]
pub struct Anchor<S> {
    /// From the anchor to the touching point, in the tangent plane.
    pub stretch: Vector3<S>,
    /// Stiffness over the last interval.
    pub stiffness_before: S,
    /// Stiffness over this one.
    pub stiffness: S,
    /// Largest force, `mu F`.
    pub limit: S,
}

/// What friction does over an interval.
#[derive(Clone, Copy, Debug)]
pub struct Pull<S> {
    /// Mean force on the node.
    pub force: Vector3<S>,
    /// Stretch at the end.
    pub stretch: Vector3<S>,
    /// Whether the anchor slides.
    pub slides: bool,
}

impl<S: Scalar> Anchor<S> {
    /// The pull over an interval in which the touching point moves by `way` over the surface.
    pub fn pull(&self, way: &Vector3<S>) -> Pull<S> {
        let Anchor { stiffness_before, stiffness, limit, .. } = *self;
        if limit.value() <= 0.0 || stiffness.value() <= 0.0 {
            return Pull { force: Vector3::zeros(), stretch: Vector3::zeros(), slides: true };
        }
        let longest = limit / stiffness;
        let kept = if stiffness.value() > stiffness_before.value() {
            self.stretch * (stiffness_before / stiffness)
        } else {
            self.stretch
        };
        let (kept, _) = within(kept, longest);
        let (stretch, slides) = within(kept + way, longest);
        let acting = if slides { stretch } else { (kept + stretch) * S::from(0.5) };
        Pull { force: -acting * stiffness, stretch, slides }
    }
}

/// A stretch cut to the longest one, and whether it was longer.
fn within<S: Scalar>(stretch: Vector3<S>, longest: S) -> (Vector3<S>, bool) {
    let size = length(&stretch);
    if size.value() > longest.value() { (stretch * (longest / size), true) } else { (stretch, false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_then_slides_and_never_gives_more_than_it_took() {
        let mut stretch = Vector3::zeros();
        let (mut worked, mut before) = (0.0, 50.0);
        for step in 0..4000 {
            let t = f64::from(step) * 1e-2;
            let stiffness = 50.0 + 30.0 * (1.3 * t).sin();
            let limit = 0.4 + 0.3 * t.cos();
            let way = Vector3::new((2.1 * t).cos(), 0.3 * (0.7 * t).sin(), 0.0) * 2e-3;
            let anchor = Anchor { stretch, stiffness_before: before, stiffness, limit };
            let pull = anchor.pull(&way);
            assert!(pull.force.norm() <= limit * (1.0 + 1e-15));
            assert_eq!(pull.slides, (pull.force.norm() - limit).abs() < 1e-12);
            let stored = |stretch: &Vector3<f64>, stiffness: f64| 0.5 * stiffness * stretch.norm_squared();
            let taken = -pull.force.dot(&way);
            let dissipated = taken - stored(&pull.stretch, stiffness) + stored(&stretch, before);
            assert!(dissipated > -1e-16, "{t}: {dissipated:e}");
            worked += dissipated;
            (stretch, before) = (pull.stretch, stiffness);
        }
        assert!(worked > 0.1);
    }
}
