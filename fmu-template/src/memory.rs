//! Memory is asked for before it is used. Where an allocation fails, Rust ends the process, and that is the importer's:
//! so what takes much of it first looks whether it is there, and is refused otherwise.

use std::hint::black_box;

/// What small things take in between: messages, names, what the allocator keeps for itself.
const SLACK: usize = 64 << 10;

/// An instance takes at most this...
const LEAST_OF_INSTANCE: usize = 256 << 10;
/// ...and this for each byte of its packed model. Tested with all models.
const PER_PACKED_BYTE: usize = 2000;

/// Bytes that reading a packed model of so many bytes, and an instance of it, take at most.
pub fn of_instance(packed: usize) -> usize {
    packed.saturating_mul(PER_PACKED_BYTE).saturating_add(LEAST_OF_INSTANCE)
}

/// Says what is missing where the system has not so many bytes.
pub fn ensure(bytes: usize) -> Result<(), String> {
    let mut probe: Vec<u8> = Vec::new();
    probe
        .try_reserve_exact(bytes.saturating_add(SLACK))
        .map_err(|_| format!("there is not enough memory: {} kB are needed", bytes.div_ceil(1000)))?;
    // Nobody uses it, but it has to be there.
    black_box(&probe);
    Ok(())
}
