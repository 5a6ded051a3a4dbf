//! Prints the tables of `models/wheel/README.md` and draws its figures. `cargo run --release --example wheel_report`

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/linear_friction/mod.rs"]
mod linear_friction;
#[path = "../tests/plot/mod.rs"]
mod plot;
#[path = "../tests/wheel_equations/mod.rs"]
mod wheel_equations;
#[path = "../tests/wheel_report/mod.rs"]
mod wheel_report;

fn main() -> std::io::Result<()> {
    let report = wheel_report::report();
    for table in report.tables() {
        println!("{table}");
    }
    for (name, content) in report.figures() {
        let file = format!("models/wheel/{name}");
        std::fs::write(common::path(&file), content)?;
        println!("{file}");
    }
    Ok(())
}
