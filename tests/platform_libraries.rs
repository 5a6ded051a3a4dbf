//! Ready libraries in a folder, as the build script of the builder takes them.

#![cfg(feature = "cli")]

#[path = "../build/platforms.rs"]
mod platforms;

use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::package::runtime;
use platforms::{files, libraries_in, of_library, of_target};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The first bytes of a library for a platform, from the definitions of ELF, PE and Mach-O.
fn header(platform: &str) -> Vec<u8> {
    let elf = |class: u8, machine: u16| {
        let mut bytes = vec![0x7f, b'E', b'L', b'F', class, 1, 1];
        bytes.resize(18, 0);
        bytes.extend(machine.to_le_bytes());
        bytes
    };
    let pe = |machine: u16| {
        let mut bytes = b"MZ".to_vec();
        bytes.resize(60, 0);
        bytes.extend([0x80, 0, 0, 0]);
        bytes.resize(0x80, 0);
        bytes.extend(b"PE\0\0");
        bytes.extend(machine.to_le_bytes());
        bytes
    };
    match platform {
        "linux64" => elf(2, 62),
        "linux32" => elf(1, 3),
        "aarch64-linux" => elf(2, 183),
        "win64" => pe(0x8664),
        "win32" => pe(0x14c),
        "darwin64" => vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2],
        _ => panic!("{platform}"),
    }
}

fn put(folder: &TempDir, file: &str, contents: &[u8]) {
    let path = folder.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

fn refusal(folder: &Path) -> String {
    libraries_in(folder).err().expect("refused").to_string()
}

#[test]
fn libraries_come_in_the_order_of_platforms() {
    let folder = TempDir::new().unwrap();
    for (platform, extension) in
        [("win64", "dll"), ("darwin64", "dylib"), ("aarch64-linux", "so"), ("linux64", "so")]
    {
        for version in ["fmi3", "fmi2"] {
            put(&folder, &format!("{platform}/runtime_{version}.{extension}"), &header(platform));
        }
    }
    let libraries = libraries_in(folder.path()).unwrap();
    let names: Vec<_> = libraries.iter().map(|(platform, _)| platform.name).collect();
    assert_eq!(names, ["linux64", "aarch64-linux", "win64", "darwin64"]);
    for (platform, [two, three]) in libraries {
        let folder = folder.path().join(platform.name);
        assert_eq!(two, folder.join(format!("runtime_fmi2.{}", platform.extension)));
        assert_eq!(three, folder.join(format!("runtime_fmi3.{}", platform.extension)));
    }
}

#[test]
fn a_library_of_another_platform_is_refused() {
    let folder = TempDir::new().unwrap();
    put(&folder, "win64/runtime_fmi2.dll", &header("win64"));
    put(&folder, "win64/runtime_fmi3.dll", &header("win32"));
    let text = refusal(folder.path());
    assert!(text.ends_with("win64/runtime_fmi3.dll is a library for win32"), "{text}");
    for contents in [&b""[..], b"not a library", &header("linux64")[..19], &header("win64")[..60]] {
        put(&folder, "win64/runtime_fmi2.dll", contents);
        let text = refusal(folder.path());
        assert!(text.ends_with("win64/runtime_fmi2.dll is no library for win64"), "{text}");
    }
}

#[test]
fn a_folder_with_anything_else_is_refused() {
    let missing = TempDir::new().unwrap().path().join("none");
    let text = refusal(&missing);
    assert!(
        text.contains("none: ") && text.ends_with("`scripts/all-platforms` makes such a folder"),
        "{text}"
    );

    let folder = TempDir::new().unwrap();
    let text = refusal(folder.path());
    assert!(text.contains(" has none of the folders linux64, linux32, aarch64-linux, "), "{text}");

    put(&folder, "linux64/runtime_fmi2.so", &header("linux64"));
    let text = refusal(folder.path());
    assert!(text.ends_with("linux64 holds 1 files, expected two libraries, *fmi2.so and *fmi3.so"), "{text}");

    put(&folder, "linux64/runtime_fmi3.dll", &header("linux64"));
    let text = refusal(folder.path());
    assert!(text.ends_with("linux64 has no library named *fmi3.so"), "{text}");

    fs::remove_file(folder.path().join("linux64/runtime_fmi3.dll")).unwrap();
    put(&folder, "linux64/runtime_fmi3.so", &header("linux64"));
    assert_eq!(libraries_in(folder.path()).unwrap().len(), 1);
    put(&folder, "linux-64/runtime_fmi2.so", &header("linux64"));
    let text = refusal(folder.path());
    assert!(text.contains("linux-64 is not a folder for a platform, which are linux64, "), "{text}");
}

#[test]
fn targets_have_their_platform() {
    for (target, platform) in [
        ("x86_64-unknown-linux-gnu", Some("linux64")),
        ("aarch64-unknown-linux-gnu", Some("aarch64-linux")),
        ("x86_64-win7-windows-gnu", Some("win64")),
        ("i686-pc-windows-msvc", Some("win32")),
        ("aarch64-apple-darwin", Some("darwin64")),
        ("riscv64gc-unknown-linux-gnu", None),
    ] {
        assert_eq!(of_target(target).map(|platform| platform.name), platform, "{target}");
    }
}

#[test]
fn embedded_libraries_are_for_their_platform() {
    for library in runtime::select(&[]).unwrap() {
        for version in [FmiVersion::Two, FmiVersion::Three] {
            for (folder, file) in library.files(version) {
                assert_eq!(of_library(&file.unpack()), Some(library.platform), "{folder}");
            }
        }
    }
}

/// A library for macOS and one processor, from the definition of Mach-O, and as much else as is asked for.
fn mach(processor: u32, filling: usize) -> Vec<u8> {
    let mut bytes = vec![0xcf, 0xfa, 0xed, 0xfe];
    bytes.extend(processor.to_le_bytes());
    bytes.resize(bytes.len() + filling, 0xaa);
    bytes
}

#[test]
fn a_universal_library_is_taken_apart_for_fmi_3() {
    let parts = [(0x0100_0007, "x86_64-darwin", 100), (0x0100_000c, "aarch64-darwin", 50)];
    let libraries = parts.map(|(processor, _, filling)| mach(processor, filling));
    let mut universal = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2];
    let mut offset = 64;
    for ((processor, _, _), library) in parts.iter().zip(&libraries) {
        for number in [*processor, 3, offset, library.len() as u32, 5] {
            universal.extend(number.to_be_bytes());
        }
        offset += 128;
    }
    for (place, library) in libraries.iter().enumerate() {
        universal.resize(64 + 128 * place, 0);
        universal.extend(library);
    }
    let darwin = of_target("aarch64-apple-darwin").unwrap();
    let expected: Vec<_> =
        parts.iter().zip(&libraries).map(|((_, folder, _), library)| (*folder, &library[..])).collect();
    assert_eq!(files(darwin, "fmi3", &universal).unwrap(), expected);
    assert_eq!(files(darwin, "fmi2", &universal).unwrap(), [("darwin64", &universal[..])]);
    // One for a single processor is for that alone.
    assert_eq!(files(darwin, "fmi3", &libraries[1]).unwrap(), expected[1..]);
    for broken in [&universal[..40], &universal[..200], &mach(7, 10)] {
        assert_eq!(files(darwin, "fmi3", broken).unwrap_err(), "is no library for macOS");
    }
    let linux = of_target("x86_64-unknown-linux-gnu").unwrap();
    assert_eq!(files(linux, "fmi3", b"library").unwrap(), [("x86_64-linux", &b"library"[..])]);
}
