#!/usr/bin/env python3
"""Runs an FMU once for each point of a grid of parameters, with FMPy on Dask, and writes one table and a heat map.

    sweep.py MODEL.fmu --vary ball_floor.restitution=0:1:40 --vary ball_floor.mu=0:0.5:25 --result ball.r[1]

By default on the processors of this machine; `--scheduler tcp://HOST:8786` uses a Dask cluster, whose workers need FMPy and
nothing else: the FMU is sent to them. See docs/sweeps.md.
"""

import argparse
import csv
import hashlib
import itertools
import math
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

REDUCTIONS = {
    "last": lambda values: values[-1],
    "max": lambda values: values.max(),
    "min": lambda values: values.min(),
    "mean": lambda values: values.mean(),
}
_unpacked, _unpacking = {}, threading.Lock()


def unpacked(archive):
    """Description and folder of an FMU given by its bytes, unpacked once in each process."""
    from fmpy import extract, read_model_description

    key = hashlib.sha256(archive).hexdigest()
    with _unpacking:
        if key not in _unpacked:
            holder = tempfile.TemporaryDirectory(prefix="sweep-")
            path = Path(holder.name) / "model.fmu"
            path.write_bytes(archive)
            folder = extract(str(path), str(Path(holder.name) / "model"))
            _unpacked[key] = read_model_description(str(path)), folder, holder
        return _unpacked[key][:2]


def simulate(archive, parameters, results, stop, step):
    """One run: the results, in their order."""
    from fmpy import simulate_fmu

    description, folder = unpacked(archive)
    names = sorted({name for _, name in results})
    rows = simulate_fmu(
        folder,
        model_description=description,
        fmi_type="CoSimulation",
        stop_time=stop,
        output_interval=step,
        start_values=parameters,
        output=names,
        fmi_call_logger=None,
    )
    values = [float(REDUCTIONS[reduction](rows[name])) for reduction, name in results]
    if not all(map(math.isfinite, values)):
        raise ValueError(f"a result is not a number: {values}")
    return values


@dataclass
class Run:
    """A point of the grid, and what has become of it."""

    parameters: dict
    values: list = None
    attempts: int = 0
    error: str = ""


@dataclass
class Study:
    """What is run."""

    archive: bytes
    axes: dict  # name of a parameter: its values
    results: list  # pairs of a reduction and the name of an output
    stop: float
    step: float
    attempts: int = 3
    runs: list = field(default_factory=list)

    def __post_init__(self):
        grid = itertools.product(*self.axes.values())
        self.runs = [Run(dict(zip(self.axes, point))) for point in grid]

    def labels(self):
        return [name if reduction == "last" else f"{reduction}({name})" for reduction, name in self.results]

    def failed(self):
        return [run for run in self.runs if run.values is None]


def run_study(study, client, report=lambda done, study: None):
    """Runs all points on a Dask client; what fails is tried again, and what fails to the end is left with its error."""
    from dask.distributed import as_completed

    archive = client.scatter(study.archive, broadcast=True, hash=False)

    def submit(run):
        run.attempts += 1
        arguments = archive, run.parameters, study.results, study.stop, study.step
        future = client.submit(simulate, *arguments, pure=False, retries=0)
        waiting[future.key] = run
        return future

    waiting, done = {}, 0
    futures = as_completed([submit(run) for run in study.runs])
    for future in futures:
        run = waiting.pop(future.key)
        if future.status == "finished":
            run.values, run.error = future.result(), ""
        else:
            run.error = " ".join(str(future.exception()).split()) or future.status
            if run.attempts < study.attempts:
                futures.add(submit(run))
                continue
        done += 1
        report(done, study)


class Progress:
    """A line on a terminal; without one, a line for every tenth."""

    def __init__(self, stream=sys.stderr):
        self.stream, self.start, self.told = stream, time.monotonic(), 0

    def __call__(self, done, study):
        total = len(study.runs)
        passed = time.monotonic() - self.start
        again = sum(run.attempts > 1 for run in study.runs)
        text = f"{done}/{total} runs, {passed / done * (total - done):.0f} s left"
        text += f", {again} tried again" if again else ""
        if self.stream.isatty():
            print(f"\r\033[K{text}", end="\n" if done == total else "", file=self.stream, flush=True)
        elif 10 * done // total > self.told:
            self.told = 10 * done // total
            print(text, file=self.stream, flush=True)


