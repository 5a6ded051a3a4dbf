//! The master on an FMU of another tool (a first-order lag in C), and on files that are not good FMUs.

#![cfg(feature = "cli")]

use crate::support;
use crate::support::{
    Csv, OTHER_TOOL_DESCRIPTION, OTHER_TOOL_LIBRARY, archive, contact_fmu, fail, library_entry, other_tool,
    stderr, succeed,
};
use contact_fmu::description::Value;
use contact_fmu::master::csv::{self, Table};
use contact_fmu::master::extract::{ExtractedFmu, FmuFile, THIS_PLATFORM};
use contact_fmu::master::library::{CallError, Library, LogMessage, Status};
use contact_fmu::master::simulate::{self, Observer, Options, SimulationError};
use std::env::consts::DLL_SUFFIX;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const X: u32 = 1;
const U: u32 = 2;

fn extracted(folder: &Path) -> ExtractedFmu {
    FmuFile::open(&folder.join("lag.fmu")).unwrap().extract().unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * (1.0 + b.abs())
}

/// `x = gain u (1 - exp(-t / T))` for a constant input from rest, T = 0.5, gain = 2.
#[test]
fn a_constant_input_gives_the_exact_answer() {
    let folder = other_tool();
    let csv =
        Csv::parse(&succeed(folder.path(), &["simulate", "lag.fmu", "--step", "0.1", "--set", "u=1.5"]));
    assert_eq!(csv.header, ["time", "x", "y, alias of x", "steps", "positive", "label_out"]);
    let times = csv.numbers("time");
    assert_eq!(times.len(), 11);
    for (k, (time, x)) in times.iter().zip(csv.numbers("x")).enumerate() {
        assert_eq!(*time, if k == 10 { 1.0 } else { k as f64 * 0.1 });
        let exact = 2.0 * 1.5 * (1.0 - (-time / 0.5).exp());
        assert!(close(x, exact), "t = {time}: {x}, not {exact}");
    }
    assert_eq!(csv.texts("x"), csv.texts("y, alias of x"), "aliases");
    assert_eq!(csv.texts("steps"), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    assert_eq!(csv.texts("positive")[..2], ["false", "true"]);
}

#[test]
fn every_type_can_be_set_by_name() {
    let folder = other_tool();
    let run = |settings: &[&str]| {
        let mut arguments = vec!["simulate", "lag.fmu", "--stop", "0.25", "--step", "0.25"];
        settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
        Csv::parse(&succeed(folder.path(), &arguments))
    };
    let last = |csv: &Csv| *csv.numbers("x").last().unwrap();
    assert!(close(last(&run(&["u=1", "T=0.125"])), 2.0 * (1.0 - (-2.0f64).exp())));
    assert_eq!(last(&run(&["u=1", "gain=-3", "mode=direct"])), -3.0, "item of an enumeration");
    assert_eq!(last(&run(&["u=1", "gain=-3", "mode=2"])), -3.0, "its number");
    assert_eq!(last(&run(&["u=1", "x=7", "enabled=false"])), 7.0, "boolean input; start value of an output");
    assert_eq!(run(&["label=a \"b\", c=d"]).texts("label_out"), ["a \"b\", c=d"; 2]);
    assert_eq!(run(&["steps=41"]).texts("steps"), ["41", "42"]);
}

#[test]
fn inputs_are_interpolated_or_held() {
    let folder = other_tool();
    std::fs::write(
        folder.path().join("in.csv"),
        "\u{feff}enabled,time,u\r\ntrue,0.0,0\r\n\r\n1, 0.5 ,\"1\"\r\nfalse,0.75,1.0\n",
    )
    .unwrap();
    let arguments = ["simulate", "lag.fmu", "--step", "0.125", "--input", "in.csv", "-o", "out.csv"];
    assert_eq!(succeed(folder.path(), &arguments), "", "the table goes to the file");
    let csv = Csv::parse(&std::fs::read_to_string(folder.path().join("out.csv")).unwrap());
    let decay = (-0.125f64 / 0.5).exp();
    let mut expected = 0.0;
    for (k, x) in csv.numbers("x").into_iter().enumerate() {
        assert!(close(x, expected), "row {k}: {x}, not {expected}");
        let time = 0.125 * k as f64;
        let target = 2.0 * (time / 0.5).min(1.0);
        if time < 0.75 {
            expected = target + (expected - target) * decay;
        }
    }
}

#[test]
fn a_jump_is_two_rows_of_the_same_time() {
    let folder = other_tool();
    std::fs::write(folder.path().join("in.csv"), "time,u\n-1,5\n0.5,5\n0.5,-1\n9,-1\n").unwrap();
    let arguments = ["simulate", "lag.fmu", "--step", "0.25", "--set", "mode=direct", "--input", "in.csv"];
    assert_eq!(Csv::parse(&succeed(folder.path(), &arguments)).numbers("x"), [0.0, 10.0, 10.0, -2.0, -2.0]);
}

#[test]
fn the_last_step_ends_at_the_stop_time() {
    let folder = other_tool();
    let times = |stop: &str, step: &str| {
        let arguments = ["simulate", "lag.fmu", "--stop", stop, "--step", step];
        Csv::parse(&succeed(folder.path(), &arguments)).numbers("time")
    };
    assert_eq!(times("0.25", "0.1"), [0.0, 0.1, 0.2, 0.25]);
    assert_eq!(times("0.3", "0.1"), [0.0, 0.1, 0.2, 0.3], "0.1 + 0.1 + 0.1 is not 0.3");
    assert_eq!(times("0.1", "7"), [0.0, 0.1]);
    assert_eq!(times("0", "0.1"), [0.0]);
    assert_eq!(times("1.00000000001", "0.5"), [0.0, 0.5, 1.00000000001], "no step for the rest");
    let sixtieths = times("10", "0.016666666666666666");
    assert_eq!((sixtieths.len(), sixtieths[600]), (601, 10.0));
}

#[test]
fn without_a_default_step_one_is_chosen_and_told() {
    let folder = other_tool();
    let output = contact_fmu(folder.path(), &["simulate", "lag.fmu"]);
    assert_eq!(stderr(&output), "note: the FMU has no default step, taking 0.001 s (see --step)\n");
    assert_eq!(Csv::parse(&support::stdout(&output)).rows.len(), 1001);
}

#[test]
fn a_discarded_step_keeps_the_rows_before_it() {
    let folder = other_tool();
    let arguments =
        ["simulate", "lag.fmu", "--step", "0.25", "--set", "discard_at=0.6", "--set", "u=1", "-o", "out.csv"];
    let text = fail(folder.path(), &arguments);
    assert_eq!(
        text,
        "fmu: fmi2Discard (logStatusDiscard): 100% of what can be done is done\n\
         error: the FMU failed at t = 0.5 s (it came to 0.5 s): fmi2DoStep returned fmi2Discard\n\
         hint: run again with --log to see all that the FMU says\n"
    );
    let csv = Csv::parse(&std::fs::read_to_string(folder.path().join("out.csv")).unwrap());
    assert_eq!(csv.numbers("time"), [0.0, 0.25, 0.5]);
}

/// As Stair of the Reference-FMUs does: fmi2Discard, and fmi2Terminated when asked why.
#[test]
fn an_fmu_may_end_the_simulation() {
    let folder = other_tool();
    let run = |end: &str| {
        let mut arguments = vec!["simulate", "lag.fmu", "--step", "0.25", "--set", "ends=true"];
        arguments.extend(["--set", end, "--set", "u=1"]);
        let output = contact_fmu(folder.path(), &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        (stderr(&output), Csv::parse(&support::stdout(&output)))
    };
    let (told, csv) = run("discard_at=0.6");
    assert_eq!(told, "note: the FMU ended the simulation at t = 0.6 s\n");
    assert_eq!(csv.numbers("time"), [0.0, 0.25, 0.5, 0.6]);
    assert!(close(csv.numbers("x")[3], 2.0 * (1.0 - f64::exp(-0.6 / 0.5))));
    let (told, csv) = run("discard_at=0.5");
    assert_eq!(told, "note: the FMU ended the simulation at t = 0.5 s\n");
    assert_eq!(csv.numbers("time"), [0.0, 0.25, 0.5], "no row twice");
}

#[test]
fn warnings_do_not_stop_the_run() {
    let folder = other_tool();
    let arguments = ["simulate", "lag.fmu", "--step", "0.25", "--set", "warn=true"];
    let output = contact_fmu(folder.path(), &arguments);
    assert!(output.status.success());
    assert_eq!(
        stderr(&output),
        "note: the FMU warned (fmi2Warning) at t = 0.0 s\nnote: the FMU warned 4 times\n"
    );
    assert_eq!(Csv::parse(&support::stdout(&output)).rows.len(), 5);
}

#[test]
fn the_log_is_shown_on_request() {
    let folder = other_tool();
    let arguments = ["simulate", "lag.fmu", "--step", "1", "--log"];
    let output = contact_fmu(folder.path(), &arguments);
    assert_eq!(stderr(&output), "fmu: fmi2OK (logAll): ready to 100 %\n");
}

#[test]
fn settings_that_cannot_be_made_are_explained() {
    let folder = other_tool();
    for (setting, expected) in [
        ("gian=1", "error: cannot set `gian`: the FMU has no such variable, did you mean `gain`?\n"),
        ("zzzzzzzz=1", "error: cannot set `zzzzzzzz`: the FMU has no such variable\n"),
        ("T=fast", "error: cannot set `T`: `fast` is not a number\n"),
        ("steps=1.5", "error: cannot set `steps`: `1.5` is not a whole number\n"),
        ("enabled=maybe", "error: cannot set `enabled`: `maybe` is not true or false\n"),
        ("mode=turbo", "error: cannot set `mode`: `turbo` is not an item of the enumeration or its number\n"),
        ("positive=true", "error: cannot set `positive`: it is computed by the FMU (output)\n"),
        ("answer=41", "error: cannot set `answer`: it is computed by the FMU (local)\n"),
    ] {
        let text =
            fail(folder.path(), &["simulate", "lag.fmu", "--step", "1", "--set", setting, "-o", "out.csv"]);
        assert_eq!(text, expected);
        assert!(!folder.path().join("out.csv").exists(), "no table without rows");
    }
    let refused = fail(folder.path(), &["simulate", "lag.fmu", "--step", "1", "--set", "T=-1"]);
    assert!(refused.starts_with("fmu: fmi2Error (logStatusError): T must be above 0\nerror: the FMU failed at t = 0.0 s: fmi2SetReal returned fmi2Error\n"), "{refused}");
    let usage = contact_fmu(folder.path(), &["simulate", "lag.fmu", "--set", "T"]);
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn input_tables_that_are_wrong_are_explained() {
    let folder = other_tool();
    for (table, expected) in [
        ("", "in.csv: line 1: the file is empty"),
        ("time,u\n", "in.csv: input table: line 1: no rows follow the header"),
        ("t,u\n0,0\n", "in.csv: input table: line 1: the header has no column `time`"),
        ("time;u\n0;0\n", "in.csv: line 1: columns are to be separated by commas"),
        ("time,uu\n0,0\n", "line 1: `uu`: the FMU has no such variable, did you mean `u`?"),
        ("time,gain\n0,0\n", "line 1: `gain` is not an input (parameter): set it with --set"),
        ("time,positive\n0,0\n", "line 1: `positive` is not an input (output)"),
        ("time,u,u\n0,0,0\n", "line 1: `u` is given twice"),
        ("time,u\n0,0\n\n1,x1\n", "line 4: `u`: `x1` is not a number"),
        ("time,u\n0,0\n1\n", "in.csv: line 3: 1 values, but the header has 2 columns"),
        ("time,u\n0,0\nsoon,1\n", "line 3: time `soon` is not a number"),
        ("time,u\n0,0\nnan,1\n", "line 3: time `nan` is not a number"),
        ("time,u\n0,0\n2,0\n1,0\n", "line 4: time 1.0 comes after 2.0: sort the rows by time"),
        ("time,u\n0,\"0\n", "in.csv: line 2: a quote is not closed"),
        ("time,u\n0,\"0\"1\n", "in.csv: line 2: `1` follows a quoted value"),
    ] {
        std::fs::write(folder.path().join("in.csv"), table).unwrap();
        let text = fail(folder.path(), &["simulate", "lag.fmu", "--step", "1", "--input", "in.csv"]);
        assert!(text.starts_with("error: in.csv: ") && text.ends_with(&format!("{expected}\n")), "{text}");
    }
    std::fs::write(folder.path().join("in.csv"), "time,u\n0,0\n").unwrap();
    let twice = ["simulate", "lag.fmu", "--step", "1", "--input", "in.csv", "--set", "u=1"];
    assert!(fail(folder.path(), &twice).contains("`u` is given twice"));
    let missing = fail(folder.path(), &["simulate", "lag.fmu", "--input", "none.csv"]);
    assert!(missing.starts_with("error: cannot read none.csv: "), "{missing}");
}

#[test]
fn impossible_experiments_are_refused() {
    let folder = other_tool();
    for (arguments, expected) in [
        (["--stop", "-1"], "the stop time -1.0 s is before the start at 0.0 s"),
        (["--step", "1e-13"], "steps of 1e-13 s to 1.0 s are too many (1.0e13)"),
    ] {
        let text = fail(folder.path(), &["simulate", "lag.fmu", arguments[0], arguments[1]]);
        assert_eq!(text, format!("error: {expected}\n"));
    }
    for (option, value) in
        [("--step", "0"), ("--step", "-0.1"), ("--step", "nan"), ("--step", "fast"), ("--stop", "inf")]
    {
        let output = contact_fmu(folder.path(), &["simulate", "lag.fmu", option, value]);
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        assert!(stderr(&output).contains("expected a number"), "{option} {value}");
    }
    let broken = OTHER_TOOL_DESCRIPTION.replace("stopTime=\"1\"", "stopTime=\"1\" stepSize=\"0\"");
    std::fs::write(
        folder.path().join("broken.fmu"),
        archive(&[("modelDescription.xml", broken.as_bytes()), (&library_entry("lag"), &OTHER_TOOL_LIBRARY)]),
    )
    .unwrap();
    assert_eq!(
        fail(folder.path(), &["simulate", "broken.fmu"]),
        "error: the communication step must be above 0, not 0.0 s\n"
    );
    let endless = OTHER_TOOL_DESCRIPTION.replace("stopTime=\"1\"", "");
    std::fs::write(
        folder.path().join("endless.fmu"),
        archive(&[
            ("modelDescription.xml", endless.as_bytes()),
            (&library_entry("lag"), &OTHER_TOOL_LIBRARY),
        ]),
    )
    .unwrap();
    assert_eq!(
        fail(folder.path(), &["simulate", "endless.fmu"]),
        "error: the FMU has no default stop time\nhint: give one with --stop\n"
    );
    succeed(folder.path(), &["simulate", "endless.fmu", "--stop", "1"]);
}

#[test]
fn a_shorter_last_step_is_told_where_the_fmu_takes_equal_steps_only() {
    let folder = other_tool();
    let fixed = OTHER_TOOL_DESCRIPTION.replace("canHandleVariableCommunicationStepSize=\"1\"", "");
    std::fs::write(
        folder.path().join("fixed.fmu"),
        archive(&[("modelDescription.xml", fixed.as_bytes()), (&library_entry("lag"), &OTHER_TOOL_LIBRARY)]),
    )
    .unwrap();
    let messages =
        |step: &str| stderr(&contact_fmu(folder.path(), &["simulate", "fixed.fmu", "--step", step]));
    assert_eq!(messages("0.25"), "");
    assert!(messages("0.3").contains("the last step is shorter"));
}

#[test]
fn inspect_tells_all_without_loading_the_library() {
    let folder = other_tool();
    let broken = archive(&[
        ("modelDescription.xml", OTHER_TOOL_DESCRIPTION.as_bytes()),
        (&library_entry("lag"), b"not a library"),
        ("binaries/win32/lag.dll", b"neither"),
    ]);
    std::fs::write(folder.path().join("broken.fmu"), broken).unwrap();
    let text = succeed(folder.path(), &["inspect", "broken.fmu"]);
    for part in
        ["First order lag", "lag & more", "another tool", "stop 1.0 s", "State <x>", "canGetAndSetFMUstate"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&succeed(folder.path(), &["inspect", "broken.fmu", "--json"])).unwrap();
    let mut platforms = vec![THIS_PLATFORM, "win32"];
    platforms.sort_unstable();
    assert_eq!(json["platforms"], serde_json::json!(platforms));
    assert_eq!(json["modelName"], "First order lag");
    assert_eq!(json["coSimulation"]["canGetAndSetFMUstate"], true);
    assert_eq!(json["modelExchange"]["modelIdentifier"], "lag_me");
    assert_eq!(json["defaultExperiment"]["stopTime"], 1.0);
    let variables = json["modelVariables"].as_array().unwrap();
    let time_constant = variables.iter().find(|variable| variable["name"] == "T").unwrap();
    assert_eq!(time_constant["causality"], "parameter");
    assert_eq!(time_constant["type"], "Real");
    assert_eq!(time_constant["start"], 0.5);
    assert_eq!(time_constant["unit"], "s");
    assert_eq!(json["modelStructure"]["outputs"][3]["dependencies"], serde_json::json!([2, 3]));
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let folder = other_tool();
    let mut child = Command::new(env!("CARGO_BIN_EXE_contact-fmu"))
        .args(["simulate", "lag.fmu", "--step", "1e-5"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", stderr(&output));
}

#[test]
fn files_that_are_no_fmus_are_refused() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let description = OTHER_TOOL_DESCRIPTION.as_bytes();
    let library = library_entry("lag");
    write("text.fmu", b"this is no archive");
    write("empty.fmu", b"");
    write("no_description.fmu", &archive(&[("readme.txt", b"hello")]));
    write(
        "no_library.fmu",
        &archive(&[("modelDescription.xml", description), ("binaries/amiga/lag.so", b"")]),
    );
    write(
        "other_name.fmu",
        &archive(&[("modelDescription.xml", description), (&library_entry("Lag_1"), &OTHER_TOOL_LIBRARY)]),
    );
    write("no_binaries.fmu", &archive(&[("modelDescription.xml", description)]));
    write("bad_library.fmu", &archive(&[("modelDescription.xml", description), (&library, b"nothing")]));
    write("up.fmu", &archive(&[("modelDescription.xml", description), ("../up.txt", b"out")]));
    write("back.fmu", &archive(&[("modelDescription.xml", description), ("a\\..\\..\\up.txt", b"out")]));
    write("root.fmu", &archive(&[("modelDescription.xml", description), ("/up.txt", b"out")]));
    write("drive.fmu", &archive(&[("modelDescription.xml", description), ("C:/up.txt", b"out")]));
    let mut link = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    link.start_file("modelDescription.xml", SimpleFileOptions::default()).unwrap();
    link.write_all(description).unwrap();
    link.add_symlink("resources", "/etc", SimpleFileOptions::default()).unwrap();
    write("link.fmu", link.finish().unwrap().get_ref());
    let exchange =
        OTHER_TOOL_DESCRIPTION.replace("<CoSimulation", "<Other").replace("</CoSimulation", "</Other");
    write("exchange.fmu", &archive(&[("modelDescription.xml", exchange.as_bytes())]));
    let version_1 = OTHER_TOOL_DESCRIPTION.replace("fmiVersion=\"2.0\"", "fmiVersion=\"1.0\"");
    write("version_1.fmu", &archive(&[("modelDescription.xml", version_1.as_bytes())]));
    let wrong_guid = OTHER_TOOL_DESCRIPTION.replace("lag &amp; more", "other");
    write(
        "wrong_guid.fmu",
        &archive(&[("modelDescription.xml", wrong_guid.as_bytes()), (&library, &OTHER_TOOL_LIBRARY)]),
    );
    for (name, expected) in [
        ("text.fmu", "error: text.fmu is not an FMU: it is not a ZIP archive: "),
        ("empty.fmu", "error: empty.fmu is not an FMU: it is not a ZIP archive: "),
        ("no_description.fmu", "error: no_description.fmu is not an FMU: it has no modelDescription.xml\n"),
        (
            "version_1.fmu",
            "error: version_1.fmu: modelDescription.xml, line 3: FMI version 1.0 is not supported, only 2.0 and 3.0\n",
        ),
        (
            "up.fmu",
            "error: `../up.txt` in the archive points outside of it: the FMU is not safe to extract\n",
        ),
        (
            "back.fmu",
            "error: `a/../../up.txt` in the archive points outside of it: the FMU is not safe to extract\n",
        ),
        (
            "root.fmu",
            "error: `/up.txt` in the archive points outside of it: the FMU is not safe to extract\n",
        ),
        (
            "drive.fmu",
            "error: `C:/up.txt` in the archive points outside of it: the FMU is not safe to extract\n",
        ),
        ("link.fmu", "error: `resources` in the archive is a link: the FMU is not safe to extract\n"),
        ("none.fmu", "error: cannot open none.fmu: "),
        (".", "error: cannot open .: "),
    ] {
        for command in ["simulate", "inspect"] {
            let text = fail(folder.path(), &[command, name]);
            assert!(text.starts_with(expected), "{command} {name}: {text}");
        }
    }
    for (name, expected) in [
        (
            "no_library.fmu",
            format!("error: the FMU has no library for this machine ({THIS_PLATFORM}), only for amiga\n"),
        ),
        (
            "no_binaries.fmu",
            format!("error: the FMU has no library for this machine ({THIS_PLATFORM}), nor for any other\n"),
        ),
        (
            "other_name.fmu",
            format!(
                "error: the library in binaries/{THIS_PLATFORM} is called `Lag_1{DLL_SUFFIX}`, but by the FMU's modelIdentifier it should be `lag{DLL_SUFFIX}`\nhint: give the library the name"
            ),
        ),
        ("bad_library.fmu", "error: cannot load ".to_owned()),
        ("exchange.fmu", "error: the FMU offers model exchange only, not co-simulation\n".to_owned()),
        ("wrong_guid.fmu", "error: the FMU refused to be instantiated (fmi2Instantiate)\n".to_owned()),
    ] {
        let text = fail(folder.path(), &["simulate", name, "--step", "1"]);
        assert!(text.starts_with(&expected), "{name}: {text}");
        succeed(folder.path(), &["inspect", name]);
    }
    assert!(!folder.path().parent().unwrap().join("up.txt").exists());
}

#[test]
fn resources_are_given_as_an_encoded_uri_and_removed_afterwards() {
    let folder = other_tool();
    let fmu = extracted(folder.path());
    let resources = fmu.resources();
    let library = Library::load(&fmu).unwrap();
    let mut instance = library.instantiate(&fmu, "lag", false, Box::new(|_| {})).unwrap();
    let mut text = [String::new()];
    instance.get_string(&[1], &mut text).unwrap();
    let path = text[0].strip_prefix("file://").expect("a file URI");
    assert_eq!(path.replace("%20", " "), resources.to_str().unwrap());
    drop(instance);
    drop(library);
    drop(fmu);
    assert!(!resources.parent().unwrap().exists());
}

#[test]
fn states_are_saved_restored_and_serialized() {
    let folder = other_tool();
    let fmu = extracted(folder.path());
    let library = Library::load(&fmu).unwrap();
    let start = || {
        let mut instance = library.instantiate(&fmu, "lag", false, Box::new(|_| {})).unwrap();
        instance.setup_experiment(None, 0.0, Some(1.0)).unwrap();
        instance.enter_initialization_mode().unwrap();
        instance.set_real(&[U], &[1.0]).unwrap();
        instance.exit_initialization_mode().unwrap();
        instance
    };
    let mut first = start();
    let mut second = start();
    let mut x = [0.0];
    first.do_step(0.0, 0.25).unwrap();
    let saved = first.save_state().unwrap();
    let bytes = first.serialize_state(&saved).unwrap();
    first.do_step(0.25, 0.25).unwrap();
    first.get_real(&[X], &mut x).unwrap();
    let later = x[0];
    first.restore_state(&saved).unwrap();
    first.get_real(&[X], &mut x).unwrap();
    assert!(x[0] < later);
    let copy = second.deserialize_state(&bytes).unwrap();
    second.restore_state(&copy).unwrap();
    for instance in [&mut first, &mut second] {
        instance.do_step(0.25, 0.25).unwrap();
        instance.get_real(&[X], &mut x).unwrap();
        assert_eq!(x[0].to_bits(), later.to_bits());
    }
    first.free_state(saved).unwrap();
    let refused = second.deserialize_state(&bytes[1..]).unwrap_err();
    assert_eq!(refused, CallError::Status { function: "fmi2DeSerializeFMUstate", status: Status::Error });
    assert_eq!(second.reset().unwrap_err(), CallError::Missing("fmi2Reset"));
}

#[derive(Default)]
struct Rows(Vec<(f64, Vec<Value>)>);

impl Observer for Rows {
    fn row(&mut self, time: f64, values: &[Value]) -> std::io::Result<()> {
        if self.0.len() == 3 {
            return Err(std::io::Error::other("full"));
        }
        self.0.push((time, values.to_vec()));
        Ok(())
    }
    fn message(&mut self, _text: &str) {}
    fn progress(&mut self, fraction: f64) {
        assert!((0.0..=1.0).contains(&fraction));
    }
}

#[test]
fn an_observer_can_stop_the_run_and_sees_the_log() {
    let folder = other_tool();
    let fmu = extracted(folder.path());
    let log: Arc<Mutex<Vec<LogMessage>>> = Arc::default();
    let sink = Arc::clone(&log);
    let options = Options { step: Some(0.25), log: true, ..Options::default() };
    let mut rows = Rows::default();
    let error =
        simulate::run(&fmu, &options, Box::new(move |line| sink.lock().unwrap().push(line)), &mut rows)
            .unwrap_err();
    assert!(matches!(error, SimulationError::Output(_)), "{error}");
    assert_eq!(rows.0.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [0.0, 0.25, 0.5]);
    assert_eq!(rows.0[1].1[2], Value::Integer(1));
    let log = log.lock().unwrap();
    let line = LogMessage {
        status: Status::Ok,
        category: "logAll".to_owned(),
        message: "ready to 100 %".to_owned(),
    };
    assert_eq!(*log, [line]);
}

#[test]
fn tables_read_back_as_they_were_written() {
    let names = ["plain", "with, comma", "with \"quotes\""];
    let mut writer = csv::Writer::new(Vec::new(), names);
    let reals = [0.1 + 0.2, 1e-300, -0.0, f64::MAX, 5e-324, 1.0];
    for (k, real) in reals.into_iter().enumerate() {
        let text = Value::String("two\nlines, \"x\"".to_owned());
        writer.row(k as f64, &[Value::Real(real), Value::Integer(-7), text]).unwrap();
    }
    let table = Table::parse(&String::from_utf8(writer.into_inner()).unwrap()).unwrap();
    assert_eq!(table.header[0], "time");
    assert_eq!(table.header[1..], names);
    for ((_, row), real) in table.rows.iter().zip(reals) {
        assert_eq!(row[1].parse::<f64>().unwrap().to_bits(), real.to_bits());
        assert_eq!(row[2], "-7");
        assert_eq!(row[3], "two\nlines, \"x\"");
    }
}
