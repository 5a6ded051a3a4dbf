//! fmi2Instantiate: every form of resource location, every wrong argument; the library as it is loaded.

use crate::common::*;
use contact_fmu::model::packed;
use std::path::{Path, PathBuf};

fn try_location(location: Option<&str>) -> Result<(), String> {
    instantiate(Some("x"), fmi2CoSimulation, Some(GUID), location)
}

fn instantiate(
    name: Option<&str>,
    kind: fmi2Type,
    guid: Option<&str>,
    location: Option<&str>,
) -> Result<(), String> {
    let (component, log) = Instantiation { name, kind, guid, location, logging_on: false }.run();
    let lines = std::mem::take(&mut *log.lock().unwrap());
    if component.is_null() {
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!((lines[0].status, lines[0].category.as_str()), (fmi2Error, "logStatusError"));
        return Err(lines[0].message.clone());
    }
    assert!(lines.is_empty());
    // SAFETY: from fmi2Instantiate, not used afterwards.
    unsafe { fmi2FreeInstance(component) };
    Ok(())
}

#[cfg(unix)]
#[test]
fn every_form_of_location_is_found() {
    let fmu = Fmu::new(&bouncing_ball());
    let path = fmu.resources();
    assert!(path.contains(' ') && path.contains('%'));
    let encoded = path.replace('%', "%25").replace(' ', "%20");
    for location in [
        path.clone(),
        format!("{path}/"),
        format!("file:{encoded}"),
        format!("file://{encoded}"),
        format!("file://{encoded}/"),
        format!("file://localhost{encoded}"),
        format!("FILE://{}", encoded.replace("resources", "%72esources")),
        format!("file://{path}"),
    ] {
        assert_eq!(try_location(Some(&location)), Ok(()), "{location}");
    }
}

#[test]
fn a_wrong_location_says_what_was_tried() {
    for location in ["/nowhere/at/all", "file:///nowhere/at/all"] {
        let message = try_location(Some(location)).unwrap_err();
        assert!(message.contains("cannot read /nowhere/at/all/model.bin"), "{message}");
        assert!(message.contains(&format!("fmuResourceLocation is {location}")), "{message}");
    }
    for location in [None, Some("")] {
        let message = try_location(location).unwrap_err();
        assert!(message.contains("fmuResourceLocation is not given"), "{message}");
        assert!(message.contains("resources"), "{message}");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let location = Some(fmu.resources());
    let location = location.as_deref();
    let refused = |name, kind, guid, reason: &str| {
        let message = instantiate(name, kind, guid, location).unwrap_err();
        assert!(message.contains(reason), "{message}");
    };
    refused(None, fmi2CoSimulation, Some(GUID), "instanceName is NULL");
    refused(Some("x"), 17, Some(GUID), "fmuType is 17");
    assert_eq!(instantiate(Some("x"), fmi2ModelExchange, Some(GUID), location), Ok(()));
    let iterative = Fmu::new(&all_couplings());
    let message =
        instantiate(Some("x"), fmi2ModelExchange, Some(GUID), Some(&iterative.resources())).unwrap_err();
    assert!(message.contains("iterative = true") && message.contains("co-simulation only"), "{message}");
    refused(Some("x"), fmi2CoSimulation, None, "fmuGUID is NULL");
    refused(Some("x"), fmi2CoSimulation, Some("{wrong}"), "fmuGUID is {wrong}");
    refused(Some("x"), fmi2CoSimulation, Some(""), GUID);
    assert_eq!(instantiate(Some(""), fmi2CoSimulation, Some(GUID), location), Ok(()));
}

#[test]
fn a_damaged_model_is_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let file = Path::new(&fmu.resources()).join(packed::FILE_NAME);
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert!(try_location(Some(&fmu.resources())).unwrap_err().contains("damaged"));
    std::fs::write(&file, b"").unwrap();
    assert!(try_location(Some(&fmu.resources())).unwrap_err().contains("not a packed contact-fmu model"));
}

#[test]
fn an_instance_is_made_within_two_milliseconds() {
    let fmu = Fmu::new(&bouncing_ball());
    let fastest = (0..20)
        .map(|_| {
            let start = std::time::Instant::now();
            try_location(Some(&fmu.resources())).unwrap();
            start.elapsed()
        })
        .min()
        .unwrap();
    assert!(fastest.as_micros() < 2000, "{fastest:?}");
}

/// The shared library that was built with this test.
fn built_library() -> PathBuf {
    let name = format!("{}contact_fmu_runtime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    std::env::current_exe().unwrap().with_file_name(name)
}

#[test]
fn without_location_the_resources_are_found_from_the_library() {
    let fmu = Fmu::new(&bouncing_ball());
    let folder = fmu.folder.path().join("binaries/linux64");
    std::fs::create_dir_all(&folder).unwrap();
    let library = folder.join("model.so");
    std::fs::copy(built_library(), &library).unwrap();
    type Instantiate = unsafe extern "C" fn(
        fmi2String,
        fmi2Type,
        fmi2String,
        fmi2String,
        *const fmi2CallbackFunctions,
        fmi2Boolean,
        fmi2Boolean,
    ) -> fmi2Component;
    let log = Default::default();
    let callbacks = callbacks(&log);
    let guid = std::ffi::CString::new(GUID).unwrap();
    // SAFETY: the library of this project, called as the standard says.
    unsafe {
        let library = libloading::Library::new(&library).unwrap();
        let instantiate = library.get::<Instantiate>(c"fmi2Instantiate").unwrap();
        let free = library.get::<unsafe extern "C" fn(fmi2Component)>(c"fmi2FreeInstance").unwrap();
        for location in [std::ptr::null(), c"".as_ptr()] {
            let name = c"x".as_ptr();
            let component = instantiate(name, fmi2CoSimulation, guid.as_ptr(), location, &callbacks, 0, 0);
            assert!(!component.is_null(), "{log:?}");
            free(component);
        }
    }
}

/// Of `fmi2Functions.h`.
const EXPORTS: &str = "CancelStep CompletedIntegratorStep DeSerializeFMUstate DoStep EnterContinuousTimeMode \
    EnterEventMode EnterInitializationMode ExitInitializationMode FreeFMUstate FreeInstance GetBoolean \
    GetBooleanStatus GetContinuousStates GetDerivatives GetDirectionalDerivative GetEventIndicators GetFMUstate \
    GetInteger GetIntegerStatus GetNominalsOfContinuousStates GetReal GetRealOutputDerivatives GetRealStatus \
    GetStatus GetString GetStringStatus GetTypesPlatform GetVersion Instantiate NewDiscreteStates Reset \
    SerializeFMUstate SerializedFMUstateSize SetBoolean SetContinuousStates SetDebugLogging SetFMUstate SetInteger \
    SetReal SetRealInputDerivatives SetString SetTime SetupExperiment Terminate";

#[cfg(target_os = "linux")]
#[test]
fn exactly_the_functions_of_the_standard_are_exported() {
    let output = std::process::Command::new("nm")
        .args(["-D", "--defined-only", "--format=just-symbols"])
        .arg(built_library())
        .output()
        .expect("nm, which comes with the linker");
    let mut exported: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().split_whitespace().collect();
    exported.sort_unstable();
    let mut expected: Vec<String> = EXPORTS.split_whitespace().map(|name| format!("fmi2{name}")).collect();
    expected.sort_unstable();
    assert_eq!(exported, expected);
}
