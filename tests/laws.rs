//! Friction laws on small systems with known answers, each given as `M, f, J`.

use crate::linear_friction::{bounded, facets};
use contact_fmu::engine::law::bounded::BoundedRows;
use contact_fmu::engine::law::bristle::{self, Bristle, Memory};
use contact_fmu::engine::law::facets::{Facets, Polygon};
use contact_fmu::engine::{
    BoxedProblem, LcpScratch, LcpSettings, LcpSolver, Report, Status, complementarity_solve,
};
use nalgebra::{DMatrix, DVector, Matrix6, Vector3, Vector6};

const GRAVITY: f64 = 9.81;

fn solve(problem: &BoxedProblem, solver: LcpSolver) -> (Vec<f64>, Report) {
    let mut z = vec![0.0; problem.q.len()];
    let settings = LcpSettings { solver, ..LcpSettings::default() };
    let report = complementarity_solve(problem, &mut z, &settings, &mut LcpScratch::default());
    assert_eq!(report.status, Status::Solved, "{report:?}");
    (z, report)
}

/// Travel down an incline after `time`, and over the second half of it.
fn incline(degrees: f64, stiffness: f64, time: f64) -> (f64, f64) {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let law = Bristle { stiffness, threshold: 0.01 };
    let h = 1e-3;
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let mut memory = Memory { normal: GRAVITY * cosine * h, tangential: [0.0; 2] };
    let (mut velocity, mut travel, mut half) = ([0.0; 2], 0.0, 0.0);
    let steps = (time / h).round() as usize;
    for step in 0..steps {
        let rows = [bristle::rows(&law, 0.3, &memory, velocity, h)];
        let free = [-GRAVITY * cosine * h, velocity[0] + GRAVITY * sine * h, velocity[1]];
        let mut problem = BoxedProblem::default();
        bounded::assemble(&identity, &free, &[0.0], &[0.0], &rows, &mut problem);
        let (mut p, _) = solve(&problem, LcpSolver::Pivoting);
        bounded::impulses(&mut p, &rows);
        velocity = [free[1] + p[1], free[2] + p[2]];
        memory = Memory { normal: p[0], tangential: [p[1], p[2]] };
        travel += h * velocity[0];
        if step == steps / 2 {
            half = travel;
        }
    }
    (travel, travel - half)
}

#[test]
fn a_bristle_holds_below_the_friction_angle() {
    let stiffness = 1e10;
    for degrees in [10.0_f64, 16.0, 16.69] {
        let (travel, drift) = incline(degrees, stiffness, 10.0);
        let deflection = GRAVITY * degrees.to_radians().sin() / stiffness;
        assert!((travel - deflection).abs() < 1e-3 * deflection, "{degrees}: {travel:e}");
        assert!(drift.abs() < 1e-15, "{degrees}: {drift:e}");
        let (rigid, _) = incline(degrees, f64::INFINITY, 10.0);
        assert!(rigid.abs() < 1e-15, "{degrees}: {rigid:e}");
    }
}

#[test]
fn a_bristle_slides_above_the_friction_angle() {
    for (degrees, published) in [(16.71_f64, 0.09613), (20.0, 29.485)] {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let exact = 0.5 * GRAVITY * (sine - 0.3 * cosine) * 100.0;
        assert!((exact - published).abs() < 1e-4 * published);
        let (travel, _) = incline(degrees, 1e10, 10.0);
        // Positions with the new velocity: first order in the step.
        assert!((travel - exact).abs() < 2e-4 * exact, "{degrees}: {travel} against {exact}");
    }
}

#[test]
fn soft_bristles_are_known_to_toggle() {
    let law = |stiffness| Bristle { stiffness, threshold: 0.01 };
    assert!(bristle::toggles(&law(1e4), 0.3, 1.0, GRAVITY));
    assert!(!bristle::toggles(&law(1e6), 0.3, 1.0, GRAVITY));
}

/// Four legs at the corners of a square under a table of 10 kg; forces after two seconds, and the last report.
fn table(normal_stiffness: Option<f64>, tangential_stiffness: f64, push: f64) -> (Vec<f64>, Vector6<f64>) {
    let (mass, height, h) = (10.0, 0.7, 1e-3);
    let legs = [[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]].map(|[x, y]| Vector3::new(x, y, -height));
    let inverse = Matrix6::from_diagonal(&Vector6::new(0.1, 0.1, 0.1, 1.0, 1.0, 1.0 / 1.5));
    let row = |direction: Vector3<f64>, leg: &Vector3<f64>| {
        let moment = leg.cross(&direction);
        Vector6::new(direction.x, direction.y, direction.z, moment.x, moment.y, moment.z)
    };
    let mut j = DMatrix::zeros(12, 6);
    for (contact, leg) in legs.iter().enumerate() {
        for (k, direction) in [Vector3::z(), Vector3::x(), Vector3::y()].into_iter().enumerate() {
            j.row_mut(3 * contact + k).copy_from(&row(direction, leg).transpose());
        }
    }
    let w: DMatrix<f64> = &j * inverse * j.transpose();
    let law = Bristle { stiffness: tangential_stiffness, threshold: 0.01 };
    let mut memory = [Memory { normal: mass * GRAVITY / 4.0 * h, tangential: [0.0; 2] }; 4];
    let force = Vector6::new(push, 0.0, -mass * GRAVITY, 0.0, 0.0, 0.0);
    let compliance = [normal_stiffness.map_or(0.0, |stiffness| 1.0 / (stiffness * h * h)); 4];
    let mut velocity = Vector6::zeros();
    for _ in 0..2000 {
        let free = velocity + inverse * force * h;
        let q: DVector<f64> = &j * free;
        let slip = &j * velocity;
        let rows: Vec<BoundedRows<f64>> = (0..4)
            .map(|leg| bristle::rows(&law, 0.5, &memory[leg], [slip[3 * leg + 1], slip[3 * leg + 2]], h))
            .collect();
        let preload = memory.map(|memory| memory.normal);
        let mut problem = BoxedProblem::default();
        bounded::assemble(w.transpose().as_slice(), q.as_slice(), &compliance, &preload, &rows, &mut problem);
        let (mut p, _) = solve(&problem, LcpSolver::Auto);
        bounded::impulses(&mut p, &rows);
        velocity = free + inverse * j.transpose() * DVector::from_column_slice(&p);
        for (leg, memory) in memory.iter_mut().enumerate() {
            *memory = Memory { normal: p[3 * leg], tangential: [p[3 * leg + 1], p[3 * leg + 2]] };
        }
    }
    (memory.iter().map(|memory| memory.normal / h).collect(), velocity)
}

