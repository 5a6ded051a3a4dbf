//! `RUSTC_BOOTSTRAP=1 cargo fuzz run calls`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| robustness::calls::run(&mut robustness::Entropy::from_bytes(data)));
