//! The packed model: `resources/model.bin` of an FMU.
//!
//! Layout: magic, format version (little endian `u32`), the GUID as 38 characters, CRC-32 of the payload,
//! payload ([`Model`] in postcard). The GUID comes from the content (see `package::guid`).

use super::Model;
use thiserror::Error;

/// Path inside the FMU, below `resources/`.
pub const FILE_NAME: &str = "model.bin";

const MAGIC: &[u8; 8] = b"CFMUMODL";
const VERSION: u32 = 4;
const GUID_LENGTH: usize = 38;
const HEADER_LENGTH: usize = MAGIC.len() + 4 + GUID_LENGTH + 4;

/// Why a packed model cannot be read.
#[derive(Debug, Error)]
pub enum PackedModelError {
    /// Not a packed model at all.
    #[error("not a packed contact-fmu model")]
    NotAModel,
    /// Written by another version.
    #[error("packed model has format version {0}, this library reads {VERSION}: build the FMU again")]
    Version(u32),
    /// Checksum or structure is wrong.
    #[error("packed model is damaged: extract the FMU again")]
    Damaged,
}

/// The model without header, as the GUID is computed from.
pub fn payload(model: &Model) -> Vec<u8> {
    postcard::to_stdvec(model).expect("a model holds only plain data")
}

/// Header and payload. `guid` has the form `{8-4-4-4-12}`.
pub fn write(model: &Model, guid: &str) -> Vec<u8> {
    assert_eq!(guid.len(), GUID_LENGTH, "a GUID has 38 characters with its braces");
    let payload = payload(model);
    let mut bytes = Vec::with_capacity(HEADER_LENGTH + payload.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(guid.as_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    bytes
}

/// The model and its GUID.
pub fn read(bytes: &[u8]) -> Result<(Model, String), PackedModelError> {
    if bytes.len() < HEADER_LENGTH || &bytes[..8] != MAGIC {
        return Err(PackedModelError::NotAModel);
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let version = word(8);
    if version != VERSION {
        return Err(PackedModelError::Version(version));
    }
    let guid = std::str::from_utf8(&bytes[12..12 + GUID_LENGTH]).map_err(|_| PackedModelError::Damaged)?;
    let payload = &bytes[HEADER_LENGTH..];
    if word(12 + GUID_LENGTH) != crc32fast::hash(payload) {
        return Err(PackedModelError::Damaged);
    }
    let model = postcard::from_bytes(payload).map_err(|_| PackedModelError::Damaged)?;
    Ok((model, guid.to_owned()))
}
