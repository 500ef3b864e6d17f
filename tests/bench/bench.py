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

from figures import PAIRS_MIN, Finding, interval, ratios, text_of, verdict
from judging import AGAIN, BARE, BARE_AGAIN, judge
from sides import FLOORS, run, run_bare
from findings import FINDINGS
from variants import HANDSHAKE_S, VARIANTS, missing, work_of
from works import WORKS

UNITS = {"p50": "µs", "p99": "µs", "rate": "deliveries/s", "p99_beside": "µs", "delay_p99": "µs"}
NAMES = {"p99_beside": "p99 of the other nine", "delay_p99": "p99 of the senders' delay"}
OTHERS_MAX = 0.05  # share of all cores; a run with more is repeated
TRIES_MAX = 4
SIDES = (*FLOORS, *AGAIN.values(), "broker")


def undisturbed(one):
    """A run during which others took little of the machine; the least disturbed one when there is none in TRIES_MAX."""
    best = None
    for _ in range(TRIES_MAX):
        result = one()
        if best is None or result["others"] < best["others"]:
            best = result
        if best["others"] <= OTHERS_MAX:
            break
    return best


def settings_of(work):
    """What makes figures incomparable with those of other works where it is not as usual."""
    return {name: getattr(work, name) for name in ("io", "spin_us", "keep_core", "transport")}


def measure(work, pairs, seconds, seed, bare):
    """All sides of a work, `pairs` times in an order that changes."""
    figures = list(work.aims)
    bare = bare and not work.queue  # the bare client confirms nothing
    sides = [*SIDES, *((*BARE.values(), *BARE_AGAIN.values()) if bare else ())]
    results = {side: [] for side in sides}
    order = random.Random(seed)
    for pair in range(pairs):
        order.shuffle(sides)
        for side in sides:
            if sys.stderr.isatty():
                print(f"\r{work.name}: {pair + 1}/{pairs} {side:21}", end="", file=sys.stderr, flush=True)
            runner = run_bare if side.startswith("bare") else run
            against = side.removeprefix("bare-").removesuffix("-again")
            results[side].append(undisturbed(lambda: runner(work, against, seconds)))
    return {"work": work.name, "title": work.title, "settings": settings_of(work), "runs": results,
            "figures": {figure: judge(work, figure, results) for figure in figures}}


def measure_variant(variant, pairs, seconds, seed):
    """N2NQ without the change, again without it, and with it."""
    sides = ["without", "again", "with"]
    results = {side: [] for side in sides}
    settings = {}
    order = random.Random(seed)

    def one(changed):
        with work_of(variant, changed) as work:
            settings["with" if changed else "without"] = settings_of(work)
            return run(work, "broker", max(seconds, variant.seconds_min), variant.during if changed else None)

    for _ in range(pairs):
        order.shuffle(sides)
        for side in sides:
            results[side].append(undisturbed(lambda: one(side == "with")))
    figures = {}
    for figure, aim in variant.aims.items():
        values = {side: [result[figure] for result in results[side]] for side in results}
        aa, ratio = interval(ratios(values["again"], values["without"])), interval(ratios(values["with"], values["without"]))
        figures[figure] = {"medians": {side: statistics.median(values[side]) for side in values}, "aa": aa, "ratio": ratio, "aim": aim,
                           "met": verdict(ratio, aim, aa, at_least=False, pairs=pairs)}
    longer = f" (runs of {variant.seconds_min:g} s)" if variant.seconds_min > seconds else ""
    return {"variant": variant.name, "title": variant.title + longer, "settings": settings, "runs": results, "figures": figures}


def print_table(measured):
    bare = any("client" in found for entry in measured for found in entry["figures"].values())
    print("| work | figure | A/A | floor | N2NQ | N2NQ : floor | aim | met | the better of read and wake: A/A | N2NQ : it | met "
          "| processor time per delivery, floor → N2NQ |" +
          (" workers : bare client | by the bare client: A/A | N2NQ : floor |" if bare else ""))
    print("|---|---|---|---|---|---|---|---|---|---|---|---|" + ("---|---|---|" if bare else ""))
    for entry in measured:
        for figure, found in entry["figures"].items():
            unit, sign, medians, cpu = UNITS[figure], "≥" if figure == "rate" else "≤", found["medians"], found["cpu_ns"]
            plain = found["plain"]
            line = (f"| {entry['title']} | {figure} | {text_of(found['aa'])} | {medians[found['floor']]:,.0f} {unit} ({found['floor'][6:]}) "
                    f"| {medians['broker']:,.0f} {unit} | {text_of(found['ratio'])} | {sign} {found['aim']:.2f} | {found['met']} "
                    f"| {text_of(plain['aa'])} | {text_of(plain['ratio'])} ({plain['floor'][6:]}) | {plain['met']} "
                    f"| {cpu[found['floor']]:,.0f} → {cpu['broker']:,.0f} ns |")
            if "client" in found:
                line += f" {text_of(found['client'])} | {text_of(found['bare_aa']) if 'bare_aa' in found else '–'} | {text_of(found['bare'])} |"
            print(line)


