//! The natural residual, the only judge of success. No solver shares this code.

use super::cone::ConeProblem;

/// `||r - Proj_K(r - (u + mu |u_T| n))|| / ||q||` with `u = W r + q`. Infinite where a number is not finite.
pub fn natural_residual(problem: &ConeProblem<f64>, r: &[f64]) -> f64 {
    /// Squares of what is at round-off beside it do not underflow.
    const LEAST: f64 = f64::MIN_POSITIVE / (f64::EPSILON * f64::EPSILON * f64::EPSILON);
    let scale_square = problem.q.iter().map(|q| q * q).sum::<f64>();
    let magnified = if scale_square < LEAST { magnification(problem) } else { 1.0 };
    let mut square = 0.0;
    for contact in 0..problem.contacts() {
        let at = 3 * contact;
        let mu = problem.mu[contact];
        let u = problem.velocity(contact, r).map(|u| u * magnified);
        let here = [r[at], r[at + 1], r[at + 2]].map(|r| r * magnified);
        let sliding = (u[1] * u[1] + u[2] * u[2]).sqrt();
        let shift = [u[0] + mu * sliding, u[1], u[2]];
        square += distance(here, shift, mu).iter().map(|part| part * part).sum::<f64>();
    }
    let scale = if magnified == 1.0 {
        scale_square.sqrt()
    } else {
        problem.q.iter().map(|q| (q * magnified).powi(2)).sum::<f64>().sqrt()
    };
    let residual = square.sqrt();
    // An infinite `q` would make every residual small.
    match (residual.is_finite() && scale.is_finite(), scale > 0.0) {
        (false, _) => f64::INFINITY,
        (true, true) => residual / scale,
        (true, false) => residual,
    }
}

/// Squares of the smallest numbers underflow, and a wrong answer would pass: they are scaled by this. One where all
/// are zero.
#[cold]
fn magnification(problem: &ConeProblem<f64>) -> f64 {
    // A power of two, which rounds nothing.
    const MAGNIFICATION: f64 = f64::EPSILON * f64::EPSILON * f64::EPSILON * f64::EPSILON / f64::MIN_POSITIVE;
    if problem.q.iter().any(|&q| q != 0.0) { MAGNIFICATION } else { 1.0 }
}

/// `r - Proj(r - shift)` with the orthogonal projection onto `|x_T| <= mu x_N`. Inside, that is the shift itself, which the
/// difference of two large numbers would lose.
fn distance(r: [f64; 3], shift: [f64; 3], mu: f64) -> [f64; 3] {
    let [normal, first, second] = [r[0] - shift[0], r[1] - shift[1], r[2] - shift[2]];
    let tangential = (first * first + second * second).sqrt();
    // The polar cone comes first: without friction it would pass for the other.
    if mu * tangential <= -normal {
        r
    } else if tangential <= mu * normal {
        shift
    } else {
        let height = (normal + mu * tangential) / (1.0 + mu * mu);
        let scale = mu * height / tangential;
        [r[0] - height, r[1] - scale * first, r[2] - scale * second]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_contact(q: [f64; 3], mu: f64) -> ConeProblem<f64> {
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        ConeProblem::from_dense(&identity, q.to_vec(), vec![mu])
    }

    #[test]
    fn known_solutions_have_no_residual() {
        assert_eq!(natural_residual(&one_contact([1.0, 3.0, 0.0], 0.5), &[0.0; 3]), 0.0);
        assert!(natural_residual(&one_contact([-1.0, 0.3, 0.0], 0.5), &[1.0, -0.3, 0.0]) < 1e-16);
        assert!(natural_residual(&one_contact([-1.0, 0.0, 4.0], 0.5), &[1.0, 0.0, -0.5]) < 1e-16);
    }

    #[test]
    fn smallest_numbers_are_not_taken_for_zero() {
        for small in [1e-140, 1e-170, 1e-300, 5e-324] {
            let problem = one_contact([-small, 0.0, 0.0], 0.5);
            assert_eq!(natural_residual(&problem, &[0.0; 3]), 1.0, "{small}");
            assert_eq!(natural_residual(&problem, &[small, 0.0, 0.0]), 0.0, "{small}");
        }
        assert_eq!(natural_residual(&one_contact([0.0; 3], 0.5), &[0.0; 3]), 0.0);
    }

    #[test]
    fn what_slides_under_a_huge_impulse_does_not_stick() {
        let mut problem = one_contact([0.0, 1.0, 0.0], 0.5);
        problem.w = ConeProblem::from_dense(&[0.0; 9], vec![0.0; 3], vec![0.5]).w;
        assert!(natural_residual(&problem, &[1e20, 0.0, 0.0]) >= 1.0);
    }

    #[test]
    fn wrong_answers_are_seen() {
        assert!(natural_residual(&one_contact([-1.0, 0.3, 0.0], 0.5), &[1.0, 0.3, 0.0]) > 0.1);
        assert!(natural_residual(&one_contact([-1.0, 0.3, 0.0], 0.5), &[0.0; 3]) > 0.1);
        assert!(
            natural_residual(&one_contact([1.0, 0.0, 0.0], 0.0), &[-1.0, 0.0, 0.0]) > 0.1,
            "contacts do not pull"
        );
        assert_eq!(natural_residual(&one_contact([1.0, 0.0, 0.0], 0.0), &[0.0; 3]), 0.0);
        assert_eq!(natural_residual(&one_contact([-1.0, 0.3, 0.0], 0.5), &[f64::NAN; 3]), f64::INFINITY);
        assert_eq!(natural_residual(&one_contact([f64::INFINITY, 0.3, 0.0], 0.5), &[0.0; 3]), f64::INFINITY);
    }
}
