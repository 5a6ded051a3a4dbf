//! `RUSTC_BOOTSTRAP=1 cargo fuzz run states`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| robustness::states::run(&mut robustness::Entropy::from_bytes(data)));
