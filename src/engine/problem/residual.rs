//! The natural residual, the only judge of success. No solver shares this code.

use super::cone::ConeProblem;

/// `||r - Proj_K(r - (u + mu |u_T| n))|| / ||q||` with `u = W r + q`. Infinite where a number is not finite.
pub fn natural_residual(problem: &ConeProblem<f64>, r: &[f64]) -> f64 {
    let mut square = 0.0;
    for contact in 0..problem.contacts() {
        let at = 3 * contact;
        let mu = problem.mu[contact];
        let u = problem.velocity(contact, r);
        let sliding = (u[1] * u[1] + u[2] * u[2]).sqrt();
        let target = project([r[at] - u[0] - mu * sliding, r[at + 1] - u[1], r[at + 2] - u[2]], mu);
        for k in 0..3 {
            square += (r[at + k] - target[k]).powi(2);
        }
    }
    let scale = problem.q.iter().map(|q| q * q).sum::<f64>().sqrt();
    let residual = square.sqrt();
    // An infinite `q` would make every residual small.
    match (residual.is_finite() && scale.is_finite(), scale > 0.0) {
        (false, _) => f64::INFINITY,
        (true, true) => residual / scale,
        (true, false) => residual,
    }
}

/// Orthogonal projection onto `|x_T| <= mu x_N`.
fn project([normal, first, second]: [f64; 3], mu: f64) -> [f64; 3] {
    let tangential = (first * first + second * second).sqrt();
    // The polar cone comes first: without friction it would pass for the other.
    if mu * tangential <= -normal {
        [0.0; 3]
    } else if tangential <= mu * normal {
        [normal, first, second]
    } else {
        let height = (normal + mu * tangential) / (1.0 + mu * mu);
        let scale = mu * height / tangential;
        [height, scale * first, scale * second]
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