def print_variants(measured):
    print("| what | figure | A/A | without | with | with : without | aim | met |")
    print("|---|---|---|---|---|---|---|---|")
    for entry in measured:
        for figure, found in entry["figures"].items():
            medians = found["medians"]
            print(f"| {entry['title']} | {NAMES.get(figure, figure)} | {text_of(found['aa'])} | {medians['without']:,.0f} {UNITS[figure]} "
                  f"| {medians['with']:,.0f} {UNITS[figure]} | {text_of(found['ratio'])} | ≤ {found['aim']:.2f} | {found['met']} |")


def print_knocks(measured):
    """Of the variants with strangers that say nothing: when N2NQ had closed the last one, and its descriptors before and afterwards."""
    for entry in measured:
        knocks = [run for run in entry["runs"]["with"] if "closed_after_s" in run]
        if not knocks:
            continue
        after_s = [value for run in knocks for value in run["closed_after_s"]]
        left = sum(end - begin for begin, end in (run["files"] for run in knocks))
        print(f"{entry['title']}: {sum(run['half_open'] for run in knocks):,}, all closed {min(after_s):.2f} to {max(after_s):.2f} s after the last "
              f"one of a thousand (N2NQ's handshake deadline: {HANDSHAKE_S} s); descriptors left open: {left}")


def judged_anew(path):
    """The works of a file that --json wrote, by their runs."""
    kept = json.loads(path.read_text())["works"]
    return [{**entry, "figures": {figure: judge(WORKS[entry["work"]], figure, entry["runs"]) for figure in entry["figures"]}} for entry in kept]


def worst_disturbance(measured):
    return max(result["others"] for entry in measured for runs in entry["runs"].values() for result in runs)


def environment():
    commit = subprocess.run(["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    cpu = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "unknown")
    return {"commit": commit, "cpu": cpu, "cores": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()[0],
            "at": time.strftime("%Y-%m-%dT%H:%M:%S"), "command": " ".join(sys.argv)}


def report(measured, varied, found):
    if measured:
        print_table(measured)
        print()
    if varied:
        print_variants(varied)
        print()
        print_knocks(varied)
    if found:
        print("| what | found | aim | met |\n|---|---|---|---|")
        for what, figure, aim, met in found:
            print(f"| {what} | {figure} | {aim} | {met} |")
    if measured or varied:
        print(f"Others took at most {worst_disturbance(measured + varied):.0%} of the machine during a run.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", nargs="+", choices=[*WORKS, *VARIANTS, *FINDINGS], default=[*WORKS, *VARIANTS, *FINDINGS], metavar="NAME",
                        help=", ".join([*WORKS, *VARIANTS, *FINDINGS]))
    parser.add_argument("--pairs", type=int, default=PAIRS_MIN)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1, help="of the order")
    parser.add_argument("--bare", action="store_true", help="also the bare client through the relay")
    parser.add_argument("--json", type=Path, help="where each run is kept; a new file in build/bench otherwise")
    parser.add_argument("--judge", type=Path, metavar="JSON", help="run nothing: the table of the works that --json wrote there, judged anew")
    arguments = parser.parse_args()
    if arguments.judge:
        try:
            print_table(judged_anew(arguments.judge))
        except KeyError as absent:
            parser.error(f"{arguments.judge} has no runs of {absent}: it is from before each kind of relay ran twice")
        return
    if arguments.pairs < 1:
        parser.error(f"--pairs is {arguments.pairs}, it has to be at least 1, and {PAIRS_MIN} for an aim to be judged")
    facts = environment()
    kept = arguments.json or Path(__file__).parents[2] / "build" / "bench" / f"{facts['at'].replace(':', '-')}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    print(f"{facts['cpu']}, {facts['cores']} cores, Linux {facts['kernel']}, commit {facts['commit']}, load {facts['load']:.1f}")
    print(f"{arguments.pairs} pairs of {arguments.seconds:g} s\n")
    measured, varied, found = [], [], []
    try:
        for name in arguments.works:
            if name in WORKS:
                measured.append(measure(WORKS[name], arguments.pairs, arguments.seconds, arguments.seed, arguments.bare))
            elif name in VARIANTS:
                if needs := missing(VARIANTS[name]):
                    found.append(Finding(VARIANTS[name].title, f"not measured: {needs}", ""))
                else:
                    varied.append(measure_variant(VARIANTS[name], arguments.pairs, arguments.seconds, arguments.seed))
            else:
                found += FINDINGS[name](arguments.seconds, arguments.pairs)
    finally:  # what was measured until something failed, or somebody had enough, took its time
        report(measured, varied, found)
        kept.write_text(json.dumps({"format": 1, "environment": facts, "works": measured, "variants": varied, "findings": found}, indent=1))
        print(f"Each run: {kept}")


if __name__ == "__main__":
    main()
