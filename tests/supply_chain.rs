//! Where the code in FMUs comes from: licenses as deny.toml allows, one version of everything, and a reason for each package.

#![cfg(feature = "cli")]

use crate::support::{root, stderr};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

fn cargo(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo starts");
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Name and version of what is compiled into the library of an FMU; what procedural macros need runs in the compiler only.
fn in_the_library() -> BTreeMap<String, BTreeSet<String>> {
    let arguments = ["tree", "--locked", "--package", "fmu-template", "--edges", "normal,no-proc-macro"];
    let tree = cargo(&[&arguments[..], &["--prefix", "none", "--format", "{p}"]].concat());
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next())
            && !["contact-fmu", "fmu-template"].contains(&name)
        {
            found.entry(name.to_owned()).or_default().insert(version.to_owned());
        }
    }
    found
}

#[test]
fn the_library_has_one_version_of_everything_and_a_reason_for_it() {
    let page = include_str!("../docs/robustness.md");
    let rows =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ")).collect::<Vec<_>>();
    let packages = in_the_library();
    assert!(packages.len() > 15, "{packages:?}");
    for (name, versions) in &packages {
        assert_eq!(versions.len(), 1, "{name}: {versions:?}");
        let reasons = rows.iter().filter(|(first, _)| first == name).count();
        assert_eq!(reasons, 1, "docs/robustness.md has one row on {name}");
    }
    let table = page.split("## Packages in the library").nth(1).expect("the section");
    let listed = table.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once("` | ")?.0));
    for name in listed {
        assert!(packages.contains_key(name), "{name} is not in the library any more");
    }
}

/// Whether an SPDX expression can be had with allowed licenses only.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let all = expression.replace('/', " OR ");
    all.split(" AND ").all(|part| {
        part.trim_matches(['(', ')', ' ']).split(" OR ").any(|license| allowed.contains(license.trim()))
    })
}

#[test]
fn licenses_are_those_that_deny_toml_allows() {
    let configuration: toml::Table = include_str!("../deny.toml").parse().expect("TOML");
    let allowed: BTreeSet<String> = configuration["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|license| license.as_str().expect("a name").to_owned())
        .collect();
    let metadata = cargo(&["metadata", "--locked", "--format-version", "1", "--all-features"]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50);
    for package in packages {
        let license = package["license"].as_str().unwrap_or("none");
        assert!(is_allowed(license, &allowed), "{} is under {license}", package["name"]);
        let source = package["source"].as_str().unwrap_or("local");
        assert!(
            source == "local" || source.contains("crates.io-index"),
            "{} is from {source}",
            package["name"]
        );
    }
    assert!(!is_allowed("GPL-3.0-only", &allowed) && !is_allowed("MIT AND GPL-3.0-only", &allowed));
}