#[test]
fn a_table_stands_on_four_legs() {
    // Rank 3 of 4: any valid answer will do, but one must be found.
    for tangential_stiffness in [1e10, f64::INFINITY] {
        let (normal, velocity) = table(None, tangential_stiffness, 0.0);
        assert!((normal.iter().sum::<f64>() - 98.1).abs() < 1e-9);
        assert!(normal.iter().all(|&force| force >= 0.0));
        assert!(velocity.norm() < 1e-12);
    }
    for (stiffness, push) in [(1e10, 0.0), (1e8, 0.0)] {
        let (normal, _) = table(Some(stiffness), 1e10, push);
        for force in normal {
            assert!((force - 24.525).abs() < 1e-6, "{force}");
        }
    }
}

/// Where a sliding puck stops, relative to the exact place; and how far its heading is off, in degrees.
fn puck(polygon: Polygon, count: usize, aligned: bool) -> (f64, f64) {
    let (mu, h) = (0.3, 1e-3);
    let start = [1.0, 0.3];
    let speed = f64::hypot(start[0], start[1]);
    let distance = speed * speed / (2.0 * mu * GRAVITY);
    let exact = start.map(|component| component / speed * distance);
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let (mut velocity, mut position) = (start, [0.0; 2]);
    for _ in 0..2000 {
        let direction = if aligned { Facets::aligned(velocity) } else { [1.0, 0.0] };
        let facets = [Facets { mu, count, direction }];
        let mut problem = BoxedProblem::default();
        let q = [-GRAVITY * h, velocity[0], velocity[1]];
        facets::assemble(polygon, &identity, &q, &facets, &mut problem);
        let (z, _) = solve(&problem, LcpSolver::Auto);
        let mut p = [0.0; 3];
        facets::impulses(polygon, &facets, &z, &mut p);
        for k in 0..2 {
            let after = velocity[k] + p[1 + k];
            position[k] += 0.5 * h * (velocity[k] + after);
            velocity[k] = after;
        }
    }
    assert!(f64::hypot(velocity[0], velocity[1]) < 1e-12);
    let miss = f64::hypot(position[0] - exact[0], position[1] - exact[1]) / distance;
    let heading = position[1].atan2(position[0]) - start[1].atan2(start[0]);
    (miss, heading.to_degrees().abs())
}

#[test]
fn fixed_facets_are_anisotropic_and_aligned_ones_are_not() {
    let (miss, heading) = puck(Polygon::Outer, 16, false);
    assert!((0.045..0.055).contains(&miss), "{miss}");
    assert!((2.5..3.1).contains(&heading), "{heading}");
    for polygon in [Polygon::Outer, Polygon::Inner] {
        for count in [4, 8, 16] {
            let (miss, heading) = puck(polygon, count, true);
            assert!(miss < 2e-6, "{polygon:?} {count}: {miss:e}");
            assert!(heading < 1e-6, "{polygon:?} {count}: {heading:e}");
        }
    }
}

#[test]
fn a_rocking_rod_rocks_or_stops() {
    // A rod of half length 1 turns about its right support and hits the left one, without restitution.
    // The supports are coupled by 1/m - a^2/J: below a = 1/sqrt 3 the impact lifts the rod off the right one.
    for (distance, rocks) in [(0.5, true), (0.577, true), (0.578, false), (0.7, false)] {
        let (mass, inertia) = (1.0, 1.0 / 3.0);
        let own = 1.0 / mass + distance * distance / inertia;
        let other = 1.0 / mass - distance * distance / inertia;
        let problem = BoxedProblem::lcp(vec![own, other, other, own], vec![-1.0, 0.0]).unwrap();
        for solver in [LcpSolver::Lemke, LcpSolver::Pivoting, LcpSolver::Pgs, LcpSolver::Auto] {
            let mut z = [0.0; 2];
            let settings = LcpSettings { solver, tolerance: 1e-9, ..LcpSettings::default() };
            let report = complementarity_solve(&problem, &mut z, &settings, &mut LcpScratch::default());
            assert_eq!(report.status, Status::Solved, "{solver:?}");
            let right = other * z[0] + own * z[1];
            assert_eq!(rocks, z[1] < 1e-9, "{solver:?} at {distance}: {z:?}");
            assert_eq!(rocks, right > 1e-6, "{solver:?} at {distance}: {right}");
        }
    }
}
