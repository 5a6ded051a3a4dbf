//! Balls that fall into a pit and come to rest, with about 100, 1 000 and 10 000 contacts: pits of the same depth, each
//! wider than the last, then deeper ones. Time a step while the pile forms and while it settles, the worst residual and
//! penetration of all steps, memory, and what a step of a pile at rest costs, beside rapier in the same run.
//! `benches/peers/ball_pit` compiles rapier's side, runs this, and compares Siconos on the contact problems that this leaves
//! in the folder CONTACT_PROBLEMS. Arguments are other pits: `5x5x3`.

#[path = "peers/processor_time.rs"]
mod processor_time;

use contact_fmu::engine::{State, Workspace, advance};
use contact_fmu::model::file;
use nalgebra::{Matrix3, Vector3};
use processor_time::processor_time;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Balls along x, y and z: three layers on ever wider bottoms, then deep piles.
const PITS: [[usize; 3]; 5] = [[5, 5, 3], [17, 17, 3], [54, 54, 3], [4, 4, 4], [9, 9, 7]];
const RADIUS: f64 = 0.01;
const MASS: f64 = 0.02;
const MU: f64 = 0.3;
const STEP: f64 = 1e-3;
/// Steps of two kinds: while the pile forms, and while it settles.
const FORMING: std::ops::Range<usize> = 90..120;
const SETTLING: std::ops::Range<usize> = 180..200;
/// Small pits go on to rest: so many steps, of which the last ones are timed.
const TO_REST: usize = 1500;
const AT_REST: usize = 100;
const SMALL: usize = 100;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the rules of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let rapier = std::env::var("RAPIER_PEER").ok();
    let problems = std::env::var("CONTACT_PROBLEMS").ok();
    println!(
        "| pit | forming: contacts | ms a step | sweeps a step | settling: contacts | ms a step | sweeps a step | worst residual | penetration, m | kB a contact | rapier, forming: ms a step | contacts | penetration, m |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut last: Option<Run> = None;
    let pits: Vec<[usize; 3]> = std::env::args().filter_map(|argument| count_of(&argument)).collect();
    for count in if pits.is_empty() { PITS.to_vec() } else { pits } {
        let pit = Pit::new(count);
        let run = pit.run(problems.as_deref());
        let theirs = rapier.as_ref().map_or("| | | |".to_owned(), |program| pit.run_rapier(program));
        let [forming, settling] = [&run.forming, &run.settling]
            .map(|phase| format!("{} | {:.3} | {:.0}", phase.contacts, phase.time * 1e3, phase.sweeps));
        println!(
            "| {} x {} x {} | {forming} | {settling} | {:.1e} | {:.1e} | {:.2} {theirs}",
            count[0],
            count[1],
            count[2],
            run.residual,
            run.penetration,
            run.memory / 1e3
        );
        if let Some(last) = &last
            && count[2] == 3
        {
            let exponents =
                [(&last.forming, &run.forming), (&last.settling, &run.settling)].map(|(before, now)| {
                    (now.time / before.time).ln() / (now.contacts as f64 / before.contacts as f64).ln()
                });
            eprintln!("{count:?}: exponent {:.2} forming, {:.2} settling", exponents[0], exponents[1]);
        }
        if let Some(rest) = &run.rest {
            eprintln!("{count:?} at rest: {:.3} ms a step, {:.0} sweeps", rest.time * 1e3, rest.sweeps);
        }
        last = Some(run);
    }
}

