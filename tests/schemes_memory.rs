//! Steps of every scheme with contact, springs and joints allocate nothing.

mod bodies;
mod counting_allocator;

use bodies::{Scene, Simulation, centre};
use contact_fmu::engine::{JointKind, Scheme};
use counting_allocator::allocations_of_two;
use nalgebra::Vector3;

/// Two boxes with a pin between, a ball on a spring behind them, all falling onto a floor.
fn train(scheme: Scheme) -> Simulation {
    let mut scene = Scene::new(9.81).with_scheme(scheme);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let boxes = [0.0, 0.5].map(|x| scene.cuboid(1.0, [0.2, 0.15, 0.1], [x, 0.0, 0.3]));
    let ball = scene.solid_ball(1.0, 0.1, [1.0, 0.0, 0.4]);
    scene.joint(JointKind::Revolute, boxes.map(Some), [0.25, 0.0, 0.3], [0.0, 1.0, 0.0]);
    scene.spring([centre(boxes[1]), centre(ball)], 1e3, 1.0);
    for node in boxes.into_iter().chain([ball]) {
        scene.contact(node, floor, 0.3, 0.3);
    }
    scene.state.nodes[ball].velocity = Vector3::new(1.0, 0.5, 0.0);
    scene.build()
}

#[test]
fn steps_do_not_allocate() {
    for scheme in [Scheme::Multistep { rho: 0.6 }, Scheme::Hht { alpha: 0.1 }, Scheme::Midpoint { sweeps: 3 }]
    {
        let mut run = train(scheme);
        let start = run.state.clone();
        let mut touched = 0;
        let rounds = allocations_of_two(|| {
            run.state.clone_from(&start);
            for _ in 0..600 {
                run.advance(1e-3);
                touched += u32::from(run.state.contacts.iter().any(|contact| contact.normal_impulse > 0.0));
            }
        });
        assert!(touched > 100, "{scheme:?}: {touched}");
        // The first round may find that a problem is larger than was likely.
        assert!(rounds[0] < 60 && rounds[1] == 0, "{scheme:?}: {rounds:?}");
    }
}
