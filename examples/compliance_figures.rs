//! Prints the table of `models/bouncing_ball_compliant/README.md` and draws its figure.
//! `cargo run --release --example compliance_figures`

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/compliance_report/mod.rs"]
mod compliance_report;
#[path = "../tests/plot/mod.rs"]
mod plot;

fn main() -> std::io::Result<()> {
    let report = compliance_report::report();
    println!("{}", report.table());
    let (name, content) = report.figure();
    let file = format!("models/bouncing_ball_compliant/{name}");
    std::fs::write(common::path(&file), content)?;
    println!("{file}");
    Ok(())
}
