#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares N2NQ with a bare relay that does the same work: same worker processes, same host, one run after the other in shuffled order.

docs/measuring.md says how the figures are made. N2NQ_BIN names the folder of the programs.
"""
import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from figures import interval, ratios, text_of, verdict
from sides import FLOORS, run, run_bare
from works import WORKS

UNITS = {"p50": "µs", "p99": "µs", "rate": "deliveries/s"}
OTHERS_MAX = 0.05  # share of all cores; a run with more is repeated
TRIES_MAX = 6
SIDES = (*FLOORS, "floor-again", "broker")


def better(figure, medians):
    """The kind of relay that is better at this figure."""
    choose = max if figure == "rate" else min
    return choose(FLOORS, key=lambda kind: medians[kind])


def undisturbed(runner, work, side, seconds):
    """A run during which others took little of the machine; the least disturbed one when there is none in TRIES_MAX."""
    best = None
    for _ in range(TRIES_MAX):
        result = runner(work, side, seconds)
        if best is None or result["others"] < best["others"]:
            best = result
        if best["others"] <= OTHERS_MAX:
            break
    return best


def measure(work, pairs, seconds, seed, bare):
    """All sides of a work, `pairs` times in an order that changes; one round before that only finds the better relay."""
    figures = list(work.aims)
    first = {kind: undisturbed(run, work, kind, seconds) for kind in FLOORS}
    again = better(figures[0], {kind: first[kind][figures[0]] for kind in FLOORS})
    sides = list(SIDES) + (["bare-floor", "bare-broker"] if bare else [])
    results = {side: [] for side in sides}
    order = random.Random(seed)
    for pair in range(pairs):
        order.shuffle(sides)
        for side in sides:
            if sys.stderr.isatty():
                print(f"\r{work.name}: {pair + 1}/{pairs} {side:12}", end="", file=sys.stderr, flush=True)
            runner = run_bare if side.startswith("bare") else run
            against = {"floor-again": again, "bare-floor": again, "bare-broker": "broker"}.get(side, side)
            results[side].append(undisturbed(runner, work, against, seconds))
    return {"work": work.name, "title": work.title, "again": again, "runs": results,
            "figures": {figure: judge(work, figure, results, again) for figure in figures}}


def judge(work, figure, results, again):
    values = {side: [result[figure] for result in runs] for side, runs in results.items()}
    medians = {side: statistics.median(values[side]) for side in values}
    floor = better(figure, medians)
    aa = interval(ratios(values["floor-again"], values[again]))
    ratio = interval(ratios(values["broker"], values[floor]))
    found = {"medians": medians, "floor": floor, "aa": aa, "ratio": ratio, "aim": work.aims[figure],
             "met": verdict(ratio, work.aims[figure], aa, at_least=figure == "rate")}
    found["cpu_ns"] = {side: statistics.median(result["cpu"] for result in runs) * 1e3 for side, runs in results.items()}
    if "bare-floor" in values:
        found["client"] = interval(ratios(values[again], values["bare-floor"]))
        found["bare"] = interval(ratios(values["bare-broker"], values["bare-floor"]))
    return found


def print_table(measured):
    bare = any("client" in found for entry in measured for found in entry["figures"].values())
    print("| work | figure | A/A | floor | N2NQ | N2NQ : floor | aim | met | processor time per delivery, floor → N2NQ |" +
          (" workers : bare client | N2NQ : floor by the bare client |" if bare else ""))
    print("|---|---|---|---|---|---|---|---|---|" + ("---|---|" if bare else ""))
    for entry in measured:
        for figure, found in entry["figures"].items():
            unit, sign, medians, cpu = UNITS[figure], "≥" if figure == "rate" else "≤", found["medians"], found["cpu_ns"]
            line = (f"| {entry['title']} | {figure} | {text_of(found['aa'])} | {medians[found['floor']]:,.0f} {unit} ({found['floor'][6:]}) "
                    f"| {medians['broker']:,.0f} {unit} | {text_of(found['ratio'])} | {sign} {found['aim']:.2f} | {found['met']} "
                    f"| {cpu[found['floor']]:,.0f} → {cpu['broker']:,.0f} ns |")
            if "client" in found:
                line += f" {text_of(found['client'])} | {text_of(found['bare'])} |"
            print(line)
    worst = max(result["others"] for entry in measured for runs in entry["runs"].values() for result in runs)
    print(f"\nOthers took at most {worst:.0%} of the machine during a run.")


def environment():
    commit = subprocess.run(["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    cpu = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "unknown")
    return {"commit": commit, "cpu": cpu, "cores": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()[0],
            "at": time.strftime("%Y-%m-%dT%H:%M:%S"), "command": " ".join(sys.argv)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", nargs="+", choices=list(WORKS), default=list(WORKS), metavar="NAME", help=", ".join(WORKS))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1, help="of the order")
    parser.add_argument("--bare", action="store_true", help="also the bare client through the relay")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    facts = environment()
    print(f"{facts['cpu']}, {facts['cores']} cores, Linux {facts['kernel']}, commit {facts['commit']}, load {facts['load']:.1f}")
    print(f"{arguments.pairs} pairs of {arguments.seconds:g} s\n")
    measured = [measure(WORKS[name], arguments.pairs, arguments.seconds, arguments.seed, arguments.bare) for name in arguments.works]
    print_table(measured)
    if arguments.json:
        arguments.json.write_text(json.dumps({"format": 1, "environment": facts, "works": measured}, indent=1))


if __name__ == "__main__":
    main()
