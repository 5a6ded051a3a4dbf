//! Cost of fmi2DoStep through the C interface of the packed library, beside a hand-written ball and an empty
//! doStep in C, measured alternately in one run. `cargo bench --bench do_step`

use contact_fmu::master::extract::FmuFile;
use contact_fmu::model::file;
use contact_fmu::{package, variables};
use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

type DoStep = unsafe extern "C" fn(*mut c_void, f64, f64, c_int) -> c_int;
type Plain = unsafe extern "C" fn(*mut c_void) -> c_int;
type Setup = unsafe extern "C" fn(*mut c_void, c_int, f64, f64, c_int, f64) -> c_int;
type SetReal = unsafe extern "C" fn(*mut c_void, *const u32, usize, *const f64) -> c_int;
type GetReal = unsafe extern "C" fn(*mut c_void, *const u32, usize, *mut f64) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void);
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    c_int,
    *const c_char,
    *const c_char,
    *const c_void,
    c_int,
    c_int,
) -> *mut c_void;

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
        rows.push(Row::new(name, Box::new(|| fmu.time_steps())));
    }
    let name = "coupled_ball, 10 substeps, with set, get and the master's ball";
    rows.push(Row::new(name, Box::new(|| coupled.time_exchange())));
    for _ in 0..ROUNDS {
        for row in &mut rows {
            row.fastest = row.fastest.min((row.measure)());
        }
    }
    let ball = rows[1].fastest;
    println!("| doStep of 1e-3 s, {STEPS} in a row | ns | of the hand-written ball |");
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

/// Nanoseconds per step.
fn time(do_step: DoStep, component: *mut c_void) -> f64 {
    let start = Instant::now();
    for k in 0..STEPS {
        // SAFETY: a live component of the library that the function comes from.
        let status = unsafe { do_step(component, k as f64 * STEP, STEP, 1) };
        assert_eq!(status, 0);
    }
    start.elapsed().as_secs_f64() * 1e9 / STEPS as f64
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
            let nanoseconds = time(do_step, component);
            free(component);
            nanoseconds
        }
    }
}

/// A built, extracted and loaded FMU.
struct Fmu {
    library: Library,
    guid: CString,
    resources: CString,
    variables: Vec<String>,
    _extracted: contact_fmu::master::extract::ExtractedFmu,
    _folder: tempfile::TempDir,
}

impl Fmu {
    fn build(name: &str) -> Fmu {
        Fmu::build_with(name, "", "")
    }

    /// The FMU of a model with a part of its text replaced.
    fn build_with(name: &str, old: &str, new: &str) -> Fmu {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(root.join(format!("models/{name}/model.toml"))).unwrap();
        let model = folder.path().join("model.toml");
        std::fs::write(&model, text.replacen(old, new, 1)).unwrap();
        let source = file::read(&model).unwrap();
        let path = folder.path().join("bench.fmu");
        std::fs::write(&path, package::build(&source, &[]).unwrap()).unwrap();
        let extracted = FmuFile::open(&path).unwrap().extract().unwrap();
        let guid = CString::new(package::guid::guid(&source.model)).unwrap();
        let variables = variables::table(&source.model).into_iter().map(|variable| variable.name).collect();
        let resources = CString::new(format!("file://{}", extracted.resources().display())).unwrap();
        // SAFETY: our own library has no initializers.
        let library = unsafe { Library::new(extracted.library().unwrap()) }.unwrap();
        Fmu { library, guid, resources, variables, _extracted: extracted, _folder: folder }
    }

    fn instantiate(&self) -> *mut c_void {
        // SAFETY: the signature of FMI 2.0; callbacks may be null for our FMU.
        unsafe {
            let instantiate = self.library.get::<Instantiate>(b"fmi2Instantiate\0").unwrap();
            let name = c"bench".as_ptr();
            let (guid, resources) = (self.guid.as_ptr(), self.resources.as_ptr());
            let component = instantiate(name, 1, guid, resources, std::ptr::null(), 0, 0);
            assert!(!component.is_null());
            component
        }
    }

    fn free(&self, component: *mut c_void) {
        // SAFETY: from `instantiate`, freed once.
        unsafe { self.library.get::<Free>(b"fmi2FreeInstance\0").unwrap()(component) }
    }

    /// An instance in step mode and its fmi2DoStep.
    fn ready(&self) -> (*mut c_void, DoStep) {
        let component = self.instantiate();
        // SAFETY: the signatures of FMI 2.0 on a live component.
        let do_step = unsafe {
            let plain = |name: &[u8]| assert_eq!(self.library.get::<Plain>(name).unwrap()(component), 0);
            let setup = self.library.get::<Setup>(b"fmi2SetupExperiment\0").unwrap();
            assert_eq!(setup(component, 0, 0.0, 0.0, 0, 0.0), 0);
            plain(b"fmi2EnterInitializationMode\0");
            plain(b"fmi2ExitInitializationMode\0");
            *self.library.get::<DoStep>(b"fmi2DoStep\0").unwrap()
        };
        (component, do_step)
    }

    /// Nanoseconds per step of a fresh run: flight, impacts, rest.
    fn time_steps(&self) -> f64 {
        let (component, do_step) = self.ready();
        let nanoseconds = time(do_step, component);
        self.free(component);
        nanoseconds
    }

    /// Nanoseconds per step of a fresh run in which a master moves the ball: state in, step, force out.
    fn time_exchange(&self) -> f64 {
        let (component, do_step) = self.ready();
        let reference = |name: &str| self.variables.iter().position(|other| other == name).unwrap() as u32;
        let inputs = [reference("ball.r[3]"), reference("ball.v[3]")];
        let output = reference("ball.f[3]");
        // SAFETY: the signatures of FMI 2.0 on a live component.
        let (set, get) = unsafe {
            let set = *self.library.get::<SetReal>(b"fmi2SetReal\0").unwrap();
            (set, *self.library.get::<GetReal>(b"fmi2GetReal\0").unwrap())
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
        self.free(component);
        nanoseconds
    }

    fn time_instantiation(&self) -> f64 {
        let start = Instant::now();
        let component = self.instantiate();
        let seconds = start.elapsed().as_secs_f64();
        self.free(component);
        seconds
    }
}
