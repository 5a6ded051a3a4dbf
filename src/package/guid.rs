//! The GUID of an FMU, from its content.

use crate::model::{Model, packed};
use sha2::{Digest, Sha256};

/// `{8-4-4-4-12}` from SHA-256 over the packed model and the version of this crate, whose library answers to it.
pub fn guid(model: &Model) -> String {
    let mut hash = Sha256::new();
    hash.update(packed::payload(model));
    hash.update(env!("CARGO_PKG_VERSION"));
    let digits: String = hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let [a, b, c, d, e] = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    format!("{{{a}-{b}-{c}-{d}-{e}}}")
}
