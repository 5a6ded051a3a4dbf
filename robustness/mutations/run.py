#!/usr/bin/env python3
"""Puts deliberate faults into a copy of the engine and tells which relation of the net catches each.

    python3 robustness/mutations/run.py [--seeds 1024] [--first 2048] [--only NAME] [--target FOLDER]

A fault is written in mutations.txt as a line of the engine with `{{right => wrong}}` in it. All of them are compiled into
one program; the environment chooses one. A line that is not found exactly once is an error: it has to be written anew.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MARK = re.compile(r"\{\{(.*?) => (.*?)\}\}", re.S)
CHOICE = "NEIGHBOUR_MUTATION"
SWITCH = f"""
/// Which deliberate fault is switched on.
pub mod mutation {{
    static CHOSEN: std::sync::LazyLock<Option<usize>> =
        std::sync::LazyLock::new(|| std::env::var("{CHOICE}").ok().and_then(|text| text.parse().ok()));

    /// Whether a fault is switched on.
    pub fn is(number: usize) -> bool {{
        *CHOSEN == Some(number)
    }}
}}
"""

Mutation = collections.namedtuple("Mutation", "name file line")


def read(path):
    """The list: blocks of `name`, `file` and the line of code."""
    blocks = [block.strip() for block in path.read_text().split("\n\n")]
    rows = [[line for line in block.split("\n") if not line.startswith("#")] for block in blocks]
    return [Mutation(row[0], row[1], "\n".join(row[2:])) for row in rows if row]


def plant(tree, number, mutation):
    """Makes one fault switchable in a copy of the tree."""
    mark = MARK.search(mutation.line)
    if mark is None:
        sys.exit(f"{mutation.name}: no {{{{right => wrong}}}} in its line")
    right, wrong = mark.groups()
    before, after = mutation.line[: mark.start()], mutation.line[mark.end() :]
    anchor = before + right + after
    path = tree / "src" / "engine" / mutation.file
    text = path.read_text() if path.exists() else ""
    if text.count(anchor) != 1:
        sys.exit(f"{mutation.name}: {mutation.file} has this line {text.count(anchor)} times:\n{anchor}")
    choice = f"(if crate::mutation::is({number}) {{ {wrong} }} else {{ {right} }})"
    path.write_text(text.replace(anchor, before + choice + after))


def findings(program, first, seeds, number):
    """What breaks, as pairs of relation and seed."""
    environment = dict(os.environ)
    if number is not None:
        environment[CHOICE] = str(number)
    listed = subprocess.run(
        [program, "neighbours-list", str(seeds), "--first", str(first)], env=environment, check=True, capture_output=True, text=True
    )
    found, relation = set(), None
    for line in listed.stdout.splitlines():
        heading = re.match(r"\[([a-z-]+)\]", line)
        if heading:
            relation = heading[1]
        else:
            found.update((relation, int(seed)) for seed in line.split())
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seeds", type=int, default=1024)
    # Beyond those that are looked at closely, which take long.
    arguments.add_argument("--first", type=int, default=2048)
    arguments.add_argument("--only", help="one of the faults")
    arguments.add_argument("--target", type=pathlib.Path, default=ROOT / "target" / "mutations")
    given = arguments.parse_args()
    mutations = read(HERE / "mutations.txt")
    tree = given.target / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    skip = shutil.ignore_patterns("target", ".git", ".venv", "__pycache__", "*.fmu")
    shutil.copytree(ROOT, tree, ignore=skip, symlinks=True)
    for number, mutation in enumerate(mutations):
        plant(tree, number, mutation)
    library = tree / "src" / "lib.rs"
    library.write_text(library.read_text() + SWITCH)
    build = ["cargo", "build", "--release", "--locked", "-p", "robustness", "--bin", "robustness"]
    subprocess.run(build, cwd=tree, env=dict(os.environ, CARGO_TARGET_DIR=str(given.target / "build")), check=True)
    program = given.target / "build" / "release" / "robustness"
    right = findings(program, given.first, given.seeds, None)
    print(f"| fault | caught by, of {given.seeds} seeds |\n|---|---|")
    missed = 0
    for number, mutation in enumerate(mutations):
        if given.only not in (None, mutation.name):
            continue
        counts = collections.Counter(relation for relation, _ in findings(program, given.first, given.seeds, number) - right)
        told = ", ".join(f"{relation} {count}" for relation, count in counts.most_common()) or "**nothing**"
        missed += not counts
        print(f"| {mutation.name} | {told} |", flush=True)
    sys.exit(f"{missed} faults were not caught" if missed else None)


if __name__ == "__main__":
    main()
