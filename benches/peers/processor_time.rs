//! The clock of both sides.

/// Time that this process has had a processor, in seconds; others that run at the same time do not count.
pub fn processor_time() -> f64 {
    // The count is brought up to date where the process lets go of the processor.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok()).expect("nanoseconds") * 1e-9
}
