//! `RUSTC_BOOTSTRAP=1 cargo fuzz run problems`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| robustness::problems::run(&mut robustness::Entropy::from_bytes(data)));
