# SPDX-License-Identifier: GPL-3.0-or-later
"""How often `n2nq-bench compare` calls equal runs different, and how often it finds a tenth, with real runs of this machine.

One configuration runs RUNS times, in phase: with starts spread, the median of a run on two cores depends most on how its processes came to lie
on them, and equal runs are a fifth apart. From these runs two sides of so many REPEATS are drawn PAIRS times: whatever is called different there is not. The
tenth is planted into the second side's summaries, so that its size is known exactly while everything else is as it was measured.
"""
import json
import os
import random
import subprocess
import tempfile
from pathlib import Path

from figures import Finding, said
from sides import BIN

RUNS, REPEATS, PAIRS = 100, (10, 20), 100
RUN_S_MIN = 5
PLANTED = 1.1
DIFFERENT_MAX, FOUND_MIN = 10, 90  # of PAIRS
FIGURES = {"latency_us.p50": "p50", "latency_us.mean_lowest_95": "mean of the lowest 95 %", "latency_us.p99": "p99"}
SETTINGS = {"senders.amount": 50, "receivers.amount": 50, "senders.delay_ms": 100, "senders.start": "in-phase", "log": "off"}


def bench(*words):
    return json.loads(subprocess.run([BIN / "n2nq-bench", *map(str, words), "--json"], capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def side_of(folder, runs, factor):
    """A folder that holds copies of these runs' summaries, with every latency `factor` times as long."""
    folder.mkdir()
    for run in runs:
        copy = folder / run.name
        copy.mkdir()
        os.link(run / "settings.yaml", copy / "settings.yaml")
        summary = json.loads((run / "summary.json").read_text())
        for path in FIGURES:
            of, figure = path.split(".")
            summary[of][figure] *= factor
        (copy / "summary.json").write_text(json.dumps(summary))
    return folder


def called_different(folder, runs, repeats, factor):
    """Of PAIRS comparisons of so many runs with as many, per figure."""
    draw, counts = random.Random(1), dict.fromkeys(FIGURES, 0)
    for pair in range(PAIRS):
        drawn = draw.sample(runs, 2 * repeats)
        sides = [side_of(folder / f"{repeats}-{factor}-{pair}-{name}", some, by) for name, some, by in
                 (("from", drawn[:repeats], 1), ("to", drawn[repeats:], factor))]
        (point,) = bench("compare", *sides)["points"]
        assert point["repeats"] == [repeats, repeats], point["repeats"]
        for path in FIGURES:
            counts[path] += point["figures"][path]["sides"][1]["said"].startswith(("slower", "faster"))
    return counts


def repeats(seconds, _pairs):
    words = [word for key, value in {**SETTINGS, "senders.messages": int(max(seconds, RUN_S_MIN) * 10)}.items() for word in ("--set", f"{key}={value}")]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        runs = [folder / f"run-{number}" for number in range(RUNS)]
        p50s = sorted(bench("run", "thesis-baseline", *words, "--out", run)["latency_us"]["p50"] for run in runs)
        told = [[called_different(folder, runs, many, factor) for factor in (1, PLANTED)] for many in REPEATS]
    of = f"{RUNS} runs of 50 x 50, broadcaster, 0.1 s, in phase (p50 {p50s[RUNS // 10]:,.0f} to {p50s[RUNS - RUNS // 10]:,.0f} µs in eight of ten)"
    found = []
    for many, counts in zip(REPEATS, told):
        equal, tenth = (", ".join(f"{FIGURES[path]} {count}" for path, count in each.items()) for each in counts)
        found += [Finding(f"{of}, {many} against {many} of them, {PAIRS} times: called different", equal, f"at most {DIFFERENT_MAX}",
                          said(max(counts[0].values()) <= DIFFERENT_MAX)),
                  Finding("the same, a tenth planted: found", tenth, f"at least {FOUND_MIN}", said(min(counts[1].values()) >= FOUND_MIN))]
    return found
