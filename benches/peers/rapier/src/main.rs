//! The ball pit of `benches/ball_pit.rs` in rapier: `rapier-peer STEPS < balls`, where the first line has the radius,
//! mass, friction, step and the half edges of the pit along x and y, and every other line a start position. Prints
//! nanoseconds a step over the last quarter of the steps, contacts and the deepest penetration at the end.

#[path = "../../processor_time.rs"]
mod processor_time;

use processor_time::processor_time;
use rapier3d_f64::prelude::*;
use std::io::Read;

fn main() {
    let steps: usize =
        std::env::args().nth(1).expect("a number of steps").parse().expect("a number of steps");
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("text");
    let mut lines = text.lines().map(|line| -> Vec<f64> {
        line.split_whitespace().map(|number| number.parse().expect("a number")).collect()
    });
    let settings = lines.next().expect("a first line");
    let [radius, mass, mu, step, half_x, half_y] = settings[..] else { panic!("six numbers") };

    let mut world = PhysicsWorld::default();
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = step;
    // Tolerances are in units of this.
    world.integration_parameters.length_unit = radius;
    for (normal, place) in [
        (Vector::new(0.0, 0.0, 1.0), Vector::ZERO),
        (Vector::new(1.0, 0.0, 0.0), Vector::new(-half_x, 0.0, 0.0)),
        (Vector::new(-1.0, 0.0, 0.0), Vector::new(half_x, 0.0, 0.0)),
        (Vector::new(0.0, 1.0, 0.0), Vector::new(0.0, -half_y, 0.0)),
        (Vector::new(0.0, -1.0, 0.0), Vector::new(0.0, half_y, 0.0)),
    ] {
        let plane = ColliderBuilder::new(SharedShape::halfspace(normal)).translation(place);
        world.colliders.insert(plane.friction(mu).restitution(0.0));
    }
    let bodies: Vec<RigidBodyHandle> = lines
        .map(|place| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::new(place[0], place[1], place[2]));
            let handle = world.bodies.insert(body.can_sleep(false));
            let ball = ColliderBuilder::ball(radius).friction(mu).restitution(0.0).mass(mass);
            world.colliders.insert_with_parent(ball, handle, &mut world.bodies);
            handle
        })
        .collect();
    let timed = steps / 4;
    for _ in 0..steps - timed {
        world.step();
    }
    let start = processor_time();
    for _ in 0..timed {
        world.step();
    }
    let nanoseconds = (processor_time() - start) * 1e9 / timed as f64;

    let places: Vec<Vector> = bodies.iter().map(|&handle| world.bodies[handle].translation()).collect();
    let mut deepest: f64 = 0.0;
    let mut contacts = 0;
    let mut look = |gap: f64| {
        deepest = deepest.max(-gap);
        contacts += usize::from(gap < 1e-3 * radius);
    };
    for (index, one) in places.iter().enumerate() {
        for gap in [one.z, half_x - one.x.abs(), half_y - one.y.abs()] {
            look(gap - radius);
        }
        for other in &places[index + 1..] {
            look((*one - *other).length() - 2.0 * radius);
        }
    }
    println!("{nanoseconds} {contacts} {deepest}");
}