/// Three numbers with an x between them.
fn count_of(text: &str) -> Option<[usize; 3]> {
    let numbers: Option<Vec<usize>> = text.split('x').map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

struct Run {
    forming: Phase,
    settling: Phase,
    rest: Option<Phase>,
    /// Worst of all steps.
    residual: f64,
    penetration: f64,
    /// Bytes a contact.
    memory: f64,
}

/// Some steps.
#[derive(Default)]
struct Phase {
    contacts: usize,
    /// Seconds a step.
    time: f64,
    sweeps: f64,
}

/// A pit and its balls.
struct Pit {
    count: [usize; 3],
    spacing: f64,
    half: [f64; 2],
}

impl Pit {
    fn new(count: [usize; 3]) -> Pit {
        let spacing = 2.2 * RADIUS;
        let half = [count[0], count[1]].map(|count| 0.5 * spacing * count as f64 + 0.001);
        Pit { count, spacing, half }
    }

    fn text(&self) -> String {
        let Pit { count, spacing, half: [x, y] } = self;
        let inertia = 0.4 * MASS * RADIUS * RADIUS;
        let first = [x, y].map(|half| -half + 0.001 + 0.5 * spacing);
        let mut text = format!(
            "[model]\nname = \"pit\"\noutputs = [\"balls.*\"]\n[engine]\nstep = {STEP:?}\ntime_of_impact = false\ncorrection = true\ntolerance = 1e-6\n\
             [[node]]\nname = \"ball\"\ncoupling = \"owned\"\nmass = {MASS:?}\ninertia = [{inertia:?}, {inertia:?}, {inertia:?}]\nshape.sphere.radius = {RADIUS:?}\n\
             position = [{:?}, {:?}, 0.012]\ncopies = {{ count = {count:?}, spacing = [{spacing:?}, {spacing:?}, {spacing:?}], scatter = 9e-4 }}\n",
            first[0], first[1]
        );
        for (name, normal, position) in [
            ("bottom", [0.0, 0.0, 1.0], [0.0; 3]),
            ("west", [1.0, 0.0, 0.0], [-x, 0.0, 0.0]),
            ("east", [-1.0, 0.0, 0.0], [*x, 0.0, 0.0]),
            ("south", [0.0, 1.0, 0.0], [0.0, -y, 0.0]),
            ("north", [0.0, -1.0, 0.0], [0.0, *y, 0.0]),
        ] {
            let _ = write!(
                text,
                "[[surface]]\nname = \"{name}\"\nshape.plane.normal = {normal:?}\nposition = {position:?}\n"
            );
        }
        text + &format!(
            "[[contact]]\nname = \"balls\"\nbetween = [\"*\", \"*\"]\nfriction.cone.mu = {MU:?}\n"
        )
    }

    fn run(&self, problems: Option<&str>) -> Run {
        let model = file::parse(&self.text(), "pit").unwrap_or_else(|error| panic!("{error}"));
        let before = ALLOCATED.load(Ordering::Relaxed);
        let (system, mut state) = model.assemble();
        let mut workspace = Workspace::new(&system);
        let (mut residual, mut penetration) = (0.0_f64, 0.0_f64);
        let mut follow = |state: &mut State<f64>, steps: std::ops::Range<usize>| {
            let start = processor_time();
            let count = steps.len() as f64;
            let mut sweeps = 0.0;
            for _ in steps {
                advance(&system, state, &mut workspace, STEP).expect("a step");
                sweeps += f64::from(state.step.iterations);
                residual = residual.max(state.step.residual);
                penetration = penetration.max(state.step.penetration);
            }
            let time = (processor_time() - start) / count;
            Phase { contacts: state.points.len(), time, sweeps: sweeps / count }
        };
        follow(&mut state, 0..FORMING.start);
        let forming = follow(&mut state, FORMING);
        if let Some(folder) = problems.filter(|_| state.points.len() < 3000 && self.count[2] == 3) {
            let path = format!("{folder}/ball_pit_{}.fc.txt", state.points.len());
            std::fs::write(path, self.problem(&state)).expect("the problem is written");
        }
        follow(&mut state, FORMING.end..SETTLING.start);
        let settling = follow(&mut state, SETTLING);
        let contacts = state.points.len();
        let memory = (ALLOCATED.load(Ordering::Relaxed) - before) as f64 / contacts as f64;
        let is_small = self.count.iter().product::<usize>() <= SMALL;
        let rest = is_small.then(|| {
            follow(&mut state, SETTLING.end..TO_REST);
            follow(&mut state, TO_REST..TO_REST + AT_REST)
        });
        Run { forming, settling, rest, residual, penetration, memory }
    }

    /// The contact problem of the next step, as `problem_file` reads it: contacts that are pressed, cones, no rebound.
    fn problem(&self, state: &State<f64>) -> String {
        struct Contact {
            /// Body and sign; a wall has none.
            bodies: Vec<(usize, f64)>,
            frame: Matrix3<f64>,
        }
        let [x, y] = self.half;
        let walls = [
            (Vector3::z(), 0.0),
            (Vector3::x(), -x),
            (-Vector3::x(), -x),
            (Vector3::y(), -y),
            (-Vector3::y(), -y),
        ];
        let balls = state.nodes.len();
        let contacts: Vec<Contact> = state
            .points
            .iter()
            .map(|point| {
                let (one, surface) = (point.node as usize, point.surface as usize);
                let (bodies, normal) = match surface.checked_sub(walls.len()) {
                    None => (vec![(one, 1.0)], walls[surface].0),
                    Some(other) => {
                        let apart = state.nodes[one].position - state.nodes[other].position;
                        (vec![(one, 1.0), (other, -1.0)], apart.normalize())
                    }
                };
                let aside = if normal.x.abs() < 0.5 { Vector3::x() } else { Vector3::y() };
                let first = normal.cross(&aside).normalize();
                let rows = [normal, first, normal.cross(&first)].map(|row| row.transpose());
                Contact { bodies, frame: Matrix3::from_rows(&rows) }
            })
            .collect();
        assert!(contacts.iter().all(|contact| contact.bodies.iter().all(|(body, _)| *body < balls)));
        let inertia = 0.4 * MASS * RADIUS * RADIUS;
        // The arm of either ball is its radius towards the other: turning moves both surfaces the same way.
        let turning = |contact: &Contact| {
            let arm = -contact.frame.row(0).transpose() * RADIUS;
            Matrix3::from_rows(
                &[0, 1, 2].map(|row| arm.cross(&contact.frame.row(row).transpose()).transpose()),
            )
        };
        let mut text = format!("{}\n", contacts.len());
        let scale = MASS; // Units of the inverse mass.
        for one in &contacts {
            let row: Vec<Matrix3<f64>> = contacts
                .iter()
                .map(|other| {
                    let mut block = Matrix3::zeros();
                    for (body, sign) in &one.bodies {
                        for (_, opposite) in other.bodies.iter().filter(|(same, _)| same == body) {
                            block += one.frame * other.frame.transpose() * (sign * opposite / MASS);
                            block += turning(one) * turning(other).transpose() / inertia;
                        }
                    }
                    block * scale
                })
                .collect();
            for k in 0..3 {
                for block in &row {
                    for l in 0..3 {
                        let _ = if block[(k, l)] == 0.0 {
                            write!(text, "0 ")
                        } else {
                            write!(text, "{:e} ", block[(k, l)])
                        };
                    }
                }
                text.push('\n');
            }
        }
        for contact in &contacts {
            let mut velocity = Vector3::zeros();
            for &(body, sign) in &contact.bodies {
                let arm = contact.frame.row(0).transpose() * (-sign * RADIUS);
                let rotation = &state.rotations[body];
                let surface = state.nodes[body].velocity
                    + rotation.angular_velocity.cross(&arm)
                    + Vector3::z() * (-9.81 * STEP);
                velocity += surface * sign;
            }
            let _ = writeln!(
                text,
                "{:e} {:e} {:e}",
                (contact.frame * velocity)[0],
                (contact.frame * velocity)[1],
                (contact.frame * velocity)[2]
            );
        }
        for _ in &contacts {
            let _ = write!(text, "{MU} ");
        }
        text + "\n"
    }

    fn run_rapier(&self, program: &str) -> String {
        let model = file::parse(&self.text(), "pit").expect("the model");
        let [x, y] = self.half;
        let mut input = format!("{RADIUS} {MASS} {MU} {STEP} {x} {y}\n");
        for node in &model.nodes {
            let [x, y, z] = node.position;
            let _ = writeln!(input, "{x} {y} {z}");
        }
        let mut child = Command::new(program)
            .arg(FORMING.end.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("rapier's side runs");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("a pipe");
        let output = child.wait_with_output().expect("rapier's side ends");
        let text = String::from_utf8(output.stdout).expect("text");
        let numbers: Vec<f64> =
            text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        format!("| {:.3} | {:.0} | {:.1e} |", numbers[0] * 1e-6, numbers[1], numbers[2])
    }
}
