//! Steps of bodies with several touching points, on surfaces that move too, allocate nothing.

mod bodies;
mod counting_allocator;

use bodies::{Scene, Simulation, centre, ground};
use contact_fmu::engine::law::continuous::spring::PowerSpring;
use contact_fmu::engine::law::continuous::{Compliance, ContinuousLaw};
use contact_fmu::engine::{JointFriction, JointKind, Orientation, SurfaceShape};
use counting_allocator::allocations_of_two;
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;

/// A box that tumbles on a floor until it rests on four corners.
fn tumbling_box() -> Simulation {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let node = scene.cuboid(1.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.4]);
    scene.contact(node, floor, 0.3, 0.3);
    let mut run = scene.build();
    run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
    run
}

/// The same on a soft floor.
fn box_on_soft_floor() -> Simulation {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let node = scene.cuboid(1.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.4]);
    let law = ContinuousLaw::Flores(PowerSpring { stiffness: 1e6, exponent: 1.5 });
    scene.continuous_contact(node, floor, Compliance { law, tangential_stiffness: None }, [0.3, 0.3]);
    let mut run = scene.build();
    run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
    run
}

/// A box and two balls on a free table.
fn loaded_table() -> Simulation {
    let mut scene = Scene::new(GRAVITY);
    let (table, top) = scene.table(5.0, [0.3, 0.2, 0.4], [0.0; 3], 0.1);
    let load = [
        scene.cuboid(1.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.25]),
        scene.solid_ball(1.0, 0.1, [0.4, 0.1, 0.3]),
        scene.ball(1.0, 0.1, [-0.4, -0.1, 0.35]),
    ];
    for node in load {
        scene.contact(node, top, 0.4, 0.3);
    }
    let mut run = scene.build();
    run.coupling(table).acceleration.linear[2] = 1.0;
    run.rotation(table).angular_velocity = Vector3::new(0.1, 0.2, 0.3);
    run
}

/// A rod that rubs on its pin, hangs on a spring and hits the floor.
fn linked_rod() -> Simulation {
    let mut scene = Scene::new(GRAVITY);
    let inertia = [1e-3, 1.0 / 12.0, 1.0 / 12.0];
    let rod = scene.pointed(1.0, inertia, &[Vector3::new(0.5, 0.0, 0.0)], [0.5, 0.0, 0.3]);
    let pin = scene.joint(JointKind::Revolute, [None, Some(rod)], [0.0, 0.0, 0.3], [0.0, 1.0, 0.0]);
    scene.rub(
        pin,
        JointFriction { mu_static: 0.3, mu_kinetic: 0.2, radius: 0.05, half_length: 0.05, threshold: 1e-3 },
    );
    scene.spring([centre(rod), ground([0.5, 0.1, 1.0])], 2.0, 0.1);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(rod, floor, 0.3, 0.0);
    scene.build()
}

/// Balls that fall on one another between four walls, as a group.
fn pile() -> Simulation {
    let mut scene = Scene::new(GRAVITY).capturing();
    let mut balls = Vec::new();
    for place in 0..36_u32 {
        let [x, y, z] = [place % 3, place / 3 % 3, place / 9].map(f64::from);
        let aside = 0.002 * f64::from(place * 7 % 5);
        balls.push(scene.solid_ball(0.1, 0.05, [0.11 * x - 0.11 + aside, 0.11 * y - 0.11, 0.06 + 0.11 * z]));
    }
    let mut walls = vec![scene.plane([0.0, 0.0, 1.0])];
    for normal in [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]] {
        let [x, y, z] = normal;
        let position = -Vector3::new(x, y, z) * 0.175;
        walls.push(scene.surface(SurfaceShape::Plane { position, normal: Vector3::new(x, y, z) }));
    }
    scene.group(&balls, &walls, 0.1, 0.3);
    scene.build()
}

#[test]
fn steps_do_not_allocate() {
    for (name, mut run) in [
        ("box", tumbling_box()),
        ("soft floor", box_on_soft_floor()),
        ("table", loaded_table()),
        ("rod", linked_rod()),
    ] {
        let start = run.state.clone();
        let mut touched = 0;
        let rounds = allocations_of_two(|| {
            run.state.clone_from(&start);
            for _ in 0..600 {
                run.advance(1e-3);
                touched += u32::from(run.state.contacts.iter().any(|contact| contact.normal_impulse > 0.0));
            }
        });
        assert!(touched > 50, "{name}: {touched}");
        // The first round may find that a problem is larger than was likely.
        assert!(rounds[0] < 20 && rounds[1] == 0, "{name}: {rounds:?}");
    }
}

/// How many pairs are near is not known before: the lists of a pile grow while it forms, and stay.
#[test]
fn steps_of_a_pile_do_not_allocate_once_it_has_formed() {
    let mut run = pile();
    let start = run.state.clone();
    let mut most = 0;
    let rounds = allocations_of_two(|| {
        run.state.clone_from(&start);
        for _ in 0..600 {
            run.advance(1e-3);
            most = most.max(run.state.points.len());
        }
    });
    assert!(most > 50, "{most}");
    assert_eq!(rounds[1], 0, "{rounds:?}");
}
