//! `RUSTC_BOOTSTRAP=1 cargo fuzz run shape_files`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| robustness::shape_files::run(&mut robustness::Entropy::from_bytes(data)));
