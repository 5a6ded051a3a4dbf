//! Draws the figures of `docs/coupling.md` and writes its tables. `cargo run --release --example coupling_figures`

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/coupling_report/mod.rs"]
mod coupling_report;
#[path = "../tests/plot/mod.rs"]
mod plot;
#[path = "../tests/smooth_side/mod.rs"]
mod smooth_side;

const PAGE: &str = "docs/coupling.md";

fn main() -> std::io::Result<()> {
    let report = coupling_report::report();
    for (name, content) in report.figures() {
        let file = format!("docs/figures/{name}");
        std::fs::write(common::path(&file), content)?;
        println!("{file}");
    }
    let tables = report.tables();
    for table in &tables {
        println!("{table}");
    }
    let page = std::fs::read_to_string(common::path(PAGE))?;
    std::fs::write(common::path(PAGE), coupling_report::with_tables(&page, &tables))
}
