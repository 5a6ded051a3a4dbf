//! Nothing passes through what is thin, whether steps are split at impacts or captured.

use crate::bodies::{Scene, Simulation};
use contact_fmu::engine::Solid;
use contact_fmu::engine::geometry::solids::Cuboid;
use nalgebra::Vector3;

/// A ball of 1 mm at 100 m/s, `distance` above a plate of 1 mm.
fn shot(mut scene: Scene, grouped: bool, distance: f64, restitution: f64) -> Simulation {
    let plate = scene.solid(Solid::Box(Cuboid { half: Vector3::new(0.5, 0.5, 5e-4) }), [0.0; 3]);
    let ball = scene.solid_ball(1e-3, 5e-4, [0.01, 0.02, 1e-3 + distance]);
    scene.state.nodes[ball].velocity = Vector3::new(3.0, 0.0, -100.0);
    if grouped {
        scene.group(&[ball], &[plate], restitution, 0.0);
    } else {
        scene.contact(ball, plate, restitution, 0.0);
    }
    scene.build()
}

#[test]
fn a_fast_ball_does_not_pass_a_thin_plate() {
    for captured in [false, true] {
        for grouped in [false, true] {
            for restitution in [0.0, 0.5, 1.0] {
                // A step takes it 100 mm further: every place of the plate within a step.
                for tenth in 0..40 {
                    let scene = if captured { Scene::new(0.0).capturing() } else { Scene::new(0.0) };
                    let mut run = shot(scene, grouped, 5e-3 * f64::from(tenth) + 1e-5, restitution);
                    for _ in 0..5 {
                        run.advance(1e-3);
                        let height = run.state.nodes[0].position.z;
                        assert!(height > 0.0, "captured {captured}, group {grouped}, {tenth}: {height}");
                    }
                    let velocity = run.state.nodes[0].velocity;
                    assert!((velocity.z - 100.0 * restitution).abs() < 1e-9, "{velocity}");
                    assert!((velocity.x - 3.0).abs() < 1e-9);
                }
            }
        }
    }
}

#[test]
fn balls_do_not_pass_one_another_in_captured_steps() {
    for grouped in [false, true] {
        for tenth in 1..20 {
            let mut scene = Scene::new(0.0).capturing();
            let nodes = [0.0, 0.01 * f64::from(tenth)].map(|x| scene.ball(1e-3, 5e-4, [x, 0.0, 0.0]));
            scene.state.nodes[0].velocity.x = 100.0;
            if grouped {
                scene.group(&nodes, &[], 1.0, 0.0);
            } else {
                let surface = scene.surface_of(nodes[1]);
                scene.contact(nodes[0], surface, 1.0, 0.0);
            }
            let mut run = scene.build();
            for _ in 0..4 {
                run.advance(1e-3);
            }
            let [first, second] = [0, 1].map(|node| &run.state.nodes[node]);
            assert!(first.position.x < second.position.x, "{tenth}");
            assert!(first.velocity.x.abs() < 1e-9 && (second.velocity.x - 100.0).abs() < 1e-9);
        }
    }
}
