//! Cost of fmi2DoStep through the C interface of the packed library, beside a hand-written ball and an empty
//! doStep in C, measured alternately in one run. `cargo bench --bench do_step`

mod fmu;

use fmu::{DoStep, Fmu, Free, time};
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

type SetReal = unsafe extern "C" fn(*mut c_void, *const u32, usize, *const f64) -> c_int;
type GetReal = unsafe extern "C" fn(*mut c_void, *const u32, usize, *mut f64) -> c_int;

const STEP: f64 = 1e-3;
const STEPS: usize = 20_000;
const ROUNDS: usize = 25;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let peer = Peer::compile(folder.path());
    let balls: Vec<(&str, Fmu)> =
        ["bouncing_ball", "tilted_plane_friction", "double_impact", "resting_block"]
            .into_iter()
            .map(|name| (name, Fmu::build(name)))
            .collect();
    let coupled = Fmu::build_with("coupled_ball", "[engine]", "[engine]\nstep = 1e-4");
    let mut rows = vec![
        Row::new("empty doStep in C", Box::new(|| peer.time(c"empty_do_step"))),
        Row::new("hand-written ball in C", Box::new(|| peer.time(c"ball_do_step"))),
    ];
    for (name, fmu) in &balls {
        rows.push(Row::new(name, Box::new(|| fmu.time_steps(STEP, STEPS))));
    }
    let name = "coupled_ball, 10 substeps, with set, get and the master's ball";
    rows.push(Row::new(name, Box::new(|| time_exchange(&coupled))));
    for _ in 0..ROUNDS {
        for row in &mut rows {
            row.fastest = row.fastest.min((row.measure)());
        }
    }
    let ball = rows[1].fastest;
    println!("| doStep of 1e-3 s, {STEPS} in a row | ns | relative to the hand-written ball |");
    println!("|---|---|---|");
    for row in &rows {
        println!("| {} | {:.0} | {:.2} |", row.name, row.fastest, row.fastest / ball);
    }
    let instantiation = (0..200).map(|_| balls[0].1.time_instantiation()).fold(f64::INFINITY, f64::min);
    println!("\nfmi2Instantiate of bouncing_ball: {:.0} us", instantiation * 1e6);
}

struct Row<'a> {
    name: String,
    measure: Box<dyn Fn() -> f64 + 'a>,
    fastest: f64,
}

impl<'a> Row<'a> {
    fn new(name: &str, measure: Box<dyn Fn() -> f64 + 'a>) -> Row<'a> {
        Row { name: name.to_owned(), measure, fastest: f64::INFINITY }
    }
}

struct Peer {
    library: Library,
}

impl Peer {
    fn compile(folder: &Path) -> Peer {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/bouncing_ball.c");
        let path: PathBuf = folder.join("peer.so");
        let compiled = Command::new("cc")
            .args(["-O3", "-shared", "-fPIC", "-o"])
            .args([&path, &source])
            .arg("-lm")
            .status()
            .expect("a C compiler named cc");
        assert!(compiled.success());
        // SAFETY: our own library has no initializers.
        Peer { library: unsafe { Library::new(path) }.expect("the compiled peer loads") }
    }

    fn time(&self, name: &std::ffi::CStr) -> f64 {
        // SAFETY: the signatures of bouncing_ball.c.
        unsafe {
            let do_step = *self.library.get::<DoStep>(name.to_bytes_with_nul()).unwrap();
            let instantiate =
                *self.library.get::<unsafe extern "C" fn() -> *mut c_void>(b"ball_instantiate\0").unwrap();
            let free = *self.library.get::<Free>(b"ball_free\0").unwrap();
            let component = instantiate();
            let nanoseconds = time(do_step, component, STEP, STEPS);
            free(component);
            nanoseconds
        }
    }
}

/// Nanoseconds per step of a fresh run in which a master moves the ball: state in, step, force out.
fn time_exchange(fmu: &Fmu) -> f64 {
    let (component, do_step) = fmu.ready();
    let reference = |name: &str| fmu.variables.iter().position(|other| other == name).unwrap() as u32;
    let inputs = [reference("ball.r[3]"), reference("ball.v[3]")];
    let output = reference("ball.f[3]");
    // SAFETY: the signatures of FMI 2.0 on a live component.
    let (set, get) = unsafe {
        let set = *fmu.library.get::<SetReal>(b"fmi2SetReal\0").unwrap();
        (set, *fmu.library.get::<GetReal>(b"fmi2GetReal\0").unwrap())
    };
    let (mut position, mut velocity, mut force) = (1.001, 0.0, 0.0);
    let start = Instant::now();
    for k in 0..STEPS {
        let state = [position, velocity];
        // SAFETY: as many values as references.
        let statuses = unsafe {
            [
                set(component, inputs.as_ptr(), 2, state.as_ptr()),
                do_step(component, k as f64 * STEP, STEP, 1),
                get(component, &raw const output, 1, &raw mut force),
            ]
        };
        assert_eq!(statuses, [0; 3]);
        let acceleration = force - 10.0;
        position += STEP * (velocity + 0.5 * STEP * acceleration);
        velocity += STEP * acceleration;
    }
    let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / STEPS as f64;
    assert!(position.abs() < 0.21, "the ball rests on the floor");
    fmu.free(component);
    nanoseconds
}
