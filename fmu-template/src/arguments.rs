//! What a C caller passes, checked before use.

use crate::abi::fmi2String;
use crate::guard::Refusal;
use std::ffi::CStr;
use std::mem::MaybeUninit;

fn check<T>(pointer: *const T, length: usize, name: &str) -> Result<(), Refusal> {
    if pointer.is_null() {
        return Err(Refusal::error(format!("argument {name} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(Refusal::error(format!("argument {name} is not aligned for its type")));
    }
    if length > isize::MAX as usize / size_of::<T>() {
        return Err(Refusal::error(format!("argument {name} cannot have {length} entries")));
    }
    Ok(())
}

/// An array to read. It may be null when it has no entries.
///
/// # Safety
/// A non-null `pointer` points to `length` values that live as long as the answer.
#[inline]
pub unsafe fn input<'a, T>(pointer: *const T, length: usize, name: &str) -> Result<&'a [T], Refusal> {
    if length == 0 {
        return Ok(&[]);
    }
    check(pointer, length, name)?;
    // SAFETY: checked above, and as promised by the caller.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// An array to write. It may be null when it has no entries.
///
/// # Safety
/// A non-null `pointer` points to memory for `length` values that lives as long as the answer.
#[inline]
pub unsafe fn output<'a, T>(
    pointer: *mut T,
    length: usize,
    name: &str,
) -> Result<&'a mut [MaybeUninit<T>], Refusal> {
    if length == 0 {
        return Ok(&mut []);
    }
    check(pointer, length, name)?;
    // SAFETY: checked above, and as promised by the caller.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), length) })
}

/// One value to write.
///
/// # Safety
/// A non-null `pointer` points to memory for a value that lives as long as the answer.
pub unsafe fn target<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut MaybeUninit<T>, Refusal> {
    check(pointer, 1, name)?;
    // SAFETY: checked above, and as promised by the caller.
    Ok(unsafe { &mut *pointer.cast() })
}

/// One value to read and write.
///
/// # Safety
/// A non-null `pointer` points to an initialised value that lives as long as the answer.
pub unsafe fn place<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Refusal> {
    check(pointer, 1, name)?;
    // SAFETY: checked above, and as promised by the caller.
    Ok(unsafe { &mut *pointer })
}

/// A string; none when null.
///
/// # Safety
/// A non-null `pointer` points to a zero-terminated string that lives as long as the answer.
pub unsafe fn text<'a>(pointer: fmi2String) -> Option<&'a CStr> {
    // SAFETY: as promised by the caller.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) })
}
