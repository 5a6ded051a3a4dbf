//! `RUSTC_BOOTSTRAP=1 cargo fuzz run archives`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| robustness::archives::run(&mut robustness::Entropy::from_bytes(data)));
