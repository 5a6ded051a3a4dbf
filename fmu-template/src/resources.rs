//! Finds and reads the packed model in the FMU's resources folder.
//!
//! Importers give its location as `file:/path`, `file:///path`, `file://localhost/path` (percent-encoded, with
//! a drive letter on Windows) or as a plain path. Without a location it is found from this library's own path,
//! `binaries/<platform>/<library>`.

use crate::memory;
use contact_fmu::model::{Model, packed};
use std::ffi::CStr;
use std::path::{Path, PathBuf};

/// The packed model, its GUID, and how much memory an instance of it takes at most, which is there.
/// `argument` is the name of the location in the importer's call.
pub fn read_model(location: Option<&CStr>, argument: &str) -> Result<(Model, String, usize), String> {
    let (folder, origin) = match location.map(CStr::to_bytes).filter(|bytes| !bytes.is_empty()) {
        Some(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let folder = path_from_bytes(path_bytes(bytes, cfg!(windows), argument)?)
                .ok_or_else(|| format!("{argument} {text} is not UTF-8"))?;
            (folder, format!("{argument} is {text}"))
        }
        None => {
            let library = library_path().ok_or_else(|| {
                format!(
                    "{argument} is not given and the path of this library cannot be found: give {argument}"
                )
            })?;
            (folder_of(&library), format!("{argument} is not given, this library is {}", library.display()))
        }
    };
    let file = folder.join(packed::FILE_NAME);
    let bytes = std::fs::read(&file)
        .map_err(|error| format!("cannot read {}: {error} ({origin})", file.display()))?;
    let needed = memory::of_instance(bytes.len());
    memory::ensure(needed)?;
    let (model, guid) = packed::read(&bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok((model, guid, needed))
}

/// The path that a location means, still as bytes.
fn path_bytes(location: &[u8], windows: bool, argument: &str) -> Result<Vec<u8>, String> {
    let Some(rest) = strip_scheme(location) else {
        return Ok(location.to_vec());
    };
    let (host, path) = match rest.strip_prefix(b"//") {
        Some(rest) => rest.split_at(rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len())),
        None => (&rest[..0], rest),
    };
    let path = percent_decoded(path);
    if !host.is_empty() && !host.eq_ignore_ascii_case(b"localhost") {
        return if windows {
            Ok([b"//", host, &path].concat())
        } else {
            Err(format!(
                "{argument} {} names another machine: give a local path",
                String::from_utf8_lossy(location)
            ))
        };
    }
    let drive =
        windows && matches!(path.as_slice(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
    Ok(if drive { path[1..].to_vec() } else { path })
}

fn strip_scheme(location: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = location.split_at_checked(5)?;
    scheme.eq_ignore_ascii_case(b"file:").then_some(rest)
}

/// Replaces `%41` by `A`. A percent sign without two hexadecimal digits stays: not every importer encodes.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match code {
            Some((high, low)) => {
                decoded.push(high * 16 + low);
                rest = &tail[2..];
            }
            None => {
                decoded.push(*first);
                rest = tail;
            }
        }
    }
    decoded
}

#[cfg(unix)]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

fn folder_of(library: &Path) -> PathBuf {
    library.with_file_name("..").join("..").join("resources")
}

/// Path of the file that this code was loaded from.
#[cfg(unix)]
fn library_path() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address in this library, and memory for the answer.
    let found = unsafe { libc::dladdr(library_path as *const libc::c_void, info.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: zero is valid for every field, and dladdr has filled it in.
    let name = unsafe { info.assume_init() }.dli_fname;
    if name.is_null() {
        return None;
    }
    // SAFETY: dladdr's strings live as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(name) };
    std::path::absolute(std::ffi::OsStr::from_bytes(name.to_bytes())).ok()
}

/// Path of the file that this code was loaded from.
#[cfg(windows)]
fn library_path() -> Option<PathBuf> {
    use std::ffi::{OsString, c_void};
    use std::os::windows::ffi::OsStringExt;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, name: *const u16, module: *mut *mut c_void) -> i32;
        fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, size: u32) -> u32;
    }
    const UNCHANGED_REFCOUNT: u32 = 2;
    const FROM_ADDRESS: u32 = 4;
    /// Longest path that Windows has.
    const CAPACITY: usize = 32768;

    let mut module = std::ptr::null_mut();
    // SAFETY: with FROM_ADDRESS the name is an address, here one in this library.
    let found = unsafe {
        GetModuleHandleExW(UNCHANGED_REFCOUNT | FROM_ADDRESS, library_path as *const u16, &mut module)
    };
    if found == 0 {
        return None;
    }
    let mut name = vec![0u16; CAPACITY];
    // SAFETY: memory for CAPACITY characters.
    let length = unsafe { GetModuleFileNameW(module, name.as_mut_ptr(), CAPACITY as u32) } as usize;
    (0 < length && length < CAPACITY).then(|| OsString::from_wide(&name[..length]).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(location: &str) -> String {
        String::from_utf8(path_bytes(location.as_bytes(), false, "it").unwrap()).unwrap()
    }

    fn windows(location: &str) -> String {
        String::from_utf8(path_bytes(location.as_bytes(), true, "it").unwrap()).unwrap()
    }

    #[test]
    fn locations_become_paths() {
        for (location, path) in [
            ("file:/fmu/resources", "/fmu/resources"),
            ("file:///fmu/resources/", "/fmu/resources/"),
            ("FILE://localhost/fmu/resources", "/fmu/resources"),
            ("file:///my%20fmu/%e4%BD%a0/100%25", "/my fmu/你/100%"),
            ("file:///100%/50%zz/%4", "/100%/50%zz/%4"),
            ("/fmu/100%25", "/fmu/100%25"),
            ("resources", "resources"),
        ] {
            assert_eq!(unix(location), path, "{location}");
        }
    }

    #[test]
    fn locations_become_windows_paths() {
        for (location, path) in [
            ("file:///C:/fmu/resources", "C:/fmu/resources"),
            ("file:/C:/my%20fmu", "C:/my fmu"),
            ("file://localhost/c:/fmu", "c:/fmu"),
            ("file:C:/fmu", "C:/fmu"),
            ("file://server/share/fmu", "//server/share/fmu"),
            (r"C:\fmu\resources", r"C:\fmu\resources"),
        ] {
            assert_eq!(windows(location), path, "{location}");
        }
    }

    #[test]
    fn another_machine_is_refused() {
        assert!(path_bytes(b"file://server/share", false, "it").unwrap_err().contains("another machine"));
    }
}
