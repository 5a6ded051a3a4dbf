//! How far a simulated wheel is from the motion it is measured against: the quantities of Peiret's Figs. 4 and 5.

use nalgebra::Vector3;

/// At the end of one step.
pub struct Deviation {
    pub time: f64,
    /// `|f_T| / (mu f_N)` of the simulated wheel.
    pub friction_used: f64,
    /// Difference of `|f_T| / (mu f_N)`.
    pub force: f64,
    /// Distance of the centres as a part of the distance from the start.
    pub position: f64,
    /// Difference of the mechanical energy, in J.
    pub energy: f64,
    /// Angle of the friction force in degrees, while the wheel slides.
    pub misalignment: Option<f64>,
}

/// Distance of `ours` from `theirs` as a part of the way from `beginning`.
pub fn distance_part(ours: &Vector3<f64>, theirs: &Vector3<f64>, beginning: &Vector3<f64>) -> f64 {
    (ours - theirs).norm() / (theirs - beginning).norm()
}

/// A whole run.
pub struct Summary {
    /// Root mean square of [`Deviation::force`].
    pub force: f64,
    /// Root mean square of [`Deviation::misalignment`].
    pub misalignment: f64,
    /// Largest [`Deviation::position`] after 0.1 s.
    pub position: f64,
    /// Largest [`Deviation::energy`].
    pub energy: f64,
}

pub fn summary(deviations: &[Deviation]) -> Summary {
    let largest = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(0.0, |largest: f64, value| {
            assert!(value.is_finite());
            largest.max(value.abs())
        })
    };
    Summary {
        force: root_mean_square(deviations.iter().map(|deviation| deviation.force)),
        misalignment: root_mean_square(deviations.iter().filter_map(|deviation| deviation.misalignment)),
        position: largest(
            &mut deviations
                .iter()
                .filter(|deviation| deviation.time > 0.1)
                .map(|deviation| deviation.position),
        ),
        energy: largest(&mut deviations.iter().map(|deviation| deviation.energy)),
    }
}

fn root_mean_square(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value * value, count + 1));
    (sum / f64::from(count)).sqrt()
}
