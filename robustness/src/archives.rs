//! FMU archives of anyone, opened, extracted and run: refused, or read without harm. No library in them is good.

use crate::models::QUICK;
use crate::{Entropy, damage};
use contact_fmu::description::{Value, write};
use contact_fmu::master::extract::{FmuFile, THIS_PLATFORM};
use contact_fmu::master::simulate::{self, Observer, Options};
use contact_fmu::variables;
use std::io::{Cursor, Write};
use std::sync::LazyLock;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::with_prefix("archives-").expect("a folder"));

/// Descriptions of good FMUs.
static DESCRIPTIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let known = QUICK.iter().filter(|known| known.model.contacts.len() < 3);
    let mut all: Vec<String> =
        known.map(|known| write::write(&known.model, &variables::table(&known.model), &known.guid)).collect();
    all.push(include_str!("../../tests/fixtures/other_tool/modelDescription.xml").to_owned());
    all.sort_by_key(String::len);
    all.truncate(4);
    all
});

/// One archive.
pub fn run(entropy: &mut Entropy) {
    let mut bytes = archive(entropy);
    if entropy.one_in(3) {
        let times = 1 + entropy.below(6);
        damage::bytes(entropy, &mut bytes, times);
    }
    let thread = format!("{:?}", std::thread::current().id()).replace(|c: char| !c.is_ascii_digit(), "");
    let path = FOLDER.path().join(format!("case{thread}.fmu"));
    std::fs::write(&path, bytes).expect("the archive is written");
    match FmuFile::open(&path) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(file) => {
            assert!(file.description.co_simulation.is_some() || file.description.model_exchange.is_some());
            if entropy.one_in(3)
                && let Ok(fmu) = file.extract()
            {
                let options = Options { stop: Some(1.0), step: Some(0.5), ..Options::default() };
                let result = simulate::run(&fmu, &options, Box::new(drop), &mut Nobody);
                assert!(result.is_err(), "there is no good library in it");
            }
        }
    }
}

struct Nobody;

impl Observer for Nobody {
    fn row(&mut self, _: f64, _: &[Value]) -> std::io::Result<()> {
        Ok(())
    }
    fn message(&mut self, _: &str) {}
    fn progress(&mut self, _: f64) {}
}

fn archive(entropy: &mut Entropy) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let description = description(entropy);
    let mut names = vec!["modelDescription.xml".to_owned()];
    let mut contents = vec![description];
    for _ in 0..entropy.below(5) {
        names.push(name(entropy));
        contents.push(content(entropy));
    }
    if entropy.one_in(2) {
        names.rotate_left(1);
        contents.rotate_left(1);
    }
    for (name, content) in names.iter().zip(&contents) {
        let method = if entropy.one_in(3) { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default().compression_method(method);
        // The writer itself refuses some names; then the archive goes without them.
        match entropy.below(12) {
            0 => drop(writer.add_symlink(name.as_str(), "../../outside", options)),
            1 => drop(writer.add_directory(name.as_str(), options)),
            _ => {
                if writer.start_file(name.as_str(), options).is_ok() {
                    writer.write_all(content).expect("memory takes it");
                }
            }
        }
    }
    let mut bytes = writer.finish().expect("an archive").into_inner();
    if entropy.one_in(8) {
        // Two entries of one name, which the writer would refuse.
        replace_all(&mut bytes, b"resources/a.bin", b"resources/b.bin");
    }
    bytes
}

fn replace_all(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    for at in 0..bytes.len().saturating_sub(from.len()) {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
}

fn name(entropy: &mut Entropy) -> String {
    const NAMES: [&str; 22] = [
        "../outside",
        "../../../../tmp/outside",
        "/tmp/outside",
        "C:\\outside",
        "..\\outside",
        "a/../../outside",
        "resources/a.bin",
        "resources/b.bin",
        "resources/model.bin",
        "resources",
        "resources/",
        "binaries",
        "./modelDescription.xml",
        "modelDescription.xml/x",
        "MODELDESCRIPTION.XML",
        "",
        ".",
        "..",
        "a\0b",
        "\u{1b}[2J",
        "con",
        "binaries/linux64/",
    ];
    match entropy.below(12) {
        0 => "a/".repeat(1 + entropy.below(2000)),
        1 => "x".repeat(1 + entropy.below(60_000)),
        2 | 3 => format!(
            "binaries/{THIS_PLATFORM}/{}.so",
            entropy.pick(&["lag", "bouncing_ball", "coupled_ball", "x"])
        ),
        _ => (*entropy.pick(&NAMES)).to_owned(),
    }
}

fn content(entropy: &mut Entropy) -> Vec<u8> {
    match entropy.below(8) {
        0 => vec![0; entropy.below(1 << 16)],
        1 => b"\x7fELF\x02\x01\x01".to_vec(),
        2 => Vec::new(),
        // A small bomb; large ones take seconds to make and are a test of their own.
        3 if entropy.one_in(64) => vec![b' '; 4 << 20],
        _ => (0..entropy.below(200)).map(|_| entropy.below(256) as u8).collect(),
    }
}

/// A good description, or one that was meant to do harm.
fn description(entropy: &mut Entropy) -> Vec<u8> {
    let known = entropy.pick(&DESCRIPTIONS).clone();
    match entropy.below(8) {
        0 => known.into_bytes(),
        1 => special(entropy, &known),
        2 => {
            let mut bytes = known.into_bytes();
            let times = 1 + entropy.below(10);
            damage::bytes(entropy, &mut bytes, times);
            bytes
        }
        _ => {
            let others: Vec<&str> = DESCRIPTIONS.iter().map(String::as_str).collect();
            let times = 1 + entropy.below(6);
            damage::text(entropy, &known, &others, times).into_bytes()
        }
    }
}

fn special(entropy: &mut Entropy, known: &str) -> Vec<u8> {
    const LAUGHS: &str = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">\
        <!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\"><!ENTITY d SYSTEM \"file:///etc/passwd\">]>";
    const HEAD: &str = "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"g\">";
    let count = 1 + entropy.below(2000);
    let body = known.split_once("?>").map_or(known, |(_, body)| body);
    let entity = *entropy.pick(&["&c;", "&d;", "&#0;", "&#27;", "&#x1f4a9;", "&#xffffffff;", "&", "&lt"]);
    match entropy.below(9) {
        0 => format!("{LAUGHS}{}", body.replacen("modelName=\"", &format!("modelName=\"{entity}"), 1))
            .into_bytes(),
        1 => format!("{HEAD}{}", "<a>".repeat(count)).into_bytes(),
        2 => {
            let attributes: String = (0..count).map(|k| format!(" a{k}=\"\"")).collect();
            format!("{HEAD}<CoSimulation modelIdentifier=\"m\"{attributes}/></fmiModelDescription>")
                .into_bytes()
        }
        3 => body.replacen("modelIdentifier=\"", "modelIdentifier=\"../../../../tmp/", 1).into_bytes(),
        4 => body.replacen("modelName=\"", "modelName=\"\0", 1).into_bytes(),
        5 => [
            b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>",
            body.replace("modelName=\"", "modelName=\"\u{fc}").as_bytes(),
        ]
        .concat(),
        6 => body
            .replace("startTime=\"0", "startTime=\"nan")
            .replace("stepSize=\"", "stepSize=\"-")
            .into_bytes(),
        7 => body.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => body
            .replacen("<ModelVariables>", &format!("<ModelVariables><!--{}-->", "-".repeat(count)), 1)
            .into_bytes(),
    }
}
