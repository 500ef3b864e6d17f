# SPDX-License-Identifier: GPL-3.0-or-later
"""What the runs of a work tell: N2NQ against the relay, and the worker processes against the bare client."""
import statistics

from figures import interval, ratios, verdict
from sides import FLOORS, PLAIN_FLOORS

AGAIN = {kind: f"{kind}-again" for kind in FLOORS}
BARE = {kind: f"bare-{kind}" for kind in (*FLOORS, "broker")}
BARE_AGAIN = {kind: f"{BARE[kind]}-again" for kind in FLOORS}
CLIENT_APART_MAX = 1.15  # times what the bare client takes: beyond, it is the clients that are measured


def better(figure, medians):
    """The kind of relay that is better at this figure."""
    choose = max if figure == "rate" else min
    return choose(medians, key=medians.get)


def means(once, again):
    """What ran twice in a repetition, as one."""
    return [(a + b) / 2 for a, b in zip(once, again)]


def median_of(side, values):
    """A relay's is that of both its runs."""
    return statistics.median(values[side] + (values[AGAIN[side]] if side in AGAIN else []))


def against(work, figure, values, kinds):
    """N2NQ against the better one of these kinds of relay, with what that one is against itself, and both by the bare client."""
    # By both of its runs: one alone would often be chosen for its luck, and the other then differs from it.
    medians = {kind: median_of(kind, values) for kind in kinds}
    floor = better(figure, medians)
    relay = means(values[floor], values[AGAIN[floor]])
    aa = interval(ratios(values[AGAIN[floor]], values[floor]))
    ratio = interval(ratios(values["broker"], relay))
    met = verdict(ratio, work.aims[figure], aa, at_least=figure == "rate", pairs=len(values["broker"]))
    found = {"floor": floor, "aa": aa, "ratio": ratio, "met": met}
    if BARE[floor] in values:
        bare = means(values[BARE[floor]], values.get(BARE_AGAIN[floor], values[BARE[floor]]))  # once in runs kept before it ran twice
        found["client"] = interval(ratios(relay, bare))
        workers = found["client"][0]
        if (1 / workers if figure == "rate" else workers) > CLIENT_APART_MAX:  # nothing is wrong where the bare one takes more
            found["met"] += ", but the clients are measured"
        found["bare"] = interval(ratios(values[BARE["broker"]], bare))
        if BARE_AGAIN[floor] in values:
            found["bare_aa"] = interval(ratios(values[BARE_AGAIN[floor]], values[BARE[floor]]))
    return found


def judge(work, figure, results):
    """Against the best relay; and against the better one of those that do nothing about their core ("plain"), which may be the same."""
    values = {side: [result[figure] for result in runs] for side, runs in results.items()}
    cpu_ns = {side: [result["cpu"] * 1e3 for result in runs] for side, runs in results.items()}
    return {"medians": {side: median_of(side, values) for side in values}, "aim": work.aims[figure],
            **against(work, figure, values, FLOORS), "plain": against(work, figure, values, PLAIN_FLOORS),
            "cpu_ns": {side: median_of(side, cpu_ns) for side in cpu_ns}}
