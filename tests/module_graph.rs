//! The modules of the engine depend on one another in one direction: every path to another module in the source, in `use`
//! lines and in code, points to one that ARCHITECTURE.md lists before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Where a module names another one: file and path as written.
type Uses = BTreeMap<String, BTreeMap<String, (PathBuf, String)>>;

#[test]
fn engine_modules_have_no_cycle() {
    let uses = uses(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/engine")));
    assert!(uses.len() > 10, "the engine has modules: {:?}", uses.keys());
    if let Some(cycle) = cycle(&uses) {
        let edges = cycle.windows(2).map(|edge| {
            let (file, path) = &uses[&edge[0]][&edge[1]];
            format!("  {} -> {}: `{path}` in {}", edge[0], edge[1], file.display())
        });
        panic!("modules of the engine use one another in a cycle:\n{}", edges.collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn engine_modules_are_listed_from_the_lowest_to_the_highest() {
    let uses = uses(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/engine")));
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/ARCHITECTURE.md")).unwrap();
    let listed: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(module, _)| module)
        .collect();
    let modules: BTreeSet<&str> = uses.keys().map(String::as_str).collect();
    assert_eq!(
        listed.iter().copied().collect::<BTreeSet<_>>(),
        modules,
        "ARCHITECTURE.md lists every module"
    );
    for (place, module) in listed.iter().enumerate() {
        for (used, (file, path)) in &uses[*module] {
            assert!(
                listed[..place].contains(&used.as_str()),
                "{module} uses {used}, which ARCHITECTURE.md lists after it: `{path}` in {}",
                file.display()
            );
        }
    }
}

#[test]
fn cycles_are_found() {
    let edge = |to: &str| (to.to_owned(), (PathBuf::from("file.rs"), format!("super::{to}")));
    let mut uses = Uses::from([
        ("a".to_owned(), BTreeMap::from([edge("b")])),
        ("b".to_owned(), BTreeMap::from([edge("c")])),
        ("c".to_owned(), BTreeMap::new()),
    ]);
    assert_eq!(cycle(&uses), None);
    uses.get_mut("c").unwrap().extend([edge("b")]);
    assert_eq!(cycle(&uses).unwrap(), ["b", "c", "b"]);
}

#[test]
fn paths_are_read_from_use_trees_and_code() {
    let source = "use super::{near::{Near, find}, far as other};\n// super::comment::x\n\
        fn f() -> crate::engine::state::State { super::super::law::g() }\n\
        #[cfg(test)]\nmod tests {\n    use super::*;\n    use super::super::top::x;\n}\n";
    let found = paths(source, &["contact".into(), "islands".into()], &BTreeMap::new());
    let modules: Vec<String> = found.into_iter().map(|(module, _)| module).collect();
    assert_eq!(modules, ["contact", "contact", "contact", "state", "law", "contact", "contact"]);
}

/// A cycle of modules, its first one again at the end.
fn cycle(uses: &Uses) -> Option<Vec<String>> {
    fn visit<'a>(
        uses: &'a Uses,
        module: &'a str,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|&before| before == module) {
            return Some(way[start..].iter().chain([&module]).map(ToString::to_string).collect());
        }
        if !done.insert(module) {
            return None;
        }
        way.push(module);
        let found = uses[module].keys().find_map(|next| visit(uses, next, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    uses.keys().find_map(|module| visit(uses, module, &mut Vec::new(), &mut done))
}

/// Which modules of a folder use which others.
fn uses(root: &Path) -> Uses {
    let mut files = Vec::new();
    list(root, &mut files);
    let mut uses = Uses::new();
    let exports = exports(&fs::read_to_string(root.join("mod.rs")).unwrap());
    for file in files {
        let relative = file.strip_prefix(root).unwrap().with_extension("");
        let mut place: Vec<String> =
            relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if place.last().is_some_and(|last| last == "mod") {
            place.pop();
        }
        // Unit tests in files of their own are modules `tests` of the file that they test.
        if let Some(tested) = place.last().and_then(|last| last.strip_suffix("_tests")).map(str::to_owned) {
            *place.last_mut().unwrap() = tested;
            place.push("tests".to_owned());
        }
        let Some(module) = place.first().cloned() else { continue };
        let found = uses.entry(module.clone()).or_default();
        for (used, path) in paths(&fs::read_to_string(&file).unwrap(), &place, &exports) {
            if used != module {
                assert!(
                    root.join(&used).exists() || root.join(format!("{used}.rs")).exists(),
                    "{path} in {file:?}"
                );
                found.entry(used).or_insert((relative.with_extension("rs"), path));
            }
        }
    }
    uses
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

/// Names that the root of the engine exports, with their modules.
fn exports(source: &str) -> BTreeMap<String, String> {
    let statements = source.split("pub use ").skip(1).map(|rest| rest.split_once(';').unwrap().0);
    let paths = statements.flat_map(expand);
    paths
        .map(|path| {
            let module = path.split("::").next().unwrap().to_owned();
            let name = path.rsplit("::").next().unwrap();
            (name.rsplit(" as ").next().unwrap().trim().to_owned(), module)
        })
        .collect()
}

/// Modules of the engine that a file at `place` names, with the paths as written.
fn paths(source: &str, place: &[String], exports: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let code: String = source.lines().map(|line| line.split("//").next().unwrap_or("")).fold(
        String::new(),
        |mut code, line| {
            code.push_str(line);
            code.push('\n');
            code
        },
    );
    let (own, tests) = code.split_once("mod tests {").unwrap_or((&code, ""));
    let inner: Vec<String> = place.iter().cloned().chain(["tests".to_owned()]).collect();
    let mut found = Vec::new();
    for (text, place) in [(own, place), (tests, &inner)] {
        for path in written(text) {
            let mut parts = path.split("::").map(str::trim).peekable();
            let mut base = place.to_vec();
            match parts.next() {
                Some("crate") if parts.next_if_eq(&"engine").is_some() => base.clear(),
                Some("super") => {
                    base.pop();
                    while parts.next_if_eq(&"super").is_some() {
                        base.pop();
                    }
                }
                _ => continue,
            }
            base.extend(parts.map(|part| part.split(" as ").next().unwrap_or(part).to_owned()));
            if let Some(first) = base.first() {
                found.push((exports.get(first).unwrap_or(first).clone(), path));
            }
        }
    }
    found
}

/// Paths from `crate` or `super` in `use` trees and in code, in the order in which they are written.
fn written(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let next = ["crate::", "super::"].into_iter().filter_map(|start| rest.find(start)).min();
        let Some(start) = next else { return found };
        let is_use = rest[..start].trim_end().ends_with("use");
        let end = if is_use {
            start + rest[start..].find(';').unwrap_or(rest.len() - start)
        } else {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            start + rest[start..].find(|c| !is_part(c)).unwrap_or(rest.len() - start)
        };
        found.extend(expand(&rest[start..end]));
        rest = &rest[end..];
    }
}

/// The paths of a `use` tree.
fn expand(tree: &str) -> Vec<String> {
    let Some(open) = tree.find('{') else { return vec![tree.trim().trim_end_matches(':').to_owned()] };
    let close = tree.rfind('}').unwrap();
    let mut depth = 0;
    let branches = tree[open + 1..close].split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let branches = branches.filter(|branch| !branch.trim().is_empty());
    branches.flat_map(|branch| expand(&format!("{}{}", tree[..open].trim(), branch.trim()))).collect()
}
