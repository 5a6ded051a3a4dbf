//! The lines that CONTRIBUTING.md shows are those of the source, in their order.

use std::fs;
use std::path::Path;

#[test]
fn lines_shown_are_those_of_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let mut blocks = 0;
    for block in page.split("```rust\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (file, lines) = block.split_once('\n').unwrap();
        let file = file.strip_prefix("// ").expect("a block begins with its file");
        let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut rest = source.lines();
        for line in lines.lines() {
            assert!(rest.any(|own| own == line), "{file} has no line `{line}` here");
        }
        blocks += 1;
    }
    assert!(blocks >= 7, "the page shows how to add things: {blocks} blocks");
    for file in page.split("The new file, `").skip(1) {
        let file = file.split('`').next().unwrap();
        assert!(root.join(file).exists(), "{file}");
    }
}
