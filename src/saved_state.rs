//! Saved states of an FMU as bytes.
//!
//! Layout, integers little endian: magic (8 bytes), format version (`u32`), GUID of the model (38 characters), length
//! of the payload (`u64`), CRC-32 of the payload (`u32`), payload in postcard: the mode (one byte), the [`State`], and
//! what else the library keeps. It holds no pointers and so is valid in another process, and on another platform.

use crate::engine::State;
use thiserror::Error;

const MAGIC: &[u8; 8] = b"CFMUSTAT";
const VERSION: u32 = 7;
const GUID_LENGTH: usize = 38;
/// Bytes of the mode, before the state.
const MODE_LENGTH: usize = 1;

/// Why bytes are not a saved state.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SavedStateError {
    /// Not a saved state at all.
    #[error("the bytes are not a serialized state of a contact-fmu FMU")]
    NotAState,
    /// Written by another version.
    #[error("the serialized state has format version {0}, this library reads {VERSION}")]
    Version(u32),
    /// Shorter than its header.
    #[error("the serialized state is cut off in its header")]
    CutOff,
    /// Of another model.
    #[error("the saved state belongs to the model with GUID {found}, this is {expected}")]
    OtherModel {
        /// GUID in the bytes.
        found: String,
        /// GUID of the model.
        expected: String,
    },
    /// Not as long as it says.
    #[error("the serialized state should have {expected} bytes after its header but has {found}")]
    Length {
        /// What the header says.
        expected: u64,
        /// What there is.
        found: usize,
    },
    /// Checksum or structure is wrong.
    #[error("the serialized state is damaged")]
    Damaged,
}

/// Header and payload.
pub fn write(guid: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(guid.as_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The payload of a state of the model with a GUID.
pub fn read<'a>(guid: &str, bytes: &'a [u8]) -> Result<&'a [u8], SavedStateError> {
    let mut reader = Reader { bytes };
    if reader.take(MAGIC.len())? != MAGIC {
        return Err(SavedStateError::NotAState);
    }
    let version = u32::from_le_bytes(reader.array()?);
    if version != VERSION {
        return Err(SavedStateError::Version(version));
    }
    check_guid(guid, &String::from_utf8_lossy(reader.take(GUID_LENGTH)?))?;
    let length = u64::from_le_bytes(reader.array()?);
    let checksum = u32::from_le_bytes(reader.array()?);
    let payload = reader.bytes;
    if payload.len() as u64 != length {
        return Err(SavedStateError::Length { expected: length, found: payload.len() });
    }
    if crc32fast::hash(payload) != checksum {
        return Err(SavedStateError::Damaged);
    }
    Ok(payload)
}

/// Whether a state is one of the model.
pub fn check_guid(model: &str, state: &str) -> Result<(), SavedStateError> {
    if model == state {
        return Ok(());
    }
    Err(SavedStateError::OtherModel { found: state.to_owned(), expected: model.to_owned() })
}

/// The engine's state in a payload. That it fits the model is left to the caller.
pub fn state(payload: &[u8]) -> Result<State<f64>, SavedStateError> {
    let after_mode = payload.get(MODE_LENGTH..).ok_or(SavedStateError::Damaged)?;
    let (state, _) = postcard::take_from_bytes(after_mode).map_err(|_| SavedStateError::Damaged)?;
    Ok(state)
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], SavedStateError> {
        let (head, tail) = self.bytes.split_at_checked(length).ok_or(SavedStateError::CutOff)?;
        self.bytes = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SavedStateError> {
        Ok(self.take(N)?.try_into().expect("as many bytes as were taken"))
    }
}