def write_table(study, path):
    """One row a run, in the order of the grid; a run without result has its error."""
    partial = Path(f"{path}.partial")
    with open(partial, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*study.axes, *study.labels(), "attempts", "error"])
        for run in study.runs:
            values = run.values if run.values is not None else [""] * len(study.results)
            table.writerow([*run.parameters.values(), *values, run.attempts, run.error])
    os.replace(partial, path)


def draw_map(study, path):
    """The first result over the first two parameters; runs without result stay white."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    (across, columns), (up, rows) = study.axes.items()
    values = [run.values[0] if run.values is not None else math.nan for run in study.runs]
    grid = np.array(values).reshape(len(columns), len(rows)).T
    figure, axis = plt.subplots(figsize=(6.4, 4.8), constrained_layout=True)
    image = axis.pcolormesh(columns, rows, grid, shading="nearest")
    axis.set_xlabel(across)
    axis.set_ylabel(up)
    figure.colorbar(image, label=study.labels()[0])
    figure.savefig(path, dpi=90)
    plt.close(figure)


def axis(text):
    """NAME=FIRST:LAST:COUNT or NAME=VALUE,VALUE..."""
    name, separator, values = text.partition("=")
    try:
        if not (name and separator):
            raise ValueError
        if ":" in values:
            first, last, count = values.split(":")
            first, last, count = float(first), float(last), int(count)
            if count < 2:
                raise ValueError
            return name, [first + (last - first) * k / (count - 1) for k in range(count)]
        return name, [float(value) for value in values.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not NAME=FIRST:LAST:COUNT with COUNT of at least 2, nor NAME=VALUE,VALUE..."
        ) from None


def result(text):
    """NAME, or REDUCTION:NAME."""
    reduction, separator, name = text.partition(":")
    if not separator:
        return "last", text
    if reduction not in REDUCTIONS:
        raise argparse.ArgumentTypeError(f"'{reduction}' is none of {', '.join(REDUCTIONS)}")
    return reduction, name


def arguments(given):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("fmu", type=Path)
    parser.add_argument("--vary", type=axis, action="append", required=True, metavar="NAME=FIRST:LAST:COUNT")
    parser.add_argument("--result", type=result, action="append", required=True, metavar="[last|max|min|mean:]NAME")
    parser.add_argument("--stop", type=float, help="stop time, default that of the FMU")
    parser.add_argument("--step", type=float, help="communication step, default that of the FMU")
    parser.add_argument("--attempts", type=int, default=3, help="how often a run is tried, default 3")
    parser.add_argument("--scheduler", help="address of a Dask cluster, default the processors of this machine")
    parser.add_argument("--workers", type=int, help="processes on this machine, default one for each processor")
    parser.add_argument("-o", "--output", type=Path, default=Path("sweep.csv"))
    parser.add_argument("--map", type=Path, help="heat map of the first result, a PNG; for two parameters")
    options = parser.parse_args(given)
    options.vary = dict(options.vary)
    if options.map and len(options.vary) != 2:
        parser.error("--map needs exactly two parameters to vary")
    if options.attempts < 1:
        parser.error("--attempts is at least 1")
    return options


def study_of(options):
    """The study, after a look at the names in the FMU."""
    from fmpy import read_model_description

    description = read_model_description(str(options.fmu))
    variables = {variable.name: variable for variable in description.modelVariables}
    for name in [*options.vary, *(name for _, name in options.result)]:
        if name not in variables:
            raise SystemExit(f"{options.fmu} has no variable '{name}'")
    for name in options.vary:
        if variables[name].causality not in ("parameter", "input") and variables[name].initial != "exact":
            raise SystemExit(f"'{name}' is a result of {options.fmu} and cannot be set")
    default = description.defaultExperiment
    stop, step = options.stop or float(default.stopTime), options.step or float(default.stepSize)
    return Study(options.fmu.read_bytes(), options.vary, options.result, stop, step, options.attempts)


def main(given=None):
    from dask.distributed import Client, LocalCluster

    options = arguments(given)
    study = study_of(options)
    if options.scheduler:
        client = Client(options.scheduler)
        # Workers elsewhere do not have this file.
        client.upload_file(__file__)
    else:
        client = Client(LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None))
    try:
        run_study(study, client, Progress())
    finally:
        write_table(study, options.output)
        client.close()
        if not options.scheduler:
            client.cluster.close()
    if options.map:
        draw_map(study, options.map)
    failed = study.failed()
    for run in failed[:5]:
        print(f"failed {run.attempts} times: {run.parameters}: {run.error}", file=sys.stderr)
    print(f"{len(study.runs) - len(failed)} of {len(study.runs)} runs in {options.output}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    # Workers find the functions of this file by the name of its module.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import sweep

    sys.exit(sweep.main())
