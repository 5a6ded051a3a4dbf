//! `RUSTC_BOOTSTRAP=1 cargo fuzz run stress`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| robustness::stress::run(&mut robustness::Entropy::from_bytes(data)));
