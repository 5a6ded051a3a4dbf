//! `RUSTC_BOOTSTRAP=1 cargo fuzz run model_files`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| robustness::model_files::run(&mut robustness::Entropy::from_bytes(data)));
