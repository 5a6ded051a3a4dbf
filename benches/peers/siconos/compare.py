"""Runs our solvers and those of Siconos in turn on the same problem files and prints a Markdown table."""

import argparse
import json
import math
import os
import platform
import subprocess
from pathlib import Path

KINDS = {".lcp.txt": "lcp", ".st8.txt": "lcp", ".box.txt": "boxed", ".fc.txt": "cone"}
# Relative natural residual that both sides must reach.
RESIDUAL = {"lcp": 1e-10, "boxed": 1e-10, "cone": 1e-8}
# Our solves are timed in groups of at least this many seconds.
GROUP_SECONDS = 5e-5
# Tolerances with which each iterative Siconos solver is tried.
SICONOS_TOLERANCES = 4


def kind_of(path: Path) -> str:
    return next(kind for ending, kind in KINDS.items() if path.name.endswith(ending))


def ours(arguments: argparse.Namespace, path: Path, kind: str, residual: float) -> dict:
    """Our answer, timed for as long as one Siconos solver with all its tolerances."""
    first = ours_repeated(arguments, path, kind, residual, 20)
    group = max(first["seconds_per_solve"], GROUP_SECONDS)
    repeat = max(20, math.ceil(SICONOS_TOLERANCES * arguments.seconds / group))
    return ours_repeated(arguments, path, kind, residual, repeat)


def ours_repeated(arguments: argparse.Namespace, path: Path, kind: str, residual: float, repeat: int) -> dict:
    command = [arguments.ours, "solve", str(path), "--kind", kind, "--solver", arguments.solver, "--json"]
    command += ["--repeat", str(repeat), "--tolerance", str(residual)]
    finished = subprocess.run(command, capture_output=True, text=True)
    if not finished.stdout.strip():
        raise SystemExit(f"{' '.join(command)}: {finished.stderr.strip()}")
    return json.loads(finished.stdout)


def siconos(arguments: argparse.Namespace, path: Path, kind: str) -> dict:
    """Residual and time by solver and tolerance."""
    command = [arguments.siconos, kind, str(path), str(arguments.seconds)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    runs = {}
    for line in lines:
        name, tolerance, _, residual, seconds = line.split("\t")
        label = name if float(tolerance) == 0 else f"{name} {tolerance}"
        runs[label] = (float(residual), float(seconds))
    return runs


def best_of(rounds: list[dict]) -> dict:
    return {
        label: (residual, min(other[label][1] for other in rounds if label in other))
        for runs in rounds
        for label, (residual, _) in runs.items()
    }


def time_text(seconds: float) -> str:
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--siconos", required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--solver", default="auto", help="our solver")
    parser.add_argument("--rounds", type=int, default=3, help="how often the two sides take turns")
    parser.add_argument("--seconds", type=float, default=0.05, help="time for each Siconos solver and round")
    parser.add_argument("--residual", type=float, help="residual that both sides must reach")
    parser.add_argument("--verbose", action="store_true", help="every Siconos solver, not only the fastest")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    files = arguments.files
    if not files:
        others = os.environ.get("CONTACT_FMU_SICONOS_TESTS", arguments.root / "../shared/data/siconos-tests")
        folders = [arguments.root / "tests/data/problems", Path(others)]
        files = [file for folder in folders if folder.is_dir() for file in sorted(folder.glob("*.txt"))]

    print(f"{processor()}, one thread, from a zero start, fastest of {arguments.rounds} turns.\n")
    print("| problem | our solver | residual | time | fastest Siconos solver | residual | time | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    ratios = []
    for path in files:
        kind = kind_of(path)
        residual = arguments.residual or RESIDUAL[kind]
        answers, rounds = [], []
        for _ in range(arguments.rounds):
            answers.append(ours(arguments, path, kind, residual))
            rounds.append(siconos(arguments, path, kind))
        answer = min(answers, key=lambda answer: answer["seconds_per_solve"])
        runs = best_of(rounds)
        reaching = {label: run for label, run in runs.items() if run[0] <= residual}
        seconds = answer["seconds_per_solve"]
        row = [path.name.removesuffix(".txt"), answer["solver"], f"{answer['residual']:.1e}", time_text(seconds)]
        if answer["status"] != "solved":
            row[1] += f" ({answer['status']})"
        if reaching:
            label, (reached, theirs) = min(reaching.items(), key=lambda item: item[1][1])
            ratios.append(theirs / seconds)
            row += [label, f"{reached:.1e}", time_text(theirs), f"{theirs / seconds:.1f}"]
        else:
            label, (reached, theirs) = min(runs.items(), key=lambda item: item[1])
            row += [f"none; best: {label}", f"{reached:.1e}", time_text(theirs), f"({theirs / seconds:.1f})"]
        print("| " + " | ".join(row) + " |", flush=True)
        if arguments.verbose:
            for label, (reached, theirs) in sorted(runs.items(), key=lambda item: item[1][1]):
                print(f"| | | | | {label} | {reached:.1e} | {time_text(theirs)} | {theirs / seconds:.1f} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\nSmallest ratio {min(ratios):.1f}, geometric mean {mean:.1f}, over {len(ratios)} problems.")


if __name__ == "__main__":
    main()
