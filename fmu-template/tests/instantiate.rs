//! fmi2Instantiate: every form of resource location, every wrong argument; the library as it is loaded.

use crate::common::*;
use contact_fmu::model::packed;
use std::path::Path;

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
